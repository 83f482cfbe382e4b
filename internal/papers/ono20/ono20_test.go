package ono20

import (
	"context"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
)

// A quick run may use results of a full one and the other way round, so each key must
// stand for one trial.
func TestKeysAreUniqueAndQuickOnesAreAmongThem(t *testing.T) {
	for _, item := range Study().Items {
		full := map[string]bool{}
		for _, j := range item.Jobs(false) {
			if full[j.Key] {
				t.Errorf("%s: key %q twice", item.Name, j.Key)
			}
			full[j.Key] = true
		}
		quick := item.Jobs(true)
		if len(quick) >= len(full) {
			t.Errorf("%s: %d quick trials of %d", item.Name, len(quick), len(full))
		}
		for _, j := range quick {
			if !full[j.Key] {
				t.Errorf("%s: quick trial %q is not one of the full run", item.Name, j.Key)
			}
		}
	}
}

// The paper's tables are whole, and every cell becomes a claim in each reading.
func TestEveryCellOfTheTablesIsAClaim(t *testing.T) {
	claims := map[string]figure.Claim{}
	for _, c := range claimEfficiency(&figure.Table{}) {
		if _, ok := claims[c.ID]; ok {
			t.Errorf("claim %s twice", c.ID)
		}
		claims[c.ID] = c
	}
	// Table 2, epsilon 10, PRS prints 0.90; Table 1, epsilon 2, Laplace 20238.5; Table 3, epsilon 5, PRS .835.
	for id, want := range map[string]float64{"table2-prs-nearest-10": .9, "table1-laplace-literal-2": 20238.5, "table3-prs-control-5": .835} {
		if c := claims[id]; c.PaperValue == nil || *c.PaperValue != want {
			t.Errorf("%s: %+v; want the paper's %v", id, c, want)
		}
	}
	if n := 3*2*3*4 + 2; len(claims) != n {
		t.Errorf("%d claims; want %d", len(claims), n)
	}
}

func TestReadingsDifferWhereTheySay(t *testing.T) {
	for _, m := range []mechanism{train.Laplace, train.PRS} {
		l, n, z := pgc(m, 1, 1, literal), pgc(m, 1, 1, nearest), pgc(m, 1, 1, control)
		if l.Workers != 9 || l.Local.Reward != learn.OwnReward || !l.Local.ActorCritic.PlainBootstrap || l.Local.ActorCritic.Detach || l.Init.Normal != 0 {
			t.Errorf("%s: the literal reading is %+v", m, l)
		}
		if n.Local.Reward != learn.FailureReward || n.Local.ZeroGradient {
			t.Errorf("%s: the nearest reading is %+v", m, n)
		}
		if !z.Local.ZeroGradient || z.Init != n.Init || z.Terms != n.Terms {
			t.Errorf("%s: the control differs from the nearest reading in more than its gradients", m)
		}
		net, err := learn.NewMLP(n.Local.Network)
		if err != nil || net.Dim() != 112 { // the paper's d
			t.Errorf("%d weights, %v; want 112", net.Dim(), err)
		}
	}
}

func TestQuartilesCountTrialsThatNeverSucceed(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		of      []float64
		p, want float64
	}{
		{[]float64{5, 1, 3}, .5, 3}, {[]float64{1, 2, 3, 4}, .5, 2.5}, {[]float64{4, inf, 2, inf}, .25, 3.5},
		{[]float64{1, 2, inf, inf}, .5, inf}, {[]float64{1, 2, 3, inf}, .5, 2.5}, {[]float64{7}, .75, 7}, {[]float64{inf, inf}, .5, inf},
	} {
		if got := quantile(c.of, c.p); got != c.want {
			t.Errorf("quantile %v of %v is %v; want %v", c.p, c.of, got, c.want)
		}
	}
	if !math.IsNaN(quantile(nil, .5)) {
		t.Error("a median of nothing")
	}
}

// forged is the estimate that a server makes of a forged report.
func forged(t *testing.T, m mechanism, epsilon float64, a attack, v []float64) []float64 {
	t.Helper()
	task := &train.Task{Randomizer: train.Randomizer{Mechanism: m, Epsilon: epsilon, Clip: clip(m)}, Seed: local.Seed{3}}
	var r local.Vector
	var err error
	switch m {
	case train.PrivUnit:
		r, err = local.NewPrivUnitG(len(v), epsilon)
	case train.SignPRS:
		r, err = local.NewSignPRS(len(v), epsilon, task.Seed)
	default:
		r, err = local.NewLaplace(len(v), clip(m), epsilon)
	}
	if err != nil {
		t.Fatal(err)
	}
	body := r.Randomize(nil, v, noise.NewSeeded(1))
	forge(v, task, a, body)
	out := make([]float64, len(v))
	if err := r.Estimate(out, body); err != nil {
		t.Fatalf("%s, %s: the forged report is refused: %v", m, a, err)
	}
	return out
}

func cosine(x, y []float64) (cos, size float64) {
	var xy, xx, yy float64
	for i := range x {
		xy, xx, yy = xy+x[i]*y[i], xx+x[i]*x[i], yy+y[i]*y[i]
	}
	return xy / math.Sqrt(xx*yy), math.Sqrt(yy)
}

// A dishonest report is valid, points the other way, and the louder attack is louder.
func TestForgedReportsAreValidAndOpposite(t *testing.T) {
	v := []float64{.5, -2, .01, 0, 1, 1, -.3, .7}
	for _, c := range []struct {
		m       mechanism
		epsilon float64
		most    float64 // cosine
		louder  float64 // than an inverted one
	}{
		{train.PrivUnit, 1, -.99, 4}, {train.Laplace, 10, -.999, 100}, {train.SignPRS, 1, 0, 1}, {train.SignPRS, 10, 0, 1},
	} {
		cos, size := cosine(v, forged(t, c.m, c.epsilon, inverted, v))
		loudCos, loud := cosine(v, forged(t, c.m, c.epsilon, loudest, v))
		if !(cos < c.most) || !(loudCos < 0) || !(loud >= c.louder*size) {
			t.Errorf("%s, epsilon %v: cosines %v and %v, sizes %v and %v", c.m, c.epsilon, cos, loudCos, size, loud)
		}
	}
	// An inverted PrivUnit report is as long as an honest one, sqrt(8) standard deviations over the signal.
	r, err := local.NewPrivUnitG(len(v), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, size := cosine(v, forged(t, train.PrivUnit, 1, inverted, v)); math.Abs(size*r.Signal()/math.Sqrt(8)-1) > .02 {
		t.Errorf("an inverted report has size %v; want %v", size, math.Sqrt(8)/r.Signal())
	}
}

// The recipe learns what its control does not. Three trials each; sign-PRS at epsilon 5 succeeded in all of
// twenty, and a random walk retains half of what it does at most.
func TestRecipeLearnsAndTheControlDoesNot(t *testing.T) {
	c := ours(train.SignPRS, 5, 1, 3000)
	for trial := range 3 {
		c.Local.ZeroGradient = false
		o, err := play(context.Background(), c, uint64(trial+1))
		if err != nil || o.fst == 0 || o.retention < 150 {
			t.Errorf("trial %d: first success %d, retention %v, %v", trial+1, o.fst, o.retention, err)
		}
		c.Local.ZeroGradient = true
		if o, err = play(context.Background(), c, uint64(trial+1)); err != nil || o.retention > 150 {
			t.Errorf("trial %d, zero gradients: retention %v, %v", trial+1, o.retention, err)
		}
	}
}

// Poisoning with nobody dishonest is the run without an attack, to the bit.
func TestNobodyDishonestChangesNothing(t *testing.T) {
	c := ours(train.PrivUnit, 2, 1, 300)
	a, err := play(context.Background(), c, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := play(context.Background(), poisoned(c, 0, loudest), 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := play(context.Background(), poisoned(c, 50, loudest), 1)
	if err != nil {
		t.Fatal(err)
	}
	same := func(x, y []float64) bool {
		for i := range x {
			if x[i] != y[i] {
				return false
			}
		}
		return true
	}
	if !same(a.scores, b.scores) || same(a.scores, d.scores) {
		t.Error("scores without attack, with nobody and with half of all dishonest: want the first two alone equal")
	}
}

// A trial ends with the tenth submission of its first success, but not before the least
// number, and is the beginning of the longer trial.
func TestTrialsGoOnToTheFirstSuccess(t *testing.T) {
	c := ours(train.PrivUnit, 10, 1, 1500)
	long, err := play(context.Background(), c, 1)
	if err != nil || long.fst == 0 {
		t.Fatal(long.fst, err)
	}
	for _, least := range []uint64{1, 1000} {
		o, err := playOn(context.Background(), c, 1, least)
		if want := max(int(least), long.fst+window-1); err != nil || len(o.scores) != want || o.fst != long.fst {
			t.Errorf("least %d: %d submissions, first success %d, %v; want %d, %d", least, len(o.scores), o.fst, err, want, long.fst)
		}
		for i, s := range o.scores {
			if s != long.scores[i] {
				t.Fatalf("least %d: score %d differs", least, i)
			}
		}
	}
}
