package value_test

import (
	"encoding/csv"
	"os"
	"strconv"
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func sample(t testing.TB, d *trajectory.Dataset, o value.Options) *value.Sample {
	t.Helper()
	s, err := value.NewSample(d, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func simulate(t testing.TB, o chain.Options) *trajectory.Dataset {
	t.Helper()
	d, err := chain.Simulate(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func tabular(states int) feature.Finite { return must(feature.NewTabular(states, "obs_state")) }

// chainSample is the chain seen with tabular features and discount .99.
func chainSample(t testing.TB, o chain.Options, pi policy.Policy) *value.Sample {
	t.Helper()
	return sample(t, simulate(t, o), value.Options{Gamma: 0.99, Features: tabular(chain.States), Policy: pi})
}

func advancing(p float64) policy.Table {
	return must(policy.NewTable(chain.Policy(p), chain.Actions, chain.Column))
}

// step is one decision of an episode written down in a test.
type step struct {
	state  float64
	action int32
	prob   float64
	reward float64
}

// history is an episode written down in a test; final is the state after a
// truncated end, or negative when it is not known.
type history struct {
	person     int
	steps      []step
	terminated bool
	final      float64
}

// build makes a dataset of episodes whose persons are in ascending order.
func build(histories []history) *trajectory.Dataset {
	d := &trajectory.Dataset{Columns: []string{"obs_state"}, EpisodeStart: []int{0}}
	for e, h := range histories {
		if e == 0 || h.person != histories[e-1].person {
			d.PersonStart = append(d.PersonStart, e)
		}
		for _, s := range h.steps {
			d.Obs = append(d.Obs, s.state)
			d.Action = append(d.Action, s.action)
			d.BehaviorProb = append(d.BehaviorProb, s.prob)
			d.Reward = append(d.Reward, s.reward)
		}
		d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
		d.Terminated = append(d.Terminated, h.terminated)
		d.Final = append(d.Final, max(h.final, 0))
		d.HasFinal = append(d.HasFinal, !h.terminated && h.final >= 0)
	}
	d.PersonStart = append(d.PersonStart, len(histories))
	return d
}

// readCSV returns the records of a file in testdata, without its header.
func readCSV(t testing.TB, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return records[1:]
}

func number(t testing.TB, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
