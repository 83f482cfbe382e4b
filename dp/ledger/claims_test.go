package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// stating is a release in the form of package evaluate, as far as a ledger reads
// it: what it states is true of the grant.
func stating(t testing.TB, l *ledger.Ledger, g *ledger.Grant) map[string]any {
	t.Helper()
	c := g.Entry.Charge
	event, err := dp.MarshalEvent(c.Event)
	if err != nil {
		t.Fatal(err)
	}
	entry := map[string]any{
		"time": g.Entry.Time, "key": c.Key, "analyst": c.Analyst, "purpose": c.Purpose, "rule": l.Opening().Rule,
		"budget": g.Budget, "spent": g.Spent, "shares": map[string]any{"part": "rule"},
	}
	stamp, err := json.Marshal(g.Receipt.Stamp())
	if err != nil || json.Unmarshal(stamp, &entry) != nil {
		t.Fatal(err)
	}
	return map[string]any{
		"schema": "discreet/release/v1", "estimate": map[string]any{"value": 1}, "ledger": entry,
		"privacy": map[string]any{
			"unit": c.Unit, "adjacency": c.Adjacency.String(), "event": json.RawMessage(event), "charged": true,
			"epsilon": 1, "delta": 1e-6,
		},
	}
}

func encoded(t testing.TB, release map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(release)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func charged(t testing.TB, l *ledger.Ledger, c ledger.Charge) *ledger.Grant {
	t.Helper()
	g, err := l.Charge(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Receipt.Redeem(c.Adjacency, c.Event); err != nil {
		t.Fatal(err)
	}
	return g
}

// lies are changes to a true release; early ones are seen when it is recorded.
var lies = []struct {
	name   string
	object string // the member that is changed
	field  string
	value  any // nil leaves it out
	late   bool
}{
	{"event of less noise", "privacy", "event", dp.Composed{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 1}}}, false},
	{"no event", "privacy", "event", nil, false},
	{"no event, said", "privacy", "event", json.RawMessage("null"), false},
	{"adjacency", "privacy", "adjacency", "add_remove_one", false},
	{"no adjacency", "privacy", "adjacency", nil, false},
	{"unit", "privacy", "unit", "visit", false},
	{"uncharged", "privacy", "charged", false, false},
	{"charged, in other letters", "privacy", "Charged", true, false},
	{"event, in other letters", "privacy", "EVENT", dp.Gaussian{NoiseMultiplier: 1}, false},
	{"key", "ledger", "key", "other", false},
	{"no key", "ledger", "key", nil, false},
	{"analyst", "ledger", "analyst", "bob", false},
	{"purpose", "ledger", "purpose", "cure", false},
	{"no purpose", "ledger", "purpose", nil, false},
	{"time", "ledger", "time", time.Unix(1, 0).UTC(), false},
	{"rule", "ledger", "rule", "basic", false},
	{"no rule", "ledger", "rule", nil, false},
	{"budget", "ledger", "budget", dp.Budget{Epsilon: 0.5, Delta: 1e-6}, true},
	{"no budget", "ledger", "budget", nil, true},
	{"more spent", "ledger", "spent", dp.Budget{Epsilon: 0.999, Delta: 1e-6}, true},
	{"less spent", "ledger", "spent", dp.Budget{Epsilon: 1e-9, Delta: 1e-6}, true},
	{"half of what was spent", "ledger", "spent", map[string]any{"epsilon": 0.1}, true},
	{"no spent", "ledger", "spent", nil, true},
}

// The bytes and the stamp of all these are right: only what they say is not.
func TestReleaseThatStatesAnotherChargeIsRefused(t *testing.T) {
	ctx := context.Background()
	l := create(t, stores[0].make(t), plain(someBudget))
	c := ask(dp.Composed{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 200}, dp.Gaussian{NoiseMultiplier: 300}}})
	for _, lie := range lies {
		t.Run(lie.name, func(t *testing.T) {
			c.Key = ledger.NewKey()
			g := charged(t, l, c)
			release := stating(t, l, g)
			object := release[lie.object].(map[string]any)
			if object[lie.field] = lie.value; lie.value == nil {
				delete(object, lie.field)
			}
			bad := encoded(t, release)
			if !lie.late {
				if err := l.Record(ctx, g.Receipt, bad); !errors.Is(err, ledger.ErrRelease) {
					t.Errorf("record: %v; want ErrRelease", err)
				}
			}
			if err := ledger.RecordUnchecked(ctx, l, g.Receipt, bad); err != nil {
				t.Fatal(err)
			}
			if err := l.VerifyRelease(ctx, bad); !errors.Is(err, ledger.ErrRelease) {
				t.Errorf("verify: %v; want ErrRelease", err)
			}
		})
	}
	verified(t, l)
}

func TestReleaseThatSaysAThingTwiceIsRefused(t *testing.T) {
	ctx := context.Background()
	l := create(t, stores[0].make(t), plain(someBudget))
	for name, old := range map[string]string{
		"privacy": `"privacy":{`, "event": `"event":{`, "key": `"key":"`, "ledger": `"ledger":{`, "spent": `"spent":{"epsilon":`,
	} {
		g := charged(t, l, ask(dp.Gaussian{NoiseMultiplier: 200}))
		good := encoded(t, stating(t, l, g))
		first := map[string]string{
			"privacy": `"privacy":{},`, "event": `"event":{},`, "key": `"key":"x",`, "ledger": `"Ledger":{},`, "spent": `"spent":{"epsilon":0,"epsilon":`,
		}[name]
		bad := replace(t, good, old, first+old)
		if name == "spent" {
			bad = replace(t, good, old, first)
		}
		if err := ledger.RecordUnchecked(ctx, l, g.Receipt, bad); err != nil {
			t.Fatal(err)
		}
		if err := l.VerifyRelease(ctx, bad); !errors.Is(err, ledger.ErrRelease) {
			t.Errorf("%s: %v; want ErrRelease", name, err)
		}
	}
}

// The head of the chain when the charge was committed is the charge or, in a
// batch, after it: an older one would hide that the ledger was cut.
func TestReleaseWithAnOlderHeadIsRefused(t *testing.T) {
	ctx := context.Background()
	l := create(t, stores[0].make(t), plain(someBudget))
	s, err := l.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	g := charged(t, l, ask(dp.Gaussian{NoiseMultiplier: 200}))
	release := stating(t, l, g)
	release["ledger"].(map[string]any)["head"] = s.Head
	bad := encoded(t, release)
	if err := l.Record(ctx, g.Receipt, bad); !errors.Is(err, ledger.ErrRelease) {
		t.Errorf("record: %v; want ErrRelease", err)
	}
	if err := ledger.RecordUnchecked(ctx, l, g.Receipt, bad); err != nil {
		t.Fatal(err)
	}
	if err := l.VerifyRelease(ctx, bad); !errors.Is(err, ledger.ErrRelease) {
		t.Errorf("verify: %v; want ErrRelease", err)
	}
}

// Charges and a new budget may come between a charge and its record: the release
// may state the state of any time in between, and of no other.
func TestReleaseMayStateWhatWasSpentUntilItsRecord(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		e := dp.Gaussian{NoiseMultiplier: 100}
		before := charged(t, l, ask(e))
		release := func(g, as *ledger.Grant, budget dp.Budget) error {
			r := stating(t, l, g)
			r["ledger"].(map[string]any)["spent"], r["ledger"].(map[string]any)["budget"] = as.Spent, budget
			text := encoded(t, r)
			if err := l.Record(ctx, g.Receipt, text); err != nil {
				t.Fatal(err)
			}
			charged(t, l, ask(e))
			return l.VerifyRelease(ctx, text)
		}
		early, a, b, c, d := charged(t, l, ask(e)), charged(t, l, ask(e)), charged(t, l, ask(e)), charged(t, l, ask(e)), charged(t, l, ask(e))
		if err := l.SetBudget(ctx, dp.Budget{Epsilon: 2, Delta: 1e-6}, "test"); err != nil {
			t.Fatal(err)
		}
		after := charged(t, l, ask(e))
		for _, x := range []struct {
			name   string
			g, as  *ledger.Grant
			budget dp.Budget
			want   error
		}{
			{"right after the charge", a, a, someBudget, nil},
			{"after a later charge", b, c, someBudget, nil},
			{"after a new budget", c, after, dp.Budget{Epsilon: 2, Delta: 1e-6}, nil},
			{"before the charge", d, before, someBudget, ledger.ErrRelease},
			{"new budget, old sum", early, early, dp.Budget{Epsilon: 2, Delta: 1e-6}, ledger.ErrRelease},
		} {
			if err := release(x.g, x.as, x.budget); !errors.Is(err, x.want) {
				t.Errorf("%s: %v; want %v", x.name, err, x.want)
			}
		}
		// What is spent only after the record is not what the release can know.
		g := charged(t, l, ask(e))
		r := stating(t, l, g)
		r["ledger"].(map[string]any)["spent"] = spentAfter(t, l, e)
		text := encoded(t, r)
		if err := l.Record(ctx, g.Receipt, text); err != nil {
			t.Fatal(err)
		}
		charged(t, l, ask(e))
		if err := l.VerifyRelease(ctx, text); !errors.Is(err, ledger.ErrRelease) {
			t.Errorf("spent after the record: %v; want ErrRelease", err)
		}
	})
}

// spentAfter is what will be spent after one more charge, learnt on a copy.
func spentAfter(t testing.TB, l *ledger.Ledger, e dp.Event) dp.Budget {
	t.Helper()
	copied, err := ledger.Restore(context.Background(), strings.NewReader(string(backup(t, l))), stores[0].make(t), ledger.RestoreOptions{LostNothing: true, Reason: "copy"})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	return charged(t, copied, ask(e)).Spent
}

// Bytes that are no release of package evaluate are recorded as they are, and
// another form is held only to what it states.
func TestOtherFormsOfReleases(t *testing.T) {
	ctx := context.Background()
	l := create(t, stores[0].make(t), plain(someBudget))
	for name, body := range map[string]string{
		"binary": "\x01\x00{", "text": "42.1", "list": `[{"ledger":1}]`, "object": `{"ledger":null,"privacy":"none"}`,
		"true statement": `{"privacy":{"event":{"kind":"gaussian","noise_multiplier":2e2}}}`,
	} {
		g := charged(t, l, ask(dp.Gaussian{NoiseMultiplier: 200}))
		if err := l.Record(ctx, g.Receipt, []byte(body)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	g, other := charged(t, l, ask(dp.Gaussian{NoiseMultiplier: 200})), charged(t, l, ask(dp.Gaussian{NoiseMultiplier: 200}))
	for name, body := range map[string][]byte{
		"other event":   []byte(`{"privacy":{"event":{"kind":"gaussian","noise_multiplier":201}}}`),
		"other charge":  encoded(t, map[string]any{"ledger": other.Receipt.Stamp()}),
		"only a schema": []byte(`{"schema":"discreet/release/v2"}`),
	} {
		if err := l.Record(ctx, g.Receipt, body); !errors.Is(err, ledger.ErrRelease) {
			t.Errorf("%s: %v; want ErrRelease", name, err)
		}
	}
	if s, err := l.State(ctx); err != nil || s.PendingCount != 2 {
		t.Errorf("%d pending, %v; want both whose release was refused or never made", s.PendingCount, err)
	}
}
