package yamlfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
	"github.com/discreet-rl/discreet/train/simulate"
)

func loadTrain(t *testing.T, text string) (simulate.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "train.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	y, err := LoadTrain(path, nil)
	if err != nil {
		return simulate.Config{}, err
	}
	return y.Config()
}

func TestTrainDefaults(t *testing.T) {
	c, err := loadTrain(t, "environment: {name: cart-pole}\nprivacy: {epsilon: 1}\nserver: {submissions: 10}\nlocal: {method: policy-gradient}\n")
	if err != nil {
		t.Fatal(err)
	}
	if c.Terms.Randomizer != (train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}) {
		t.Errorf("randomizer %+v", c.Terms.Randomizer)
	}
	if c.Terms.Optimizer != (train.Optimizer{Kind: "momentum", Step: .2, Decay: 1000}) || c.Terms.Buffer != 10 || c.Terms.Staleness != -1 {
		t.Errorf("terms %+v", c.Terms)
	}
	if c.Local.Method != device.PolicyGradient || c.Local.PolicyGradient.Gamma != .99 || c.Local.Steps != 1 || c.Local.Episodes != 5 {
		t.Errorf("local %+v", c.Local)
	}
	if n := c.Local.Network; n.Inputs != 4 || n.Actions != 2 || len(n.Hidden) != 0 || n.Value {
		t.Errorf("network %+v", n)
	}
}

// TestVectorsGoThroughTheMechanismWithTheStrongerSignal.
func TestVectorsGoThroughTheMechanismWithTheStrongerSignal(t *testing.T) {
	for text, want := range map[string]train.Mechanism{
		"{epsilon: 2}": train.SignPRS, "{epsilon: 2.1}": train.PrivUnit, "{epsilon: 6, reports: 3}": train.SignPRS,
		"{epsilon: 8, mechanism: sign-prs}": train.SignPRS, "{mechanism: none}": train.NotPrivate,
	} {
		c, err := loadTrain(t, "environment: {name: cart-pole}\nlocal: {method: policy-gradient}\nagents: 100\nserver: {submissions: 10}\nprivacy: "+text+"\n")
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

// TestTrainTellsAtOnceWhatAgentsWouldRefuse: nothing has been opened or paid for.
func TestTrainTellsAtOnceWhatAgentsWouldRefuse(t *testing.T) {
	const pole, signs, rest = "environment: {name: cart-pole}\n", "privacy: {epsilon: 1, mechanism: sign-prs}\n", "server: {submissions: 10}\n"
	const bit = "privacy: {epsilon: 1, mechanism: one-bit}\n"
	for _, text := range []string{
		pole + "privacy: {epsilon: 1, mechanism: sign-prs, clip: -5}\n",
		pole + "privacy: {epsilon: 1, mechanism: sign-prs, clip: .nan}\n",
		pole + "privacy: {epsilon: 1, mechanism: sign-prs, rows: -3}\n",
		pole + "privacy: {epsilon: 1, mechanism: one-bit, clip: 5e-324}\nlocal: {method: evolution, perturbation: 0.1}\n",
		pole + signs + "local: {optimizer: {kind: bogus, step: -1}}\n",
		pole + signs + "local: {value_weight: .nan}\n",
		pole + signs + "local: {value_weight: 0.5}\n",
		pole + signs + "local: {entropy: .nan}\n",
		pole + signs + "local: {gamma: 1.5}\n",
		pole + signs + "local: {perturbation: .nan}\n",
		pole + signs + "local: {perturbation: 0.1}\n",
		pole + signs + "local: {episodes: 4611686018427387904}\n",
		pole + signs + "local: {episodes: 100000000}\n",
		"environment: {name: mountain-car, max_steps: 1000000000000}\n" + signs,
		pole + signs + "local: {method: actor-critic, value_weight: -3}\n",
		pole + bit + "local: {method: evolution, perturbation: 0.1, gamma: 0.9}\n",
		pole + bit + "local: {method: evolution, perturbation: 0.1, entropy: 0.1}\n",
		pole + bit + "local: {method: evolution, perturbation: 0.1, optimizer: {kind: sgd, step: 1}}\n",
		pole + signs + "network: {hidden: [4611686018427387905, 4]}\n",
		pole + "privacy: {mechanism: none}\nnetwork: {hidden: [100000000000]}\n",
		"environment: {name: cart-pole, gravity: [1e300]}\n" + signs,
		"environment: {name: cart-pole, gravity: [9.8, 0]}\n" + signs, // 0 is not the default here
		"environment: {name: cart-pole, gravity: [-9.8]}\n" + signs,
		"environment: {name: cart-pole, gravity: [.nan]}\n" + signs,
	} {
		_, err := loadTrain(t, text+rest)
		if !errors.Is(err, ErrSyntax) && !errors.Is(err, train.ErrConfig) && !errors.Is(err, learn.ErrOptions) {
			t.Errorf("%s: %v; want an error about the configuration", text, err)
		}
	}
	if _, err := loadTrain(t, pole+bit+"local: {method: evolution, perturbation: 0.1}\n"+rest); err != nil {
		t.Errorf("evolution: %v", err)
	}
}

// TestDocumentedTrainingLoads reads the listing of all keys in the guide.
func TestDocumentedTrainingLoads(t *testing.T) {
	guide, err := os.ReadFile("../../docs/training.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(guide), "\n## What an operator decides\n")
	_, rest, _ = strings.Cut(rest, "```yaml\n")
	listing, _, found := strings.Cut(rest, "```")
	if !found || !strings.Contains(listing, "\nprivacy:") {
		t.Fatalf("no listing in docs/training.md: %q", listing)
	}
	if _, err := loadTrain(t, listing); err != nil {
		t.Error(err)
	}
}

// TestEpisodesLastAsLongAsMaxStepsSays, also beyond the 200 that are the default.
func TestEpisodesLastAsLongAsMaxStepsSays(t *testing.T) {
	for _, limit := range []int{50, 200, 500} {
		c, err := loadTrain(t, fmt.Sprintf("environment: {name: cart-pole, max_steps: %d}\nprivacy: {epsilon: 1}\nserver: {submissions: 10}\n", limit))
		if err != nil {
			t.Fatal(err)
		}
		// Pushing the way that the pole leans and turns holds it up.
		scores, err := simulate.Scores(context.Background(), c, []float64{0, 0, 0, 0, .1, .3, 10, 3}, 5, learn.Explore{Greedy: true}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scores {
			if s != float64(limit) {
				t.Errorf("max_steps %d: an episode of %v steps", limit, s)
			}
		}
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
