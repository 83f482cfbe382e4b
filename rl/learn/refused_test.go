// What learning takes for granted: the seed alone decides, a policy reads back from its file, and settings that cannot be are refused.

package learn_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/sim/mountaincar"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

func TestLearningDependsOnTheSeedAlone(t *testing.T) {
	run := func(seed uint64) []float64 {
		o := carOptions(seed)
		o.Episodes = 5
		q, _, err := learn.Sarsa(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		return q.Weights[0]
	}
	a, b, c := run(1), run(1), run(2)
	for i := range a {
		if a[i] != b[i] {
			t.Fatal("one seed, two results")
		}
	}
	if a[0] == c[0] {
		t.Error("two seeds, one result")
	}
}

func TestPolicyFilesReadBack(t *testing.T) {
	o := carOptions(1)
	o.Episodes = 20
	q, _, err := learn.Sarsa(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := q.Write(&file); err != nil {
		t.Fatal(err)
	}
	d := &trajectory.Dataset{Columns: mountaincar.Columns(), Obs: []float64{-0.3, 0.04}, Action: []int32{0}, Reward: []float64{0}}
	distribution := func(p policy.Policy, err error) []float64 {
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.Bind(d)
		if err != nil {
			t.Fatal(err)
		}
		probs := make([]float64, 3)
		if !b.Distribution(probs, 0) {
			t.Fatal("no distribution")
		}
		return probs
	}
	same := func(name string, a, b []float64) {
		for i := range a {
			if a[i] != b[i] {
				t.Errorf("%s: %v, read back %v", name, a, b)
				return
			}
		}
	}
	soft, err := q.Softmax(1)
	readSoft, readErr := policy.ReadSoftmax(bytes.NewReader(file.Bytes()), "q.json")
	same("softmax", distribution(soft, err), distribution(readSoft, readErr))
	greedy, err := q.Greedy(0)
	readGreedy, readErr := policy.ReadSoftGreedy(bytes.NewReader(file.Bytes()), "q.json")
	same("greedy", distribution(greedy, err), distribution(readGreedy, readErr))
}

func TestImpossibleSettingsAreRefused(t *testing.T) {
	for name, change := range map[string]func(*learn.Options){
		"no problem":         func(o *learn.Options) { o.Env = nil },
		"no step size":       func(o *learn.Options) { o.Alpha = 0 },
		"gamma":              func(o *learn.Options) { o.Gamma = 1.1 },
		"lambda":             func(o *learn.Options) { o.Lambda = -1 },
		"epsilon":            func(o *learn.Options) { o.Epsilon = math.NaN() },
		"temperature":        func(o *learn.Options) { o.Temperature = -1 },
		"two ways":           func(o *learn.Options) { o.Temperature, o.Epsilon = 1, 0.1 },
		"no episode":         func(o *learn.Options) { o.Episodes = 0 },
		"no limit":           func(o *learn.Options) { o.Env, o.MaxSteps = endless{}, 0 },
		"negative limit":     func(o *learn.Options) { o.MaxSteps = -1 },
		"no features":        func(o *learn.Options) { o.Features = feature.Spec{} },
		"features elsewhere": func(o *learn.Options) { o.Features = (&grid{side: 3}).features() },
	} {
		o := carOptions(1)
		change(&o)
		_, _, err := learn.Sarsa(context.Background(), o)
		if !errors.Is(err, learn.ErrOptions) && !errors.Is(err, feature.ErrMap) && !errors.Is(err, feature.ErrColumn) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := carOptions(1)
	o.Alpha = 1e200
	if _, _, err := learn.Sarsa(context.Background(), o); !errors.Is(err, learn.ErrDiverged) {
		t.Errorf("alpha 1e200: %v; want ErrDiverged", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := learn.QLearning(ctx, carOptions(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want Canceled", err)
	}
}
