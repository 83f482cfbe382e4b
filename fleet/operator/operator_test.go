package operator_test

import (
	"crypto/ed25519"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/fleet"
	"github.com/discreet-rl/discreet/fleet/aggregator"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/fleet/operator"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

func ExampleNewPlan() {
	run := operator.Run{Randomizer: train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}, Reports: 4, Dim: 8}
	schedule := aggregator.Schedule{Rounds: 60, TrainSeconds: 60, UploadSeconds: 240, SampleRate: 1, MinReports: 10, MaxReports: 20}
	p, err := operator.NewPlan(run, schedule, &fleet.Learning{Environment: "cart-pole", Local: device.Local{Method: device.PolicyGradient, Steps: 1, Episodes: 1}})
	if err != nil {
		panic(err)
	}
	fmt.Printf("a device spends %v; %v reports of %v devices; success after %.0f\n", p.DeviceEpsilon, p.Reports, p.Devices, p.Success.Median)
	// Output: a device spends 4; 1200 reports of 300 devices; success after 1285
}

// TestAPlanSaysWhatWasMeasuredAndNothingElse.
func TestAPlanSaysWhatWasMeasuredAndNothingElse(t *testing.T) {
	s := aggregator.Schedule{Rounds: 10, TrainSeconds: 1, UploadSeconds: 1, SampleRate: 1, MinReports: 5, MaxReports: 50, EvaluateEvery: 5, Threshold: 195}
	linear := device.Local{Method: device.PolicyGradient, Steps: 1, Episodes: 1}
	hidden := linear
	hidden.Network.Hidden = []int{16}
	deep := linear
	deep.Steps, deep.Episodes = 30, 2
	for _, c := range []struct {
		name      string
		l         *fleet.Learning
		mechanism train.Mechanism
		epsilon   float64
		median    float64 // 0: unmeasured
	}{
		{"the table's row", &fleet.Learning{Environment: "cart-pole", Local: linear}, train.SignPRS, 2, 766},
		{"the first row", &fleet.Learning{Environment: "cart-pole", Local: linear}, train.PrivUnit, .5, 6478},
		{"the last row", &fleet.Learning{Environment: "cart-pole", Local: deep}, train.PrivUnit, 10, 34},
		{"half-way by ratio", &fleet.Learning{Environment: "cart-pole", Local: linear}, train.SignPRS, math.Sqrt2, math.Sqrt(1285 * 766)},
		{"below", &fleet.Learning{Environment: "cart-pole", Local: linear}, train.SignPRS, .4, 0},
		{"above", &fleet.Learning{Environment: "cart-pole", Local: linear}, train.SignPRS, 11, 0},
		{"another mechanism", &fleet.Learning{Environment: "cart-pole", Local: linear}, train.Hybrid, 1, 0},
		{"another network", &fleet.Learning{Environment: "cart-pole", Local: hidden}, train.SignPRS, 1, 0},
		{"another environment", &fleet.Learning{Environment: "mountain-car", Local: linear}, train.SignPRS, 1, 0},
		{"another learner", nil, train.SignPRS, 1, 0},
	} {
		r := operator.Run{Randomizer: train.Randomizer{Mechanism: c.mechanism, Epsilon: c.epsilon}, Reports: 2, Dim: 8}
		if c.mechanism == train.Hybrid {
			r.Randomizer.Clip = 1
		}
		p, err := operator.NewPlan(r, s, c.l)
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
		if p.DeviceEpsilon != 2*c.epsilon || p.Reports != 500 || p.Devices != 250 || p.Seconds != 20 {
			t.Errorf("%s: %+v", c.name, p)
		}
		if want := 1 / (2 * math.Tanh(c.epsilon/2) * math.Sqrt(50)); math.Abs(p.StdError-want) > 1e-12 {
			t.Errorf("%s: standard error %v; want %v", c.name, p.StdError, want)
		}
	}
	if _, err := operator.NewPlan(operator.Run{Randomizer: train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}, Dim: 8}, s, nil); err == nil {
		t.Error("a device that never reports is planned")
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
		if err := keys.CreateNext(); err != nil {
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
	}
}
