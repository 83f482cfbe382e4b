package evaluate

import (
	"encoding/json"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/signature"
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
	// Start is the mean of Values under a public distribution of first states; nil where
	// none was asked for.
	Start *StartValue `json:"start_value,omitempty"`
	// Estimate is the value of the policy; nil for a value function.
	Estimate *Estimate `json:"estimate,omitempty"`
	// Answer is what a method says that is not of this library, see [OfSums]; nil for all
	// others.
	Answer *Answer `json:"answer,omitempty"`
	// Answers are those to a question about several policies or several groups of
	// persons, nil where one of each is asked about. Their intervals hold together with JointConfidence.
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
	// Diagnostics are further released statistics, each paid for.
	Diagnostics map[string]any `json:"diagnostics"`
	// Notes tell a reader what the numbers rest on.
	Notes []string `json:"notes,omitempty"`
	first string   // note of a run that goes before those of the plan
	// Signature is over the canonical form of the release without it; nil when
	// nobody signed.
	Signature *signature.Signature `json:"signature,omitempty"`
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
	if q.Noise == mechanism.Fast {
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
// [ReleaseSchema] is refused.
func (r *Release) UnmarshalJSON(text []byte) error {
	type plain Release
	aux := struct {
		*plain
		Privacy json.RawMessage `json:"privacy"`
	}{plain: (*plain)(r)}
	if err := json.Unmarshal(text, &aux); err != nil {
		return err
	}
	if r.Schema != ReleaseSchema {
		return fmt.Errorf("schema is %q; want %q", r.Schema, ReleaseSchema)
	}
	if string(aux.Privacy) == `"none"` {
		return nil
	}
	r.Privacy = new(Statement)
	return json.Unmarshal(aux.Privacy, r.Privacy)
}
