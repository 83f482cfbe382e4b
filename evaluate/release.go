package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/receipt"
)

// ReleaseSchema names the version of the JSON form of a [Release].
const ReleaseSchema = "discreet/release/v1"

// Release is what leaves: a value, its error, and the statement of what it cost.
type Release struct {
	Schema string `json:"schema"`
	Method string `json:"method"`
	// Theta is the weight vector of a value function; nil for a scalar.
	Theta []float64 `json:"theta,omitempty"`
	// Values is the value function by state, where the features are of finitely
	// many states.
	Values []float64 `json:"values,omitempty"`
	// Bands lie about Values; nil where nothing was released that tells their error, as off-policy.
	Bands *Bands `json:"bands,omitempty"`
	// Survival is what dp-survival estimates beside its answers; nil for all others.
	Survival *Survival `json:"survival,omitempty"`
	// Distribution is what dp-distribution estimates beside its answers; nil for all others.
	Distribution *Distribution `json:"distribution,omitempty"`
	// Learned is the policy that dp-learn makes; nil for all others.
	Learned *Learned `json:"learned,omitempty"`
	// Experiment is what dp-experiment says beside its answers; nil for all others.
	Experiment *Experiment `json:"experiment,omitempty"`
	// Start is the mean of Values under a public distribution of first states; nil where
	// none was asked for.
	Start *StartValue `json:"start_value,omitempty"`
	// Answer is what a method says that is not of this library, see [OfSums]; nil for all
	// others.
	Answer *Answer `json:"answer,omitempty"`
	// Answers are all that have an interval, name a policy or say which is best: one, named
	// "value", about a single policy, one for each of several policies, differences and
	// groups of persons; nil for a value function. Intervals of several hold together
	// with JointConfidence, which is 0 of one.
	Answers         []PolicyAnswer `json:"answers,omitempty"`
	JointConfidence float64        `json:"joint_confidence,omitempty"`
	// Privacy is the guarantee; nil for a non-private reference, written "none".
	Privacy *Statement `json:"-"`
	// Ledger is the entry that paid for the release; nil when no ledger was charged.
	Ledger *LedgerEntry `json:"ledger,omitempty"`
	// Disclosure says in words what a reviewer asks; nil for a reference.
	Disclosure *Disclosure `json:"disclosure,omitempty"`
	// Public repeats the public facts that the computation rested on.
	Public map[string]any `json:"public"`
	// Expected is the error that was known before the data was read.
	Expected Expected `json:"expected"`
	// Diagnostics are further released statistics, each paid for, that are not of one answer.
	Diagnostics map[string]any `json:"diagnostics"`
	// Notes tell a reader what the numbers rest on.
	Notes []string `json:"notes,omitempty"`
	first string   // note of a run that goes before those of the plan
	// beyond is by how much noise took the value of estimate out of its public range.
	beyond float64
	// estimate is the answer about one policy while a run, or what repeats one, makes it.
	estimate *Estimate
	// Signature is over the canonical form of the release without it; nil when
	// nobody signed.
	Signature *Signature `json:"signature,omitempty"`
}

// Signature is what a release is signed with; the bytes that are signed are its canonical JSON
// (RFC 8785) without this member.
type Signature struct {
	// Algorithm is ed25519.
	Algorithm string `json:"algorithm"`
	// KeyID is a hint which public key to check with. It is not signed and proves nothing.
	KeyID string `json:"key_id"`
	// Value is the signature of 64 bytes in base64.
	Value string `json:"value"`
}

// valueName is the name of the answer about a single policy, which needs no other.
const valueName = "value"

// answer makes the estimate of a run, with its diagnostics, the one answer of its release.
func (r *Release) answer() {
	if r.estimate != nil {
		r.Answers = []PolicyAnswer{{Name: valueName, Kind: OfPolicy, Estimate: r.estimate, Diagnostics: r.Diagnostics}}
		r.estimate, r.Diagnostics = nil, nil
	}
	if r.Diagnostics == nil {
		r.Diagnostics = map[string]any{}
	}
}

// run is the release as its run made it, the opposite of answer.
func (r *Release) run() *Release {
	out := *r
	if len(r.Answers) == 1 && r.Answers[0].Estimate != nil && r.JointConfidence == 0 && r.Survival == nil && r.Distribution == nil {
		out.estimate, out.Diagnostics = r.Answers[0].Estimate, r.Answers[0].Diagnostics
	}
	return &out
}

// Bands reach Deviations standard deviations to either side of the value of each state,
// in units of a return: of the noise, of the prior, of finitely many persons, and of what
// clips move, all as Condition supposes. They are no confidence intervals: where Condition
// does not hold of the data they may miss every value.
type Bands struct {
	Lower      []float64 `json:"lower"`
	Upper      []float64 `json:"upper"`
	Deviations float64   `json:"standard_deviations"`
	// Condition is what the deviations suppose, in words.
	Condition string `json:"condition"`
}

// Estimate is a scalar with its error, in units of a return.
type Estimate struct {
	Value float64 `json:"value"`
	// Interval covers the estimand with probability Confidence, over the choice
	// of persons and over the noise.
	Interval   [2]float64 `json:"interval"`
	Confidence float64    `json:"confidence"`
	// StdSampling is the standard deviation that finitely many persons make, and
	// Sampling says where it comes from.
	StdSampling float64        `json:"std_sampling"`
	Sampling    SamplingSource `json:"sampling"`
	// StdPrivacy is the standard deviation that the noise makes.
	StdPrivacy float64 `json:"std_privacy"`
	// Clipping is by how much the interval was lengthened below and above for what
	// the clip, or a log that is too short for rare outcomes, may hide.
	Clipping [2]float64 `json:"clipping"`
}

// SamplingSource says where a sampling error comes from.
type SamplingSource string

// The sources of a sampling error.
const (
	// Paid: estimated from a noisy second moment that is part of the event.
	Paid SamplingSource = "paid"
	// PublicBound: an upper bound from the public range alone.
	PublicBound SamplingSource = "public_bound"
	// NotPrivate: estimated from the data of a non-private reference.
	NotPrivate SamplingSource = "not_private"
	// NoSampling: the value does not depend on data.
	NoSampling SamplingSource = "none"
)

// Statement says what a release guarantees, to whom, and what it cost.
type Statement struct {
	// Model is "central": a curator holds the records and is trusted with them.
	// Releases of earlier versions leave it empty and mean the same.
	Model     string       `json:"model,omitempty"`
	Unit      Unit         `json:"unit"`
	Adjacency dp.Adjacency `json:"adjacency"`
	Epsilon   float64      `json:"epsilon"`
	Delta     float64      `json:"delta"`
	// Accountant certified that the true epsilon at Delta lies in Accounted.
	Accountant string          `json:"accountant"`
	Accounted  account.Bracket `json:"accounted"`
	Event      dp.Event        `json:"event"`
	// Noise is "exact" or "fast"; fast noise does not exclude floating-point
	// attacks.
	Noise string `json:"noise"`
	// Charged tells whether a ledger was charged before the run.
	Charged bool `json:"charged"`
	// Seeded marks a release whose noise came from a seed: it protects nobody.
	Seeded bool `json:"seeded_for_tests,omitempty"`
}

// newStatement is what is known of the guarantee beforehand.
func newStatement(p *Plan) *Statement {
	q := p.public.Privacy
	s := &Statement{
		Model:      "central",
		Unit:       Unit(q.Unit.String()),
		Adjacency:  q.Adjacency,
		Epsilon:    q.Budget.Epsilon,
		Delta:      q.Budget.Delta,
		Accountant: p.accounted.by,
		Accounted:  p.accounted.epsilon,
		Event:      p.event,
		Noise:      "exact",
	}
	if q.Fast {
		s.Noise = "fast"
	}
	return s
}

// UnmarshalJSON implements [json.Unmarshaler]; the event is parsed strictly.
func (s *Statement) UnmarshalJSON(text []byte) error {
	type plain Statement
	aux := struct {
		*plain
		Event json.RawMessage `json:"event"`
	}{plain: (*plain)(s)}
	if err := json.Unmarshal(text, &aux); err != nil {
		return err
	}
	event, err := dp.ParseEvent(aux.Event)
	if err != nil {
		return err
	}
	s.Event = event
	return nil
}

// MarshalJSON implements [json.Marshaler].
func (r Release) MarshalJSON() ([]byte, error) {
	type plain Release
	var privacy any = "none"
	if r.Privacy != nil {
		privacy = r.Privacy
	}
	return json.Marshal(struct {
		plain
		Privacy any `json:"privacy"`
	}{plain(r), privacy})
}

// UnmarshalJSON implements [json.Unmarshaler]. A schema other than
// [ReleaseSchema] is refused. Version 0.1.0 wrote the answer about a single policy as
// "estimate", and its diagnostics as those of the release: it is read as one of Answers.
func (r *Release) UnmarshalJSON(text []byte) error {
	type plain Release
	aux := struct {
		*plain
		Privacy  json.RawMessage `json:"privacy"`
		Estimate *Estimate       `json:"estimate"`
	}{plain: (*plain)(r)}
	if err := json.Unmarshal(text, &aux); err != nil {
		return err
	}
	if r.Schema != ReleaseSchema {
		return fmt.Errorf("schema is %q; want %q", r.Schema, ReleaseSchema)
	}
	if aux.Estimate != nil {
		if r.Answers != nil {
			return errors.New("a release has answers, or an estimate as version 0.1.0 wrote it, and not both")
		}
		r.estimate = aux.Estimate
		r.answer()
	}
	if string(aux.Privacy) == `"none"` {
		return nil
	}
	r.Privacy = new(Statement)
	return json.Unmarshal(aux.Privacy, r.Privacy)
}

// Certify accounts for the event of a statement anew and returns the bracket of
// its epsilon at its delta. An event that costs more than the statement promises
// is [ErrOverBudget]. It needs nothing but the release, so anybody can do it.
func (s *Statement) Certify() (account.Bracket, error) {
	if s.Event == nil {
		return account.Bracket{}, fmt.Errorf("%w: the statement holds no event", dp.ErrEvent)
	}
	q := Privacy{Adjacency: s.Adjacency, Budget: dp.Budget{Epsilon: s.Epsilon, Delta: s.Delta}}
	if err := q.Budget.Validate(); err != nil {
		return account.Bracket{}, err
	}
	a, err := certify("the release", s.Event, q)
	return a.epsilon, err
}

// LedgerEntry is the entry of a budget ledger that paid for a release, and the
// budget right after it. The ledger's holder can check it against the chain; and
// a ledger that lacks the entry was cut or rolled back.
type LedgerEntry struct {
	// Stamp names the entry by its number and its hash, and the head of the chain.
	receipt.Stamp
	// Time of the charge, in UTC.
	Time time.Time `json:"time"`
	// Key is the idempotency key of the charge: with it the ledger's holder gets
	// the recorded release again.
	Key     string `json:"key"`
	Analyst string `json:"analyst"`
	Purpose string `json:"purpose,omitempty"`
	// Rule is the composition theorem that the ledger goes by: basic, gaussian or
	// renyi.
	Rule   string    `json:"rule"`
	Budget dp.Budget `json:"budget"`
	// Spent is what all charges so far meet together, this one included.
	Spent  dp.Budget `json:"spent"`
	Shares Shares    `json:"shares"`
}

// Shares splits a part of the budget, 1, into what was spent before, by this
// charge, and what is left, in the quantity that adds up in it.
type Shares struct {
	// Part is "rule", the part in which mu^2 or a Renyi divergence adds up;
	// "reserve", the part for charges that the rule does not support; or "budget", all of it,
	// under the basic rule. In the latter two epsilon adds up, or delta where more
	// of that is spent.
	Part   string  `json:"part"`
	Before float64 `json:"before"`
	This   float64 `json:"this"`
	Left   float64 `json:"left"`
}
