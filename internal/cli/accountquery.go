package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/fault"
)

// accountQuery asks one accountant one question.
type accountQuery struct {
	query      string // epsilon, delta, calibrate or curve
	neighbours string // the adjacency as the flag has it
	adjacency  dp.Adjacency
	accountant string
	epsilon    float64 // not a number when not given
	delta      float64
	group      int // persons
	width      float64
	fixDelta   float64 // 0 for none
}

// register adds the flags that all queries have, and that of the events which calibrate cannot take.
func (q *accountQuery) register(f *pflag.FlagSet) {
	f.StringVar(&q.neighbours, "adjacency", "", "replace_one or add_remove_one")
	f.StringVar(&q.accountant, "accountant", "pld", "pld or rdp")
	f.Float64Var(&q.width, "width", 2e-4, "relative width of a bracket to aim at, 1e-6 to 0.1: a narrower one takes longer")
	f.IntVar(&q.group, "group", 1, "how many linked persons neighbours may differ in")
	if q.query != "calibrate" {
		f.Float64Var(&q.fixDelta, "fix-delta", 0, "part of delta divided among smooth_gaussian and shuffled events, so that they can be composed")
	}
}

// accountAnswer is what a query prints. What was asked for is a bracket, what
// was given a number.
type accountAnswer struct {
	ID              string           `json:"id,omitempty"`
	Epsilon         any              `json:"epsilon,omitempty"`
	Delta           any              `json:"delta,omitempty"`
	NoiseMultiplier *account.Bracket `json:"noise_multiplier,omitempty"`
	Scale           *account.Bracket `json:"scale,omitempty"`
	Rate            *account.Bracket `json:"rate,omitempty"`  // Lower is certain to meet the budget
	Count           *int64           `json:"count,omitempty"` // the largest that is certain to
	Adjacency       string           `json:"adjacency,omitempty"`
	Accountant      string           `json:"accountant,omitempty"`
	Group           int              `json:"group,omitempty"` // persons, if more than one
	Error           string           `json:"error,omitempty"`

	found string // in words
}

func (a accountAnswer) text() string {
	given := fmt.Sprintf("%s, %s", a.Adjacency, a.Accountant)
	if a.Group > 1 {
		given += fmt.Sprintf(", groups of %d", a.Group)
	}
	return fmt.Sprintf("%s (%s)", a.found, given)
}

// begin checks what was asked, and begins its answer.
func (q accountQuery) begin() (accountAnswer, func() account.Accountant, error) {
	a := accountAnswer{Adjacency: q.adjacency.String(), Accountant: q.accountant}
	if !q.adjacency.Valid() {
		return a, nil, usage(fmt.Errorf("account %s: --adjacency is missing; want replace_one or add_remove_one", q.query))
	}
	if q.group < 1 {
		return a, nil, usage(fmt.Errorf("account %s: a group of %d persons; want at least 1", q.query, q.group))
	}
	if q.group > 1 {
		a.Group = q.group
	}
	fresh, err := q.fresh()
	return a, fresh, err
}

func (q accountQuery) compose(ctx context.Context, a *accountAnswer, event []byte, fresh func() account.Accountant) (account.Accountant, error) {
	e, err := dp.ParseEvent(event)
	if err == nil && q.fixDelta != 0 {
		e, err = account.FixDelta(ctx, q.adjacency, e, q.fixDelta)
	}
	if err != nil {
		return nil, err
	}
	accountant := fresh()
	if err := accountant.Compose(ctx, e, 1); err != nil {
		return nil, err
	}
	a.answeredBy(accountant)
	return accountant, nil
}

// answer reads one event and answers the query on it.
func (q accountQuery) answer(ctx context.Context, event []byte) (accountAnswer, error) {
	a, fresh, err := q.begin()
	if err != nil {
		return a, err
	}
	if q.query == "calibrate" {
		return q.calibrate(ctx, a, event, fresh)
	}
	accountant, err := q.compose(ctx, &a, event, fresh)
	if err != nil {
		return a, err
	}
	if q.query == "delta" {
		if math.IsNaN(q.epsilon) {
			return a, usage(fmt.Errorf("account delta: --epsilon is missing"))
		}
		b, err := accountant.Delta(ctx, q.epsilon)
		a.Epsilon, a.Delta, a.found = q.epsilon, b, fmt.Sprintf("delta in %v at epsilon %v", b, q.epsilon)
		return a, err
	}
	if math.IsNaN(q.delta) {
		return a, usage(fmt.Errorf("account epsilon: --delta is missing"))
	}
	b, err := accountant.Epsilon(ctx, q.delta)
	a.Epsilon, a.Delta, a.found = b, q.delta, fmt.Sprintf("epsilon in %v at delta %v", b, q.delta)
	return a, err
}

// answeredBy names the Renyi accountant where an event made it answer in place of
// loss distributions.
func (a *accountAnswer) answeredBy(by account.Accountant) {
	if by.String() == "rdp" {
		a.Accountant = "rdp"
	}
}

func (q accountQuery) calibrate(ctx context.Context, a accountAnswer, event []byte, fresh func() account.Accountant) (accountAnswer, error) {
	t, err := dp.ParseTemplate(event)
	if err != nil {
		return a, err
	}
	if !t.Open() {
		return a, usage(fmt.Errorf(`account calibrate: the event has no "?" in place of a noise multiplier, scale, rate or count`))
	}
	if math.IsNaN(q.epsilon) || math.IsNaN(q.delta) {
		return a, usage(fmt.Errorf("account calibrate: --epsilon and --delta are both needed"))
	}
	var last account.Accountant
	b, err := account.CalibrateTemplate(ctx, t, dp.Budget{Epsilon: q.epsilon, Delta: q.delta}, func() account.Accountant {
		last = fresh()
		return last
	})
	if last != nil {
		a.answeredBy(last)
	}
	a.Epsilon, a.Delta = q.epsilon, q.delta
	switch t.Field() {
	case "count":
		n := int64(b.Lower)
		a.Count, a.found = &n, fmt.Sprintf("largest count %d", n)
	case "rate":
		a.Rate, a.found = &b, fmt.Sprintf("largest rate in %v", b)
	case "scale":
		a.Scale, a.found = &b, fmt.Sprintf("scale in %v", b)
	default:
		a.NoiseMultiplier, a.found = &b, fmt.Sprintf("noise multiplier in %v", b)
	}
	a.found += fmt.Sprintf(" for epsilon %v, delta %v", q.epsilon, q.delta)
	return a, err
}

func (q accountQuery) fresh() (func() account.Accountant, error) {
	if err := account.CheckWidth(q.width); err != nil {
		return nil, usage(err)
	}
	group := func(a account.Accountant) account.Accountant { return account.ForGroup(a, q.group) }
	switch q.accountant {
	case "pld":
		return func() account.Accountant { return group(account.New(q.adjacency, account.Width(q.width))) }, nil // closed forms where they are exact
	case "rdp":
		return func() account.Accountant { return group(account.NewRDP(q.adjacency)) }, nil
	}
	return nil, usage(fmt.Errorf("account: accountant is %q; want pld or rdp", q.accountant))
}

// answerAll answers an array by an array, in order. An element that cannot be
// answered gets an error in its place, and the command fails at the end.
func answerAll(cmd *cobra.Command, q accountQuery, text []byte) error {
	var elements []json.RawMessage
	if err := json.Unmarshal(text, &elements); err != nil {
		return usage(fmt.Errorf("account: %w", err))
	}
	answers := make([]accountAnswer, len(elements))
	failed := 0
	for i, raw := range elements {
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		a, err := q.answerElement(cmd.Context(), raw)
		if err != nil {
			a = accountAnswer{ID: a.ID, Error: fault.Words(err)}
			failed++
		}
		answers[i] = a
	}
	if err := printJSON(cmd.OutOrStdout(), answers); err != nil {
		return err
	}
	if failed > 0 {
		return usage(fmt.Errorf("account: %d of %d elements could not be answered; see their error", failed, len(elements)))
	}
	return nil
}

func (q accountQuery) answerElement(ctx context.Context, raw json.RawMessage) (accountAnswer, error) {
	var head struct {
		Kind *string `json:"kind"`
	}
	if json.Unmarshal(raw, &head) == nil && head.Kind != nil {
		return q.answer(ctx, raw)
	}
	id, event, err := q.readElement(raw)
	if err != nil {
		return accountAnswer{ID: id}, usage(fmt.Errorf("account: an element is neither an event nor an object with one: %w", err))
	}
	a, err := q.answer(ctx, event)
	a.ID = id
	return a, err
}

// readElement reads an array's element that says more than an event, over what the flags say. It is
// strict: a key that is unknown, repeated or of other letters is an error, as in an event.
func (q *accountQuery) readElement(raw []byte) (id string, event json.RawMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", nil, fmt.Errorf("want an object with \"event\"")
	}
	adjacency := &q.adjacency // null leaves it, as it leaves the numbers
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return id, nil, err
		}
		key, _ := t.(string)
		into, ok := map[string]any{"id": &id, "event": &event, "adjacency": &adjacency, "delta": &q.delta,
			"epsilon": &q.epsilon, "accountant": &q.accountant, "group": &q.group}[key]
		switch {
		case !ok:
			return id, nil, fmt.Errorf("unknown key %q", key)
		case seen[key]:
			return id, nil, fmt.Errorf("key %q is repeated", key)
		}
		seen[key] = true
		if err := d.Decode(into); err != nil {
			return id, nil, fmt.Errorf("key %q: %w", key, err)
		}
	}
	if !seen["event"] {
		return id, nil, fmt.Errorf("key \"event\" is missing")
	}
	return id, event, nil
}
