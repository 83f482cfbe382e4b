package fleet_test

import (
	"reflect"
	"testing"

	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

func TestLearningIsReadAsItWasWritten(t *testing.T) {
	l := fleet.Learning{Environment: "cart-pole", Local: device.Local{
		Method: device.PolicyGradient, Network: learn.Network{Inputs: 4, Actions: 2, Hidden: []int{16}, Bias: true}, Steps: 3, Episodes: 5,
		Optimizer:      train.Optimizer{Kind: "adam", Step: .05},
		PolicyGradient: learn.PolicyGradient{Gamma: .99, Entropy: .01}, MaxSteps: 200, Uniform: .1, UniformFor: 3,
	}}
	data, err := l.JSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := fleet.ParseLearning(data)
	if err != nil || !reflect.DeepEqual(back, l) {
		t.Errorf("%+v, %v; want %+v", back, err, l)
	}
	for _, text := range []string{"", "{", "null{}", `{"enviroment":"x"}`, string(data) + "x", string(data) + string(data)} {
		_, err := fleet.ParseLearning([]byte(text))
		wants(t, text, err, fleet.ErrSpec)
	}
}
