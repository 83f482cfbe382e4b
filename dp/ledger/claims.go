package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// releaseSchemas begins the name of every version of the form in which package
// discreet writes releases. A release that bears it has to state all its claims;
// one of another form is held only to those that it makes.
const releaseSchemas = "discreet/release/"

// claims is what a release states of the charge that paid for it: in its member
// "ledger" the entry, and in "privacy" what was run, for whom. The rest of a
// release is its result, of which a ledger knows nothing.
type claims struct {
	ledger, privacy members
	stamp           *receipt.Stamp
	all             bool // nothing may be left unsaid
}

// members are those of a JSON object that matter here, by name.
type members map[string]json.RawMessage

// membersOf reads the named members of an object; nil for a value that is none. A
// name that comes twice, or in capitals, is refused: the release could say one
// thing here and another to the next reader.
func membersOf(raw json.RawMessage, names ...string) (members, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, nil
	}
	m := members{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("%w: %v", ErrRelease, err)
		}
		got, _ := token.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("%w: %v", ErrRelease, err)
		}
		for _, name := range names {
			if !strings.EqualFold(got, name) {
				continue
			}
			if _, twice := m[name]; twice || got != name {
				return nil, fmt.Errorf("%w: it has %q twice, or in other letters; want each member once", ErrRelease, name)
			}
			m[name] = value
		}
	}
	return m, nil
}

// claimsOf reads the claims of a release; nil for bytes that are no JSON object,
// such as the report of an agent, which claim nothing.
func claimsOf(release []byte) (*claims, error) {
	if !json.Valid(release) {
		return nil, nil
	}
	top, err := membersOf(release, "schema", "ledger", "privacy")
	if err != nil || top == nil {
		return nil, err
	}
	c := &claims{}
	var schema string
	c.all = json.Unmarshal(top["schema"], &schema) == nil && strings.HasPrefix(schema, releaseSchemas)
	if c.privacy, err = membersOf(top["privacy"], "unit", "adjacency", "event", "charged"); err != nil {
		return nil, err
	}
	c.ledger, err = membersOf(top["ledger"], "ledger", "dataset", "seq", "entry", "head", "time", "key", "analyst", "purpose", "rule", "budget", "spent")
	if err != nil || c.ledger == nil {
		return c, err
	}
	if _, err := membersOf(c.ledger["head"], "seq", "hash"); err != nil {
		return nil, err
	}
	c.stamp, err = StampOf(release)
	return c, err
}

// verify holds the claims against the charge that the stamp names: what was to be
// run, for whom and under which key, and how the budget is kept.
func (c *claims) verify(e *chain.Entry, open *chain.OpenBody) error {
	if c == nil {
		return nil
	}
	charge := e.Charge
	event, err := dp.MarshalEvent(charge.Event)
	if err != nil {
		return err
	}
	for _, claim := range []struct {
		in   members
		name string
		is   func(json.RawMessage) bool
	}{
		{c.privacy, "event", func(raw json.RawMessage) bool { return sameEvent(raw, event) }},
		{c.privacy, "adjacency", isText(charge.Adjacency.String())},
		{c.privacy, "unit", isText(charge.Unit)},
		{c.privacy, "charged", func(raw json.RawMessage) bool { return string(raw) == "true" }},
		{c.ledger, "key", isText(charge.Key)},
		{c.ledger, "analyst", isText(charge.Analyst)},
		{c.ledger, "time", func(raw json.RawMessage) bool { return sameTime(raw, e.Time) }},
		{c.ledger, "rule", isText(open.Rule)},
	} {
		raw, stated := claim.in[claim.name]
		if !stated && !c.all {
			continue
		}
		if !stated || !claim.is(raw) {
			return lie(claim.name, e.Seq)
		}
	}
	// An empty purpose is left out of a release.
	purpose, stated := c.ledger["purpose"]
	if stated && !isText(charge.Purpose)(purpose) || !stated && c.all && charge.Purpose != "" {
		return lie("purpose", e.Seq)
	}
	return nil
}

func lie(what string, seq int64) error {
	return fmt.Errorf("%w: its %s is not that of entry %d, which it names: another run led to it, or it was changed before it was recorded", ErrRelease, what, seq)
}

func isText(want string) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var got *string
		return json.Unmarshal(raw, &got) == nil && got != nil && *got == want
	}
}

func sameEvent(raw json.RawMessage, want []byte) bool {
	event, err := dp.ParseEvent(raw)
	if err != nil {
		return false
	}
	got, err := dp.MarshalEvent(event)
	return err == nil && bytes.Equal(got, want)
}

func sameTime(raw json.RawMessage, want time.Time) bool {
	var got time.Time
	return json.Unmarshal(raw, &got) == nil && got.Equal(want)
}

// verifySpent holds the budget and what was spent of it, as the release states
// them, against the chain: they are those right after the charge, or after a later
// entry before the record. A run takes its time, and others are charged meanwhile.
func (l *Ledger) verifySpent(tx *store.Tx, c *claims, charge store.ChargeRow) error {
	budget, spent, err := c.budgets(charge.Seq)
	if err != nil {
		return store.Abort(err)
	}
	if budget == nil && spent == nil {
		return nil
	}
	for from := charge.Seq; from < charge.Recorded; {
		page, err := tx.Page(from, min(pageSize, int(charge.Recorded-from)))
		if err != nil {
			return err
		}
		for _, row := range page {
			e, err := chain.Parse(row.Body)
			if err != nil || chain.Sum(row.Body) != toHash(row.Hash) {
				return store.Abort(l.tampered(row.Seq, "its bytes are not those of its hash"))
			}
			if was, err := stood(e.Totals, budget, spent, l.spent); was || err != nil {
				return store.Abort(err)
			}
			from = row.Seq + 1
		}
		if len(page) == 0 {
			return store.Abort(l.tampered(from, "it is missing"))
		}
	}
	return store.Abort(lie("budget, or what was spent of it,", charge.Seq))
}

// spent is what charges of these totals are certain to meet.
func (l *Ledger) spent(t chain.Totals) (dp.Budget, error) {
	limits, err := l.limits(t.Budget)
	if err != nil {
		return dp.Budget{}, err
	}
	return l.meter.Spent(t.Spent, limits)
}

// stood reports that the budget, and what was spent of it, were these at some
// totals; nil stands for any.
func stood(t chain.Totals, budget, spent *dp.Budget, of func(chain.Totals) (dp.Budget, error)) (bool, error) {
	if budget != nil && *budget != t.Budget {
		return false, nil
	}
	if spent == nil {
		return true, nil
	}
	was, err := of(t)
	return err == nil && near(account.Cost{Epsilon: was.Epsilon, Delta: was.Delta}, account.Cost{Epsilon: spent.Epsilon, Delta: spent.Delta}), err
}

// budgets are the budget and what was spent of it, as stated; nil where that is
// not stated and need not be.
func (c *claims) budgets(seq int64) (budget, spent *dp.Budget, err error) {
	if budget, err = c.budget("budget", seq); err == nil {
		spent, err = c.budget("spent", seq)
	}
	return budget, spent, err
}

// budget reads a pair of epsilon and delta; nil where it is not stated and need
// not be.
func (c *claims) budget(name string, seq int64) (*dp.Budget, error) {
	if c == nil {
		return nil, nil
	}
	raw, stated := c.ledger[name]
	if !stated && !c.all {
		return nil, nil
	}
	m, err := membersOf(raw, "epsilon", "delta")
	if err != nil {
		return nil, err
	}
	b := dp.Budget{Epsilon: math.NaN(), Delta: math.NaN()}
	if len(m) != 2 || json.Unmarshal(m["epsilon"], &b.Epsilon) != nil || json.Unmarshal(m["delta"], &b.Delta) != nil {
		return nil, lie(name, seq)
	}
	return &b, nil
}
