package probe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// ErrJob marks what cannot be looked at: a format that is not written here, or options
// of which no small data are accepted.
var ErrJob = fault.Input("reading cannot be audited")

const (
	// pairsTried where the caller does not say, each odd record beside logsShare others.
	pairsTried = 400
	logsShare  = 10
	// mostDraws of honest data are made until some are accepted.
	mostDraws = 200
)

// Job is a way to read that is looked at.
type Job struct {
	// Format is csv, ndjson or parquet.
	Format  string
	Options trajectory.Options
	// Actions is how many actions there are; 0 for 2.
	Actions int
	// After is what becomes of data once they are read, such as leaving out what a policy
	// cannot judge; nil for nothing.
	After func(*trajectory.Dataset) (*trajectory.Dataset, error)
	// Pairs of data to compare; 0 for 400.
	Pairs int
	Seed  uint64
}

// Report says what was tried and seen.
type Report struct {
	Format string `json:"format"`
	// Pairs were tried, and Alike of them read, all others in both as without the odd
	// record. Decisions of others were compared.
	Pairs     int `json:"pairs"`
	Alike     int `json:"read_alike"`
	Decisions int `json:"decisions"`
	// Stretches tells that a file was read by stretches too, as large ones are.
	Stretches bool `json:"stretches"`
	// Refused counts the data refused, by what was odd: each refusal tells one bit.
	Refused map[string]int `json:"refused"`
	// Repairs tells that by the options no value is a reason to refuse data.
	Repairs bool `json:"repairs"`
	// SelfTest has a line for each mistake that was planted.
	SelfTest []Planted `json:"self_test"`
	// Broken lists what changed for others, and what was refused against the options.
	Broken  []string `json:"broken"`
	Seconds float64  `json:"seconds"`
}

// Refusals is how many data were refused in all.
func (r *Report) Refusals() int {
	n := 0
	for _, k := range r.Refused {
		n += k
	}
	return n
}

// String says in a sentence what was seen.
func (r *Report) String() string {
	text := fmt.Sprintf("%d pairs of small %s files, with and without an irregular record; in %d of them everybody else is read identically, bit for bit (%d decisions compared)", r.Pairs, r.Format, r.Alike, r.Decisions)
	if len(r.Refused) == 0 {
		return text + "; no file is refused"
	}
	var why []string
	for _, name := range slices.Sorted(maps.Keys(r.Refused)) {
		why = append(why, fmt.Sprintf("%s (%d)", name, r.Refused[name]))
	}
	text += fmt.Sprintf("; %d are refused, which reveals one bit (somebody's record is irregular): %s", r.Refusals(), strings.Join(why, ", "))
	if !r.Repairs {
		text += "; under this configuration invalid values also cause refusals"
	}
	return text
}

// Planted is a mistake of the self-test.
type Planted struct {
	Mistake string `json:"mistake"`
	Found   bool   `json:"found"`
}

// Reader looks at reading by the options of a job.
func Reader(ctx context.Context, j Job) (*Report, error) {
	began := time.Now()
	if _, ok := writers[j.Format]; !ok {
		return nil, fmt.Errorf("%w: files of format %s are not written here; want csv, ndjson or parquet", ErrJob, j.Format)
	}
	j.Options.Faults, j.Options.Progress = 0, nil
	if err := j.Options.Validate(); err != nil {
		return nil, err
	}
	if j.Pairs == 0 {
		j.Pairs = pairsTried
	}
	dir, err := os.MkdirTemp("", "discreet-probe")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	l := &session{Job: j, path: filepath.Join(dir, "log."+j.Format), log: newLog(j), rand: rand.New(rand.NewPCG(j.Seed, 1))}
	if len(j.Options.OutcomeFiles) > 0 {
		l.Options.OutcomeFiles = []string{filepath.Join(dir, "outcomes."+j.Format)}
	}
	l.report = Report{Format: j.Format, Refused: map[string]int{}, Repairs: l.repairs(), SelfTest: []Planted{}, Broken: []string{}}
	for _, m := range mistakes {
		if m.ofRepairs && !l.repairs() || m.of != nil && !m.of(j.Options, j.Format) {
			continue
		}
		spoiled := *l
		spoiled.report.Refused, spoiled.mistake = map[string]int{}, m
		spoiled.rand = rand.New(rand.NewPCG(j.Seed, 2))
		if err := spoiled.all(ctx); err != nil {
			return nil, err
		}
		l.report.SelfTest = append(l.report.SelfTest, Planted{m.name, len(spoiled.report.Broken) > 0})
	}
	err = l.all(ctx)
	l.report.Seconds = time.Since(began).Seconds()
	return &l.report, err
}

// session is the probe of one job.
type session struct {
	Job
	log    log
	path   string
	rand   *rand.Rand
	report Report
	// mistake is planted, in the self-test.
	mistake mistake
	// raw is what was read last, before anything became of it.
	raw *trajectory.Dataset
}

// repairs tells that whatever stands in a record, it is no reason to refuse data.
func (l *session) repairs() bool {
	o := l.Options
	return o.Repair && o.Missing != trajectory.MissingReject && (o.Reward == nil || o.ClipRewards)
}

// all compares pairs until one breaks the promise, or enough are compared.
func (l *session) all(ctx context.Context) error {
	if l.mistake.spoil == nil && !l.mistake.uncapped {
		broken, cut, err := l.inStretches(ctx)
		if l.report.Stretches = cut; broken != "" {
			l.report.Broken = append(l.report.Broken, broken)
		}
		if err != nil || broken != "" {
			return err
		}
	}
	for l.report.Pairs < l.Pairs {
		others, begin, alone, err := l.honest(ctx)
		if err != nil {
			return err
		}
		for range min(logsShare, l.Pairs-l.report.Pairs) {
			what, rows, apart := l.log.odd(l.rand)
			at := append(begin, len(others))[l.rand.IntN(len(begin)+1)]
			with := slices.Insert(slices.Clone(others), at, rows...)
			if apart > 0 {
				with = append(with, rows[len(rows)-apart:]...)
				with = slices.Delete(with, at+len(rows)-apart, at+len(rows))
			}
			broken, err := l.compare(ctx, what, with, alone)
			if err != nil {
				return err
			}
			if l.report.Pairs++; broken != "" {
				l.report.Broken = append(l.report.Broken, what.name+": "+broken)
				return nil
			}
		}
	}
	return nil
}

// honest draws persons whose data are accepted, and reads them. begin is where each
// starts.
func (l *session) honest(ctx context.Context) (others []row, begin []int, alone *trajectory.Dataset, err error) {
	for range mostDraws {
		others, begin = nil, nil
		for i := range 2 + l.rand.IntN(3) {
			begin = append(begin, len(others))
			others = append(others, l.log.person(l.rand, fmt.Sprintf("u%d", i))...)
		}
		alone, err = l.read(ctx, others)
		if err == nil && alone.Rows() > 0 {
			return others, begin, alone, nil
		}
		if err != nil && !errors.Is(err, trajectory.ErrInput) && l.After == nil {
			return nil, nil, nil, err
		}
		if ctx.Err() != nil {
			return nil, nil, nil, ctx.Err()
		}
	}
	if err == nil {
		err = errors.New("of all records nothing was kept")
	}
	return nil, nil, nil, fmt.Errorf("%w: none of %d small data made up from the options were accepted, the last because %w", ErrJob, mostDraws, err)
}

// read writes rows and reads them as the job does.
func (l *session) read(ctx context.Context, rows []row) (*trajectory.Dataset, error) {
	text, err := writers[l.Format](&l.log, rows)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.WriteFile(l.path, text, 0o600), l.writeOutcomes(rows)); err != nil {
		return nil, err
	}
	o := l.Options
	if l.mistake.uncapped {
		o.Horizon, o.EpisodesPerPerson = 0, 0
	}
	d, _, err := file.Read(ctx, []string{l.path}, l.Format, o)
	l.raw = d
	if err == nil && l.mistake.spoil != nil {
		d, err = l.mistake.spoil(d)
	}
	if err == nil && l.After != nil {
		d, err = l.After(d)
	}
	return d, err
}

// compare reads data with an odd record, and says what is wrong with that; "" for
// nothing.
func (l *session) compare(ctx context.Context, what oddity, with []row, alone *trajectory.Dataset) (string, error) {
	d, err := l.read(ctx, with)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		l.report.Refused[what.name]++
		if l.repairs() && what.value {
			return fmt.Sprintf("the data are refused (%v), but the options say that an invalid record is repaired", err), nil
		}
		return "", nil
	}
	if why := overCaps(l.raw, l.Options); why != "" {
		return why, nil
	}
	if l.mistake.spoil == nil {
		if why, err := l.putTogether(ctx, l.raw); why != "" || err != nil {
			return why, err
		}
	}
	l.report.Decisions += alone.Rows()
	if l.repairs() && what.value && l.Options.Unit == trajectory.UnitPerson && d.Persons() != alone.Persons()+1 {
		return fmt.Sprintf("%d persons are counted, but %d without the irregular record", d.Persons(), alone.Persons()), nil
	}
	if why := differ(alone, d); why != "" {
		return why, nil
	}
	l.report.Alike++
	return "", nil
}
