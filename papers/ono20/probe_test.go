package ono20

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
)

func show(t *testing.T, name string, n int, c train.Config) {
	var f, r []float64
	ok := 0
	t0 := time.Now()
	for k := range n {
		o, err := play(context.Background(), c, uint64(k+101))
		if err != nil {
			t.Fatal(err)
		}
		x := float64(o.fst)
		if o.fst == 0 {
			x = 1e9
		} else {
			ok++
		}
		f, r = append(f, x), append(r, o.retention)
	}
	sort.Float64s(f)
	sort.Float64s(r)
	fmt.Printf("%-50s ok %d/%d fst %.0f %.0f %.0f ret %.0f %.0f %v\n", name, ok, n, f[n/4], (f[n/2]+f[(n-1)/2])/2, f[3*n/4], r[0], r[n/2], time.Since(t0).Round(time.Millisecond))
}

func TestProbe(t *testing.T) {
	type v struct {
		name string
		f    func(c *train.Config)
	}
	var e float64
	fmt.Sscan(os.Getenv("E"), &e)
	base := func(c *train.Config) { c.Terms.Optimizer.Step = .4 }
	for _, x := range []v{
		{"std ent .05", func(c *train.Config) { c.Local.PolicyGradient.Standardise = true; c.Local.PolicyGradient.Entropy = .05 }},
		{"std ent .2", func(c *train.Config) { c.Local.PolicyGradient.Standardise = true; c.Local.PolicyGradient.Entropy = .2 }},
		{"failure ent .01", func(c *train.Config) { c.Local.Reward = learn.FailureReward; c.Local.PolicyGradient.Entropy = .01 }},
		{"failure ent .05", func(c *train.Config) { c.Local.Reward = learn.FailureReward; c.Local.PolicyGradient.Entropy = .05 }},
		{"failure .95 ent .02", func(c *train.Config) {
			c.Local.Reward = learn.FailureReward
			c.Local.PolicyGradient.Entropy = .02
			c.Local.PolicyGradient.Gamma = .95
		}},
		{"failure ent .02 b 30", func(c *train.Config) {
			c.Local.Reward = learn.FailureReward
			c.Local.PolicyGradient.Entropy = .02
			c.Terms.Buffer = 30
		}},
		{"failure b 30", func(c *train.Config) { c.Local.Reward = learn.FailureReward; c.Terms.Buffer = 30 }},
		{"failure b 50", func(c *train.Config) { c.Local.Reward = learn.FailureReward; c.Terms.Buffer = 50 }},
		{"std ent .1 b 30", func(c *train.Config) {
			c.Local.PolicyGradient.Standardise = true
			c.Local.PolicyGradient.Entropy = .1
			c.Terms.Buffer = 30
		}},
		{"std ent .1 b 50 g.95", func(c *train.Config) {
			c.Local.PolicyGradient.Standardise = true
			c.Local.PolicyGradient.Entropy = .1
			c.Terms.Buffer = 50
			c.Local.PolicyGradient.Gamma = .95
		}},
		{"std ent .1 b 30 step .8", func(c *train.Config) {
			c.Local.PolicyGradient.Standardise = true
			c.Local.PolicyGradient.Entropy = .1
			c.Terms.Buffer = 30
			c.Terms.Optimizer.Step = .8
		}},
	} {
		c := ours(train.PrivUnit, e, 1, 12000)
		base(&c)
		x.f(&c)
		show(t, fmt.Sprint("A ", e, " ", x.name), 4, c)
	}
	_ = strings.Contains
}
