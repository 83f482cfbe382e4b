package examine

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/train"
)

// ErrJob marks a randomiser that cannot be audited.
var ErrJob = fault.Input("cannot be audited")

const (
	// runsAll reports of each vector choose among pairs, and are held against the claim; runsBest are made of the pair that
	// shows most, unless Job.Runs asks for another number.
	runsAll  = 2000
	runsBest = 20_000
	// canaries of one run.
	canaries = 20_000
	// exact allows for the rounding of probabilities that are products of few numbers.
	exact = 1e-9
)

// Job is a randomiser to audit.
type Job struct {
	Randomizer train.Randomizer
	// Dim is the number of weights.
	Dim int
	// Success is the epsilon of an answer about success; 0 where nobody is asked.
	Success float64
	// Seed makes another audit; the same one gets the same answer.
	Seed uint64
	// Runs are the reports on each vector of the pair that shows most; 0 for 20,000.
	Runs int
	// OneRun has many agents with canaries report once each, too.
	OneRun bool
	// Progress is called before each part; nil for none.
	Progress func(part string)
}

// Report says what was done and seen.
type Report struct {
	Randomizer train.Randomizer `json:"randomizer"`
	Dim        int              `json:"dim"`
	Adjacency  dp.Adjacency     `json:"adjacency"`
	Claim      audit.Claim      `json:"claim"`
	// SelfTest has one line for each mistake that could be planted, and Missed names those that were not found.
	SelfTest []Planted `json:"self_test"`
	Missed   []string  `json:"missed"`
	// Pairs of vectors were tried.
	Pairs int `json:"pairs"`
	// Exact is the largest privacy loss between the vectors of a pair, where it was worked out.
	Exact *float64 `json:"exact_epsilon,omitempty"`
	// Success is that of an answer about success, worked out too.
	Success *float64 `json:"success_exact_epsilon,omitempty"`
	// Found is what reports on the pair WorstPair show, of Runs reports on each vector.
	Found     audit.Found `json:"found"`
	Runs      int         `json:"runs"`
	WorstPair string      `json:"worst_pair"`
	// Once is what one run shows, and OncePower what it can.
	Once      *audit.Once      `json:"one_run,omitempty"`
	OncePower *audit.OncePower `json:"one_run_power,omitempty"`
	// Broken lists what refutes the claim, and Missing what was not looked at.
	Broken  []string `json:"broken"`
	Missing []string `json:"not_looked_at"`
	Seconds float64  `json:"seconds"`
}

// Planted is a mistake of the self-test.
type Planted struct {
	Mistake string `json:"mistake"`
	Found   bool   `json:"found"`
	By      string `json:"by,omitempty"`
}

// Verdict says in a line what became of the claim, and what the self-test did not find.
func (r *Report) Verdict() string {
	switch {
	case len(r.Broken) > 0:
		return "the claim is refuted"
	case len(r.Missed) == 0:
		return "within the claim, as far as was tested"
	}
	return fmt.Sprintf("within the claim, as far as was tested; the self-test missed %d of %d planted bugs: %s", len(r.Missed), len(r.SelfTest), strings.Join(r.Missed, ", "))
}

// Randomizer audits.
func Randomizer(ctx context.Context, j Job) (*Report, error) {
	began := time.Now()
	if !j.Randomizer.Private() {
		return nil, fmt.Errorf("%w: mechanism %s claims nothing", ErrJob, j.Randomizer.Mechanism)
	}
	codec, err := train.NewCodec(j.Randomizer, j.Dim)
	if err != nil {
		return nil, err
	}
	s := &subject{codec: codec, encode: plainly(codec), seed: j.Seed, runs: j.Runs}
	if s.runs == 0 {
		s.runs = runsBest
	}
	if s.claim, err = audit.NewClaim(codec.Event(), dp.ReplaceOne, 0); err != nil {
		return nil, err
	}
	s.pairs = pairsOf(codec, j.Randomizer.Clip, j.Seed)
	r := &Report{Randomizer: j.Randomizer, Dim: j.Dim, Adjacency: dp.ReplaceOne, Claim: s.claim, Pairs: len(s.pairs), Runs: s.runs,
		Broken: []string{}, Missed: []string{}, SelfTest: []Planted{}, Missing: []string{
			"what an agent learns, when it sends, and that each report is debited from its wallet (package train tests these)",
		}}
	if err := j.selfTest(ctx, s, r); err != nil {
		return nil, err
	}
	if err := j.looks(ctx, s, r); err != nil {
		return nil, err
	}
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

func (j *Job) tell(format string, args ...any) {
	if j.Progress != nil {
		j.Progress(fmt.Sprintf(format, args...))
	}
}

// selfTest plants every mistake that this randomiser can have.
func (j *Job) selfTest(ctx context.Context, s *subject, r *Report) error {
	for _, m := range mistakes {
		j.tell("self-test: %s", m.name)
		spoiled := *s
		spoiled.runs = min(s.runs, runsAll)
		if spoiled.encode = m.plant(s); spoiled.encode == nil {
			continue
		}
		o, err := spoiled.examine(ctx)
		if err != nil {
			return fmt.Errorf("self-test, %s: %w", m.name, err)
		}
		r.SelfTest = append(r.SelfTest, Planted{m.name, o.broken != "", o.by})
		if o.broken == "" {
			r.Missed = append(r.Missed, m.name)
		}
	}
	return nil
}

// looks at the randomiser as it is.
func (j *Job) looks(ctx context.Context, s *subject, r *Report) error {
	j.tell("the randomiser itself: %d pairs, %d reports on each vector", len(s.pairs), s.runs)
	if loss, ok := s.exactly(); ok {
		r.Exact = &loss
		if loss > s.claim.Epsilon*(1+exact)+exact {
			r.Broken = append(r.Broken, fmt.Sprintf("exact probabilities of reports: two of them differ by a factor of e^%.6g, but a report claims epsilon %.6g", loss, s.claim.Epsilon))
		}
	} else {
		r.Missing = append(r.Missing, fmt.Sprintf("the exact probabilities of reports: %s makes too many random decisions to enumerate, so reports were only sampled", j.Randomizer.Mechanism))
	}
	if j.Success > 0 {
		loss, err := successLoss(j.Success)
		if err != nil {
			return err
		}
		r.Success = &loss
		if loss > j.Success*(1+exact) {
			r.Broken = append(r.Broken, fmt.Sprintf("answers about success: their probabilities differ by a factor of e^%.6g, but an answer claims epsilon %.6g", loss, j.Success))
		}
	}
	o, err := s.examine(ctx)
	if err != nil {
		return err
	}
	r.Found, r.WorstPair = o.found, s.pairs[o.at].kind
	if o.broken != "" {
		r.Broken = append(r.Broken, o.by+": "+o.broken)
	}
	if !j.OneRun {
		return nil
	}
	j.tell("one run with %d canaries", canaries)
	once, err := s.once(ctx, s.pairs[o.at], canaries)
	if err != nil {
		return err
	}
	power := s.claim.PowerOnce(canaries, once.FalseAlarm)
	r.Once, r.OncePower = &once, &power
	if err := s.claim.HoldOnce(once); err != nil {
		r.Broken = append(r.Broken, "one run: "+err.Error())
	}
	return nil
}

// successLoss is the privacy loss of an answer about success.
func successLoss(epsilon float64) (float64, error) {
	rr, err := local.NewResponse(2, epsilon)
	if err != nil {
		return 0, err
	}
	return math.Log(rr.Truth() / (1 - rr.Truth())), nil
}
