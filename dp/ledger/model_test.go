package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// model is the reference: what a ledger should answer, kept in maps, with the
// events themselves and no sums. What fits is asked of fresh filters, to which all
// charges so far are charged again.
type model struct {
	charged  []modelCharge
	releases map[string]string // by key
	share    *dp.Budget        // of ann
	open     bool              // the list of analysts
	lost     []dp.Event
	spentAll bool // everything left was declared lost
	restores int
}

type modelCharge struct {
	key, analyst string
	event        dp.Event
}

func (m *model) clone() *model {
	c := *m
	c.charged, c.lost = slices.Clone(m.charged), slices.Clone(m.lost)
	c.releases = map[string]string{}
	for k, v := range m.releases {
		c.releases[k] = v
	}
	return &c
}

var (
	modelBudget  = dp.Budget{Epsilon: 1, Delta: 1e-6}
	modelReserve = dp.Budget{Epsilon: 0.25, Delta: 5e-7}
)

func (m *model) find(key string) *modelCharge {
	for i := range m.charged {
		if m.charged[i].key == key {
			return &m.charged[i]
		}
	}
	return nil
}

// fits asks filters of the budget, and of the share, that were charged everything
// before.
func (m *model) fits(t *rapid.T, analyst string, event dp.Event) (budget, share bool) {
	filter := func(b, reserve dp.Budget) *account.Filter {
		f, err := account.NewFilter(dp.ReplaceOne, b, account.GaussianDP, account.FilterOptions{Reserve: reserve})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	all := filter(modelBudget, modelReserve)
	var own *account.Filter
	if m.share != nil && analyst == "ann" {
		own = filter(*m.share, dp.Budget{Epsilon: m.share.Epsilon / 4, Delta: m.share.Delta / 2})
	}
	for _, e := range m.lost {
		if err := all.Charge(t.Context(), e); err != nil {
			t.Fatalf("the model lost more than there was: %v", err)
		}
	}
	for _, c := range m.charged {
		if err := all.Charge(t.Context(), c.event); err != nil {
			t.Fatalf("the ledger granted what a filter refuses: %v", err)
		}
		if own != nil && c.analyst == "ann" {
			if err := own.Charge(t.Context(), c.event); err != nil {
				t.Fatalf("the ledger granted what a filter of the share refuses: %v", err)
			}
		}
	}
	return !m.spentAll && all.Fits(t.Context(), event) == nil, own == nil || own.Fits(t.Context(), event) == nil
}

// machine runs a ledger and its model side by side.
type machine struct {
	dir     string
	n       int
	where   string
	l       *ledger.Ledger
	m       *model
	grants  map[string]*ledger.Grant // of the present process
	backup  []byte
	backed  *model
	keys    []string
	answers int
}

func (x *machine) fresh() string {
	x.n++
	return filepath.Join(x.dir, fmt.Sprintf("%d.db", x.n))
}

var modelEvents = []dp.Event{
	dp.Gaussian{NoiseMultiplier: 20}, dp.Gaussian{NoiseMultiplier: 11}, dp.SelfComposed{Count: 4, Event: dp.Gaussian{NoiseMultiplier: 50}},
	dp.Laplace{NoiseMultiplier: 40}, dp.ApproximateDP{Epsilon: 0.03, Delta: 1e-7},
	dp.Composed{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 30}, dp.Gaussian{NoiseMultiplier: 33}}},
}

// charge asks for a new key or an old one, as it was or changed.
func (x *machine) charge(t *rapid.T) {
	c := ledger.Charge{Analyst: rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "analyst"), Adjacency: dp.ReplaceOne,
		Event: rapid.SampledFrom(modelEvents).Draw(t, "event")}
	if len(x.keys) > 0 && rapid.IntRange(0, 2).Draw(t, "retry") == 0 {
		c.Key = rapid.SampledFrom(x.keys).Draw(t, "key")
		if old := x.m.find(c.Key); old != nil && rapid.Bool().Draw(t, "same") {
			c.Event, c.Analyst = old.event, old.analyst
		}
	} else {
		c.Key = fmt.Sprintf("k%d", len(x.keys))
		x.keys = append(x.keys, c.Key)
	}
	g, err := x.l.Charge(context.Background(), c)
	x.answers++
	if old := x.m.find(c.Key); old != nil {
		var r *ledger.RecordedError
		release, recorded := x.m.releases[c.Key]
		switch {
		case old.event.Kind() != c.Event.Kind() || fmt.Sprint(old.event) != fmt.Sprint(c.Event) || old.analyst != c.Analyst:
			if !errors.Is(err, ledger.ErrKeyReused) {
				t.Fatalf("a key for something else: %v", err)
			}
		case recorded:
			if !errors.As(err, &r) || string(r.Release) != release {
				t.Fatalf("a recorded key: %v", err)
			}
		case !errors.Is(err, ledger.ErrPending):
			t.Fatalf("a pending key: %v", err)
		}
		return
	}
	budget, share := x.m.fits(t, c.Analyst, c.Event)
	listed := x.m.open || x.m.share == nil || c.Analyst == "ann"
	switch {
	case !listed:
		if !errors.Is(err, ledger.ErrAnalyst) {
			t.Fatalf("an analyst who is not on the closed list: %v", err)
		}
	case !budget && (!errors.Is(err, ledger.ErrBudget) || errors.Is(err, ledger.ErrShare)):
		t.Fatalf("the budget does not cover %v: %v", c.Event, err)
	case budget && !share && !errors.Is(err, ledger.ErrShare):
		t.Fatalf("the share does not cover %v: %v", c.Event, err)
	case budget && share && err != nil:
		t.Fatalf("%v fits: %v", c.Event, err)
	}
	if err == nil {
		x.m.charged = append(x.m.charged, modelCharge{c.Key, c.Analyst, c.Event})
		x.grants[c.Key] = g
	}
}

// record runs and records one of this process's grants, perhaps again.
func (x *machine) record(t *rapid.T) {
	var open []string
	for _, key := range x.keys {
		if x.grants[key] != nil {
			open = append(open, key)
		}
	}
	if len(open) == 0 {
		t.Skip("nothing granted")
	}
	key := rapid.SampledFrom(open).Draw(t, "record")
	g := x.grants[key]
	g.Receipt.Redeem(dp.ReplaceOne, g.Entry.Charge.Event) // the first time only
	body := rapid.StringN(0, 9, 20).Draw(t, "release")
	err := x.l.Record(context.Background(), g.Receipt, []byte(body))
	old, recorded := x.m.releases[key]
	switch {
	case x.m.find(key) == nil:
		if !errors.Is(err, ledger.ErrBehind) {
			t.Fatalf("recorded a charge that a restore lost: %v", err)
		}
	case recorded && old != body:
		if !errors.Is(err, ledger.ErrRecorded) {
			t.Fatalf("recorded twice: %v", err)
		}
	case err != nil:
		t.Fatal(err)
	default:
		x.m.releases[key] = body
	}
}

// crash ends the process: grants are gone, the ledger is opened again.
func (x *machine) crash(t *rapid.T) {
	x.l.Close()
	x.grants = map[string]*ledger.Grant{}
	l, err := ledger.Open(context.Background(), x.where, "")
	if err != nil {
		t.Fatal(err)
	}
	x.l = l
}

func (x *machine) setShare(t *rapid.T) {
	share := dp.Budget{Epsilon: rapid.SampledFrom([]float64{0.25, 0.5, 1}).Draw(t, "share"), Delta: 5e-7}
	err := x.l.SetShare(context.Background(), "ann", share)
	next := x.m.clone()
	next.share = &share
	if err == nil {
		x.m = next
	} else if !errors.Is(err, ledger.ErrBudget) {
		t.Fatal(err)
	}
}

func (x *machine) takeBackup(t *rapid.T) {
	var b bytes.Buffer
	if err := x.l.Backup(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	x.backup, x.backed = b.Bytes(), x.m.clone()
}

// restore replaces the ledger by its last backup.
func (x *machine) restore(t *rapid.T) {
	if x.backup == nil {
		t.Skip("no backup")
	}
	m := x.backed.clone()
	o := ledger.RestoreOptions{Reason: "r"}
	lost := dp.Gaussian{NoiseMultiplier: 60}
	budget, _ := m.fits(t, "", lost)
	switch how := rapid.IntRange(0, 3).Draw(t, "lost"); {
	case how == 0:
		o.LostEverything, m.spentAll = true, true
	case how == 1 && budget:
		o.Lost, m.lost = lost, append(m.lost, lost)
	default:
		o.LostNothing = true
	}
	x.l.Close()
	x.where = x.fresh()
	l, err := ledger.Restore(context.Background(), bytes.NewReader(x.backup), x.where, o)
	if err != nil {
		t.Fatal(err)
	}
	m.restores++
	x.l, x.m = l, m
}

// check compares the state.
func (x *machine) check(t *rapid.T) {
	s, err := x.l.State(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	pending := 0
	for _, c := range x.m.charged {
		if _, recorded := x.m.releases[c.key]; !recorded {
			pending++
		}
	}
	if int(s.Charges) != len(x.m.charged) || int(s.PendingCount) != pending || (len(s.Warnings) > 0) != (x.m.restores > 0) {
		t.Fatalf("%d charges, %d pending, warnings %q; want %d, %d, %d restores", s.Charges, s.PendingCount, s.Warnings, len(x.m.charged), pending, x.m.restores)
	}
	if s.Spent.Epsilon > modelBudget.Epsilon || s.Spent.Delta > modelBudget.Delta {
		t.Fatalf("spent %v of %v", s.Spent, modelBudget)
	}
	if err := x.l.Verify(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestRandomHistoriesFollowTheModel(t *testing.T) { randomHistories(t, "10") }

// randomHistories checks as many histories as the text says.
func randomHistories(t *testing.T, checks string) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		flag.Set("rapid.checks", checks)
		defer flag.Set("rapid.checks", f.DefValue)
	}
	dir := directory(t, true)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		x := &machine{dir: dir, n: n * 1000, m: &model{releases: map[string]string{}}, grants: map[string]*ledger.Grant{}}
		x.where = x.fresh()
		c := plain(modelBudget)
		c.Filter.Reserve = modelReserve
		c.OpenList = rapid.Bool().Draw(t, "open list")
		x.m.open = c.OpenList
		var err error
		if x.l, err = ledger.Create(context.Background(), x.where, c); err != nil {
			t.Fatal(err)
		}
		defer func() { x.l.Close() }()
		t.Repeat(map[string]func(*rapid.T){
			"charge": x.charge, "charge again": x.charge, "charge more": x.charge, "record": x.record, "crash": x.crash,
			"share": x.setShare, "backup": x.takeBackup, "restore": x.restore, "": x.check,
		})
	})
}
