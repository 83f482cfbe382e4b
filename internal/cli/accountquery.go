package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/fault"
)

// accountQuery asks one accountant one question.
type accountQuery struct {
	query      string // epsilon, delta or calibrate
	adjacency  dp.Adjacency
	accountant string
	epsilon    float64 // not a number when not given
	delta      float64
	group      int // persons
	width      float64
	fixDelta   float64 // 0 for none
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

	query string
}

func (a accountAnswer) text() string {
	given := fmt.Sprintf("%s, %s", a.Adjacency, a.Accountant)
	if a.Group > 1 {
		given += fmt.Sprintf(", groups of %d", a.Group)
	}
	switch a.query {
	case "epsilon":
		return fmt.Sprintf("epsilon in %v at delta %v (%s)", a.Epsilon, a.Delta, given)
	case "delta":
		return fmt.Sprintf("delta in %v at epsilon %v (%s)", a.Delta, a.Epsilon, given)
	}
	var found string
	switch {
	case a.Count != nil:
		found = fmt.Sprintf("largest count %d", *a.Count)
	case a.Rate != nil:
		found = fmt.Sprintf("largest rate in %v", *a.Rate)
	case a.Scale != nil:
		found = fmt.Sprintf("scale in %v", *a.Scale)
	default:
		found = fmt.Sprintf("noise multiplier in %v", *a.NoiseMultiplier)
	}
	return fmt.Sprintf("%s for epsilon %v, delta %v (%s)", found, a.Epsilon, a.Delta, given)
}

// begin checks what was asked, and begins its answer.
func (q accountQuery) begin() (accountAnswer, func() account.Accountant, error) {
	a := accountAnswer{Adjacency: q.adjacency.String(), Accountant: q.accountant, query: q.query}
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

// compose reads one event into an accountant.
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
		a.Epsilon, a.Delta = q.epsilon, b
		return a, err
	}
	if math.IsNaN(q.delta) {
		return a, usage(fmt.Errorf("account epsilon: --delta is missing"))
	}
	b, err := accountant.Epsilon(ctx, q.delta)
	a.Epsilon, a.Delta = b, q.delta
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
		a.Count = &n
	case "rate":
		a.Rate = &b
	case "scale":
		a.Scale = &b
	default:
		a.NoiseMultiplier = &b
	}
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

func isArray(text []byte) bool {
	return strings.HasPrefix(strings.TrimLeft(string(text), " \t\r\n"), "[")
}

// element is an array's element that says more than an event.
type element struct {
	ID         string
	Event      json.RawMessage
	Adjacency  *dp.Adjacency
	Delta      *float64
	Epsilon    *float64
	Accountant *string
	Group      *int
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
	e, err := readElement(raw)
	if err != nil {
		return accountAnswer{ID: e.ID}, usage(fmt.Errorf("account: an element is neither an event nor an object with one: %w", err))
	}
	if e.Adjacency != nil {
		q.adjacency = *e.Adjacency
	}
	if e.Delta != nil {
		q.delta = *e.Delta
	}
	if e.Epsilon != nil {
		q.epsilon = *e.Epsilon
	}
	if e.Accountant != nil {
		q.accountant = *e.Accountant
	}
	if e.Group != nil {
		q.group = *e.Group
	}
	a, err := q.answer(ctx, e.Event)
	a.ID = e.ID
	return a, err
}

// readElement is strict: a key that is unknown, repeated or of other letters is an error, as in an event.
func readElement(raw []byte) (element, error) {
	var e element
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return e, fmt.Errorf("want an object with \"event\"")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return e, err
		}
		key, _ := t.(string)
		into, ok := map[string]any{"id": &e.ID, "event": &e.Event, "adjacency": &e.Adjacency, "delta": &e.Delta,
			"epsilon": &e.Epsilon, "accountant": &e.Accountant, "group": &e.Group}[key]
		switch {
		case !ok:
			return e, fmt.Errorf("unknown key %q", key)
		case seen[key]:
			return e, fmt.Errorf("key %q is repeated", key)
		}
		seen[key] = true
		if err := d.Decode(into); err != nil {
			return e, fmt.Errorf("key %q: %w", key, err)
		}
	}
	if !seen["event"] {
		return e, fmt.Errorf("key \"event\" is missing")
	}
	return e, nil
}
