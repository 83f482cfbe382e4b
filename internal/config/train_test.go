package config

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
)

func loadTrain(t *testing.T, text string) (train.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "train.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	y, err := LoadTrain(path, nil)
	if err != nil {
		return train.Config{}, err
	}
	return y.Config()
}

func TestTrainDefaults(t *testing.T) {
	c, err := loadTrain(t, "environment: {name: cart-pole}\nprivacy: {epsilon: 1}\nserver: {submissions: 10}\n")
	if err != nil {
		t.Fatal(err)
	}
	if c.Terms.Randomizer != (train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}) {
		t.Errorf("randomizer %+v", c.Terms.Randomizer)
	}
	if c.Terms.Optimizer != (train.Optimizer{Kind: "momentum", Step: .2, Decay: 1000}) || c.Terms.Buffer != 10 || c.Terms.Staleness != -1 {
		t.Errorf("terms %+v", c.Terms)
	}
	if c.Local.Method != train.PolicyGradient || c.Local.PolicyGradient.Gamma != .99 || c.Local.Steps != 1 || c.Local.Episodes != 1 {
		t.Errorf("local %+v", c.Local)
	}
	if n := c.Local.Network; n.Inputs != 4 || n.Actions != 2 || len(n.Hidden) != 0 || n.Value {
		t.Errorf("network %+v", n)
	}
}

func TestTrainChoosesTheMechanismWithTheStrongerSignal(t *testing.T) {
	for text, want := range map[string]train.Mechanism{
		"{epsilon: 2}": train.SignPRS, "{epsilon: 2.1}": train.PrivUnit, "{epsilon: 6, reports: 3}": train.SignPRS,
		"{epsilon: 8, mechanism: sign-prs}": train.SignPRS, "{mechanism: none}": train.NotPrivate,
	} {
		c, err := loadTrain(t, "environment: {name: cart-pole}\nagents: 100\nserver: {submissions: 10}\nprivacy: "+text+"\n")
		if bounded := c.Terms.Influence.Norm > 0; bounded != (want == train.PrivUnit) {
			t.Errorf("%s: bound on a report %v", text, c.Terms.Influence)
		}
		if err != nil || c.Terms.Randomizer.Mechanism != want {
			t.Errorf("%s: %s, %v; want %s", text, c.Terms.Randomizer.Mechanism, err, want)
		}
	}
}

func TestTrainReadsActorCritic(t *testing.T) {
	c, err := loadTrain(t, `
environment: {name: cart-pole, gravity: [9.7, 9.8], max_steps: 100}
network: {hidden: [16], bias: true}
local: {method: actor-critic, gamma: 0.9, value_weight: 0.3, entropy: 0.01, reward: failure, greedy: true, uniform: 0.5, uniform_for: 1800}
privacy: {epsilon: 1, mechanism: laplace, clip: 0.01}
server: {submissions: 10, staleness: 0}
`)
	if err != nil {
		t.Fatal(err)
	}
	n := c.Local.Network
	if !n.Value || !n.Bias || len(n.Hidden) != 1 || n.Hidden[0] != 16 || c.Local.MaxSteps != 100 || len(c.Environments) != 2 {
		t.Errorf("network %+v, limit %d, %d environments", n, c.Local.MaxSteps, len(c.Environments))
	}
	a := c.Local.ActorCritic
	if a.Gamma != .9 || a.ValueWeight != .3 || a.Entropy != .01 || c.Local.Reward != learn.FailureReward || c.Terms.Staleness != 0 {
		t.Errorf("loss %+v, staleness %d", a, c.Terms.Staleness)
	}
}

func TestTrainRefusesWhatIsWrong(t *testing.T) {
	const rest = "\nserver: {submissions: 10}\n"
	for _, text := range []string{
		"environment: {name: chess}\nprivacy: {epsilon: 1}" + rest,
		"environment: {name: mountain-car, gravity: [9.8]}\nprivacy: {epsilon: 1}" + rest,
		"environment: {name: cart-pole, max_steps: -1}\nprivacy: {epsilon: 1}" + rest,
		"environment: {name: cart-pole}" + rest,
		"environment: {name: cart-pole}\nprivacy: {epsilon: .inf}" + rest,
		"environment: {name: cart-pole}\nprivacy: {epsilon: 1, mechanism: none}" + rest,
		"environment: {name: cart-pole}\nprivacy: {epsilon: 1, unit: person}" + rest,
		"environment: {name: cart-pole}\nprivacy: {epsilon: 1, reports: 3}" + rest,
		"environment: {name: cart-pole}\nprivacy: {epsilon: 1, reports: -3}" + rest,
		"environment: {name: cart-pole}\nprivacy: {epsilon: 1}\nagents: 3" + rest,
		"environment: {name: cart-pole}\nprivacy: {epsilon: 1}\nlocal: {reward: gold}" + rest,
		"environment: {name: cart-pole}\nprivacy: {epsilon: 1}\nledger: {}" + rest,
		"environment: {name: cart-pole}\nprivacy: {epsilon: 1}\nlocal: {gama: 1}" + rest,
	} {
		if _, err := loadTrain(t, text); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s: %v; want ErrSyntax", text, err)
		}
	}
}
