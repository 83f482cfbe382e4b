package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// ErrImpure marks a method of sums whose numbers for a person are not a function of
// that person's records and of earlier noisy sums alone, so that nothing bounds what
// one person changes. It is an error of that method's program.
var ErrImpure = errors.New("what a person adds depends on more than that person")

// Sums is a method of evaluation of anybody's making: a fixed number of rounds, each a
// sum over persons of vectors that are clipped and get noise, and an answer made of the
// noisy sums. [OfSums] makes an [Estimator] of it. The library clips, sums, adds exact
// noise, accounts and writes the release; the author's code sees no person but the one
// whose numbers it is asked for. docs/proofs/sums.md says what is proven and what
// rests on Contribution being a pure function.
//
// The fields of the type that implements it are the method's public parameters: the
// release repeats what of them JSON can hold.
type Sums interface {
	// Outline fixes everything that is public. It sees no data.
	Outline(p Public) (Outline, error)
	// Contribution writes to dst, which is zero and as long as the round says, what one
	// person adds. person holds that person alone, as person 0, with all of their
	// episodes, maybe none, and without names; earlier are the noisy sums of the rounds
	// before. Both are copies and may be changed. The result must depend on round,
	// earlier, person and public facts alone: not on calls before, on time or on
	// chance. Where Contribution panics, or a number is not finite, the person adds zero;
	// if these are more than [Outline].MayFail allows, [Plan.Check] fails. The plan calls it
	// for made-up persons, and fails if it does for all of them.
	Contribution(dst []float64, round int, earlier [][]float64, person *trajectory.Dataset)
	// Answer makes the answer. It is called after the budget was spent, so that an error
	// or a panic loses the release; it should have an answer for every sum.
	Answer(p Public, sums []NoisySum) (Answer, error)
}

// Outline is the public part of a method of sums.
type Outline struct {
	// Method is its name, the author's first: "author/method". The author "discreet" is
	// this library.
	Method string
	// Estimates says in words what the answer's value estimates, in which unit.
	Estimates string
	// Rounds are made in this order.
	Rounds []Round
	// Columns are the observations that Contribution reads; made-up persons have these.
	Columns []string
	// MayFail is the public share of persons, below 1, for whom Contribution may fail in a
	// round, so that they add zero: 0 stands for 0.01. One person may always. If it fails
	// for more in the check of the data, with zeros in the place of noisy sums, that is an
	// error for the curator: it depends on the data, and a ledger counts the check as failed.
	MayFail float64
}

// Round is one sum over persons.
type Round struct {
	// Dim is the number of coordinates, 2^20 at most in all rounds together; Clip the largest l2 norm of what a person adds:
	// longer vectors shrink to it.
	Dim  int     `json:"dimension"`
	Clip float64 `json:"clip"`
	// Share is the round's part of the budget, of mu^2, relative to the others'.
	Share float64 `json:"share"`
}

// NoisySum is the released sum of a round. The noise in each coordinate is Gaussian
// with standard deviation SD.
type NoisySum struct {
	Sum []float64
	SD  float64
}

// Answer is what a method of sums says. Value, and Interval where there is one, are
// its author's claims.
type Answer struct {
	Value float64 `json:"value"`
	// Interval, or nil, holds with probability Confidence what Claim says in words: over
	// the choice of persons, over the noise, under which assumptions.
	Interval   *[2]float64 `json:"interval,omitempty"`
	Confidence float64     `json:"confidence,omitempty"`
	Claim      string      `json:"claim,omitempty"`
}

// OfSums makes an estimator of somebody's method.
//
// Released: the noisy sums, and an [Answer]. Unit: a person. Adjacency: either. Assumes:
// see [Sums]. Clip: l2, of each round. Event: dp.Gaussian for each round, composed.
// Proof: docs/proofs/sums.md.
func OfSums(m Sums) Estimator { return ofSums{m} }

// ofSums is the estimator of a method of sums.
type ofSums struct{ method Sums }

// MarshalJSON gives the parameters of the method.
func (e ofSums) MarshalJSON() ([]byte, error) { return json.Marshal(e.method) }

// Plan implements [Estimator].
func (e ofSums) Plan(p Public) (*Plan, error) {
	p = p.asking(e)
	if err := p.suits("a method of sums"); err != nil {
		return nil, err
	}
	o, err := e.method.Outline(p.clone())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMethod, err)
	}
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMethod, err)
	}
	r := rounds{method: e.method, Outline: o, public: p}
	shares := make([]float64, len(o.Rounds))
	for k, round := range o.Rounds {
		shares[k] = round.Share
	}
	if r.noise, err = multipliers(*p.Privacy, shares...); err != nil {
		return nil, err
	}
	for k := range o.Rounds {
		if _, err := r.sum(k); err != nil {
			return nil, fmt.Errorf("%w: %s: round %d: %w", ErrMethod, o.Method, k, err)
		}
	}
	if err := r.rehearse(); err != nil {
		return nil, err
	}
	facts := map[string]any{"estimates": o.Estimates, "rounds": o.Rounds, "may_fail": o.tolerated()}
	notes := []string{
		fmt.Sprintf("Method %s is not part of this library: its author defines what a person adds and what is computed from the noisy sums. The value estimates: %s.", o.Method, o.Estimates),
		p.words("The guarantee assumes that the author's code computes a person's numbers from that person's records and earlier noisy sums alone. The code is given nothing else and is run twice in opposite orders, but this cannot exclude that it keeps other records. A person for whom it fails, or returns a number that is not finite, adds zero.") +
			p.words(fmt.Sprintf(" In the check of the data, which had no noisy sums, these were at most %d persons.", r.mayFail())),
	}
	return newPlan(draft{
		method: o.Method, public: p, event: gaussians(r.noise...), prepare: packing(r.prepare), outcome: r.again,
		summary: summary{facts: facts, notes: notes},
	})
}

var foreignName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*$`)

// ownAuthor would pass a method of somebody else's off as one of this library.
const ownAuthor = "discreet/"

// mostCoordinates bounds those of all rounds together: what a release can hold, and
// memory that a plan takes before it sees data.
const mostCoordinates = 1 << 20

// Foreign tells whether a method's name is that of a method of sums, which is not of
// this library.
func Foreign(method string) bool { return foreignName.MatchString(method) }

func (o Outline) validate() error {
	switch {
	case !Foreign(o.Method):
		return fmt.Errorf("the name is %q; want author/method, in small letters and digits", o.Method)
	case strings.HasPrefix(o.Method, ownAuthor):
		return fmt.Errorf("the name is %q, and this author's name is kept for this library; give the author's own", o.Method)
	case !oneLine(o.Estimates):
		return fmt.Errorf("%s: estimates is %q; want a line of printable words on what the value estimates", o.Method, o.Estimates)
	case len(o.Rounds) == 0:
		return fmt.Errorf("%s: it has no round", o.Method)
	case !(o.MayFail >= 0 && o.MayFail < 1):
		return fmt.Errorf("%s: MayFail is %v; want a share of persons from 0 to below 1", o.Method, o.MayFail)
	}
	left := mostCoordinates
	for k, r := range o.Rounds {
		if r.Dim < 1 || r.Dim > left {
			return fmt.Errorf("%s: round %d has %d coordinates; want at least 1, and at most %d in all rounds together", o.Method, k, r.Dim, mostCoordinates)
		}
		left -= r.Dim
		if !(r.Share > 0) || math.IsInf(r.Share, 0) {
			return fmt.Errorf("%s: round %d has a share of %v of the budget; want above 0", o.Method, k, r.Share)
		}
	}
	return nil
}

// validate refuses an answer that a release cannot tell.
func (a Answer) validate() error {
	if math.IsNaN(a.Value) || math.IsInf(a.Value, 0) {
		return errors.New("the value is not finite")
	}
	i := a.Interval
	switch {
	case i == nil && (a.Confidence != 0 || a.Claim != ""):
		return errors.New("a confidence or a claim without an interval")
	case i == nil:
	case !(i[0] <= i[1]) || math.IsInf(i[0], 0) || math.IsInf(i[1], 0):
		return errors.New("the interval is not finite, or ends before it starts")
	case !(a.Confidence > 0 && a.Confidence < 1):
		return fmt.Errorf("the confidence of the interval is %v; want between 0 and 1", a.Confidence)
	case !oneLine(a.Claim):
		return errors.New("the interval does not say, in a line of printable words, what it claims")
	}
	return nil
}
