package operator_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/fleet/operator"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

func ExampleNewPlan() {
	run := operator.Run{Randomizer: train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}, Reports: 4, Dim: 8, Valid: 24 * time.Hour}
	schedule := aggregator.Schedule{Rounds: 60, TrainSeconds: 60, UploadSeconds: 240, SampleRate: .05, MinReports: 10, MaxReports: 20}
	learning := &fleet.Learning{Environment: "cart-pole", Local: device.Local{
		Method: device.PolicyGradient, Network: learn.Network{Inputs: 4, Actions: 2}, Steps: 1, Episodes: 1, PolicyGradient: learn.PolicyGradient{Gamma: .99},
	}}
	p, err := operator.NewPlan(run, schedule, learning, aggregator.Learning{Optimizer: train.Optimizer{Kind: "momentum", Step: .3, Decay: 1000}})
	if err != nil {
		panic(err)
	}
	fmt.Printf("a device spends %v; %v reports of %v devices; success after %.0f\n", p.DeviceEpsilon, p.Reports, p.Devices, p.Success.Median)
	fmt.Printf("one that spends 2.5 in its life pays for %d reports\n", p.Pays(2.5))
	// Output:
	// a device spends 4; 1200 reports of 300 devices; success after 1285
	// one that spends 2.5 in its life pays for 2 reports
}

// TestAPlanSaysWhatWasMeasuredAndNothingElse.
func TestAPlanSaysWhatWasMeasuredAndNothingElse(t *testing.T) {
	s := aggregator.Schedule{Rounds: 10, TrainSeconds: 1, UploadSeconds: 1, SampleRate: 1, MinReports: 2, MaxReports: 50, EvaluateEvery: 5, Threshold: 195}
	linear := device.Local{Method: device.PolicyGradient, Network: learn.Network{Inputs: 4, Actions: 2}, Steps: 1, Episodes: 1, PolicyGradient: learn.PolicyGradient{Gamma: .99}}
	by := aggregator.Learning{Optimizer: train.Optimizer{Kind: "momentum", Step: .3, Decay: 1000, Momentum: .9}}
	hidden := linear
	hidden.Network.Hidden = []int{16}
	deep := linear
	deep.Steps, deep.Episodes, deep.Optimizer = 30, 2, train.Optimizer{Kind: "momentum", Step: .1}
	long, discount, entropy, quick := linear, linear, linear, deep
	long.MaxSteps, discount.PolicyGradient.Gamma, entropy.PolicyGradient.Entropy, quick.Optimizer.Step = 500, .9, .1, .2
	own := linear
	own.MaxSteps = 200
	for _, c := range []struct {
		name      string
		l         *fleet.Learning
		mechanism train.Mechanism
		epsilon   float64
		median    float64 // 0: unmeasured
	}{
		{"the table's row", &fleet.Learning{Environment: "cart-pole", Local: linear}, train.SignPRS, 2, 766},
		{"the first row", &fleet.Learning{Environment: "cart-pole", Local: linear}, train.PrivUnit, .5, 6478},
		{"of the environment's own length", &fleet.Learning{Environment: "cart-pole", Local: own}, train.SignPRS, 2, 766},
		{"a row as randomizers say it", &fleet.Learning{Environment: "cart-pole", Local: linear}, train.SignPRS, .5 * (1 - 1e-14), 4145},
		{"longer episodes", &fleet.Learning{Environment: "cart-pole", Local: long}, train.SignPRS, 2, 0},
		{"another discount", &fleet.Learning{Environment: "cart-pole", Local: discount}, train.SignPRS, 2, 0},
		{"an entropy bonus", &fleet.Learning{Environment: "cart-pole", Local: entropy}, train.SignPRS, 2, 0},
		{"another local step", &fleet.Learning{Environment: "cart-pole", Local: quick}, train.SignPRS, 2, 0},
		{"the last row", &fleet.Learning{Environment: "cart-pole", Local: deep}, train.PrivUnit, 10, 34},
		{"half-way by ratio", &fleet.Learning{Environment: "cart-pole", Local: linear}, train.SignPRS, math.Sqrt2, math.Sqrt(1285 * 766)},
		{"below", &fleet.Learning{Environment: "cart-pole", Local: linear}, train.SignPRS, .4, 0},
		{"above", &fleet.Learning{Environment: "cart-pole", Local: linear}, train.SignPRS, 11, 0},
		{"another mechanism", &fleet.Learning{Environment: "cart-pole", Local: linear}, train.Hybrid, 1, 0},
		{"another network", &fleet.Learning{Environment: "cart-pole", Local: hidden}, train.SignPRS, 1, 0},
		{"another environment", &fleet.Learning{Environment: "mountain-car", Local: linear}, train.SignPRS, 1, 0},
		{"another learner", nil, train.SignPRS, 1, 0},
	} {
		r := operator.Run{Randomizer: train.Randomizer{Mechanism: c.mechanism, Epsilon: c.epsilon}, Reports: 2, Dim: 8, Valid: time.Hour}
		if c.mechanism == train.Hybrid {
			r.Randomizer.Clip = 1
		}
		p, err := operator.NewPlan(r, s, c.l, by)
		if err != nil {
			t.Fatal(err)
		}
		got := 0.0
		if p.Success != nil {
			got = p.Success.Median
		}
		if math.Abs(got-c.median) > 1e-9*c.median || (p.Unmeasured == "") != (c.median > 0) {
			t.Errorf("%s: median %v, %q; want %v", c.name, got, p.Unmeasured, c.median)
		}
		if p.Success != nil && (p.Success.Between != nil) != (c.name == "half-way by ratio") {
			t.Errorf("%s: between %v", c.name, p.Success.Between)
		}
		if p.DeviceEpsilon != 2*c.epsilon || p.Reports != 500 || p.Devices != 250 || p.Seconds != 20 {
			t.Errorf("%s: %+v", c.name, p)
		}
		if want := 1 / (2 * math.Tanh(c.epsilon/2) * math.Sqrt(50)); math.Abs(p.StdError-want) > 1e-12 {
			t.Errorf("%s: standard error %v; want %v", c.name, p.StdError, want)
		}
	}
	r := operator.Run{Randomizer: train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}, Reports: 2, Dim: 8, Valid: time.Hour}
	for name, change := range map[string]func(*aggregator.Learning, *aggregator.Schedule){
		"another step":     func(l *aggregator.Learning, _ *aggregator.Schedule) { l.Optimizer.Step = .2 },
		"another server":   func(l *aggregator.Learning, _ *aggregator.Schedule) { l.Optimizer.Kind = "adam" },
		"another momentum": func(l *aggregator.Learning, _ *aggregator.Schedule) { l.Optimizer.Momentum = .5 },
		"bounded reports":  func(l *aggregator.Learning, _ *aggregator.Schedule) { l.Influence.Norm = 1 },
		"small rounds":     func(_ *aggregator.Learning, s *aggregator.Schedule) { s.MaxReports = 19 },
		"large rounds":     func(_ *aggregator.Learning, s *aggregator.Schedule) { s.MinReports = 21 },
	} {
		by, s := by, s
		change(&by, &s)
		if p, err := operator.NewPlan(r, s, &fleet.Learning{Environment: "cart-pole", Local: linear}, by); err != nil || p.Success != nil || p.Unmeasured == "" {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	r.Reports = 0
	if _, err := operator.NewPlan(r, s, nil, by); err == nil {
		t.Error("a device that never reports is planned")
	}
}

// TestARunSuitsItsSchedule, or is refused before anybody signs it.
func TestARunSuitsItsSchedule(t *testing.T) {
	r := operator.Run{Purpose: "test", Randomizer: train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}, Reports: 8, Dim: 8, Valid: time.Hour}
	for _, c := range []struct {
		rounds      uint64
		rate, train float64
		good        bool
	}{
		{40, .2, 1, true}, {8, 1, 1, true}, {9, 1, 1, false}, {40, .21, 1, false}, {80, .1, 1, true}, {8, 1, 449, true}, {8, 1, 450, false}, {1 << 62, 1e-18, 1e6, false}, {0, 0, 0, true},
	} {
		s := aggregator.Schedule{Rounds: c.rounds, TrainSeconds: c.train, UploadSeconds: 1, SampleRate: c.rate, MinReports: 1, MaxReports: 9}
		if err := r.Suits(s); (err == nil) != c.good || err != nil && !errors.Is(err, operator.ErrConfig) {
			t.Errorf("%+v: %v", s, err)
		}
		if c.rounds == 0 || c.rounds > 100 {
			continue
		}
		if p, err := operator.NewPlan(r, s, nil, aggregator.Learning{}); err != nil || (p.Refused == "") != c.good || p.Asked != float64(c.rounds)*c.rate {
			t.Errorf("the plan of %+v: %+v, %v", s, p, err)
		}
	}
	for name, change := range map[string]func(*operator.Run){
		"a day's tenth": func(r *operator.Run) { r.Valid = 59 * time.Minute }, "a century": func(r *operator.Run) { r.Valid = 100 * 365 * 24 * time.Hour },
		"a word": func(r *operator.Run) { r.MinClient = "new" }, "before permits": func(r *operator.Run) { r.MinClient = "1.0.9" }, "two numbers": func(r *operator.Run) { r.MinClient = "1.2" }, "a sign": func(r *operator.Run) { r.MinClient = "1.-2.3" },
		"four": func(r *operator.Run) { r.MinClient = "1.2.3.4" }, "no reports": func(r *operator.Run) { r.Reports = 0 },
	} {
		r := r
		change(&r)
		if err := r.Validate(); !errors.Is(err, operator.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.MinClient = "1.1.0"
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
}

// TestARunOfAnOperatorIsOneForDevices: specs are what devices verify, sizes hold the
// bodies, and a revision adds the new keys.
func TestARunOfAnOperatorIsOneForDevices(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	now := time.Now()
	if err := aggregator.CreateKeys(dir, []string{"127.0.0.1"}, now); err != nil {
		t.Fatal(err)
	}
	if err := aggregator.CreateKeys(dir, []string{"127.0.0.1"}, now); err == nil {
		t.Error("keys were written over")
	}
	keys, err := aggregator.OpenKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	root, err := signature.LoadPrivate(filepath.Join(dir, "root.key"))
	if err != nil {
		t.Fatal(err)
	}
	for dim, want := range map[int]int{8: 64, 62: 64, 63: 128, 112: 128} { // PrivUnit: a byte a number, and two more
		r := operator.Run{Purpose: "test", Randomizer: train.Randomizer{Mechanism: train.PrivUnit, Epsilon: 1}, Reports: 1, Dim: dim, Valid: time.Hour}
		spec, err := r.Spec(keys, now)
		if err != nil {
			t.Fatal(err)
		}
		if int(spec.GetReportBytes()) != want {
			t.Errorf("%d weights: reports of %d bytes; want %d", dim, spec.GetReportBytes(), want)
		}
		first, err := fleet.SignRun(root, spec)
		if err != nil {
			t.Fatal(err)
		}
		run, err := fleet.VerifyRun(root.Public().(ed25519.PublicKey), []*fleetv1.SignedSpec{first})
		if err != nil || len(run.Keys) < 2 {
			t.Fatal(run, err)
		}
		if _, err := keys.CreateNext(); err != nil {
			t.Fatal(err)
		}
		next, err := operator.Revise([]*fleetv1.SignedSpec{first}, keys, now.Add(time.Minute), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		second, err := fleet.SignRun(root, next)
		if err != nil {
			t.Fatal(err)
		}
		revised, err := fleet.VerifyRun(root.Public().(ed25519.PublicKey), []*fleetv1.SignedSpec{first, second})
		if err != nil || len(revised.Keys) != len(run.Keys)+2 || revised.Revision != 1 {
			t.Errorf("revised to %+v, %v", revised, err)
		}
		if spec, err := operator.Revise([]*fleetv1.SignedSpec{first, second}, keys, now, time.Hour); !errors.Is(err, operator.ErrNoKeys) {
			t.Errorf("a revision without a new key: %v, %v", spec, err)
		}
		// Whoever has the public halves alone makes the same specs.
		public := t.TempDir()
		for _, path := range all(t, dir, "*-*.pub") {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(public, filepath.Base(path)), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		halves, err := aggregator.OpenPublicKeys(public)
		if err != nil {
			t.Fatal(err)
		}
		again, err := r.Spec(halves, now)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := r.Spec(keys, now)
		if err != nil {
			t.Fatal(err)
		}
		again.Run = whole.GetRun()
		if !proto.Equal(again, whole) {
			t.Errorf("of the public halves %v, of the keys %v", again, whole)
		}
		if err := r.Describes(again); err != nil {
			t.Error(err)
		}
		for name, change := range map[string]func(*fleetv1.RunSpec){
			"purpose": func(s *fleetv1.RunSpec) { s.Purpose = "x" }, "reports": func(s *fleetv1.RunSpec) { s.ReportsPerDevice++ }, "epsilon": func(s *fleetv1.RunSpec) { s.EpsilonReport *= 2 },
			"learning": func(s *fleetv1.RunSpec) { s.LocalJson = []byte("{}") }, "revision": func(s *fleetv1.RunSpec) { s.Revision = 1 },
		} {
			other := proto.CloneOf(again)
			change(other)
			if err := r.Describes(other); !errors.Is(err, operator.ErrConfig) {
				t.Errorf("another %s: %v", name, err)
			}
		}
	}
}

func all(t *testing.T, dir, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	return paths
}
