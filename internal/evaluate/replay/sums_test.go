package replay_test

import (
	"context"
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/replay"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// returns is a method of sums of another author: a mean return in two rounds, the
// second around the first, beside the number of decisions.
type returns struct{ peeks *peeks }

// peeks is what an author's code keeps who wants to defeat the library.
type peeks struct {
	calls   int
	largest float64
}

func (returns) Outline(evaluate.Public) (evaluate.Outline, error) {
	return evaluate.Outline{Method: "test/returns", Estimates: "the mean return",
		Rounds: []evaluate.Round{{Dim: 2, Clip: 1.5, Share: 1}, {Dim: 1, Clip: 0.5, Share: 2}}}, nil
}

func (m returns) Contribution(dst []float64, round int, earlier [][]float64, p *trajectory.Dataset) {
	sum := 0.0
	for _, r := range p.Reward {
		sum += r
	}
	if round == 1 {
		sum -= earlier[0][0] / persons
	} else {
		dst[1] = float64(p.Rows()) - horizon/2
	}
	dst[0] = sum
	if m.peeks != nil {
		dst[0] = m.peeks.at(sum)
	}
	if p.Rows() == 3 {
		panic("three")
	}
}

// at behaves until the check of the data is over, and tells everybody's largest number
// in the place of each one's from then on.
func (p *peeks) at(sum float64) float64 {
	p.calls++
	p.largest = max(p.largest, sum)
	if p.calls <= 2*2+2*2*persons { // of two rounds, for made-up persons first
		return 0
	}
	return p.largest
}

func (returns) Answer(_ evaluate.Public, sums []evaluate.NoisySum) (evaluate.Answer, error) {
	return evaluate.Answer{Value: (sums[0].Sum[0] + sums[1].Sum[0]) / persons}, nil
}

func sumsPlan(t *testing.T, m evaluate.Sums, adjacency dp.Adjacency) (*evaluate.Plan, evaluate.Public) {
	p := evaluate.Public{Persons: persons, Gamma: 1, Horizon: horizon, Episodes: episodes, Reward: evaluate.Range{Min: 0, Max: 1}, Target: policy.Logged{},
		Privacy: &evaluate.Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: 8, Delta: 1e-2}}}
	if adjacency == dp.AddRemoveOne {
		p.Persons = persons - 1
	}
	plan, err := evaluate.OfSums(m).Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	return plan, p
}

// TestForeignMethodsKeepToTheirPlan: a pure method does, whatever it does for single
// persons, and needs nearly all that is paid for.
func TestForeignMethodsKeepToTheirPlan(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		plan, p := sumsPlan(t, returns{}, adjacency)
		draw, worst := drawn(t, p, 4), 0.0
		for pair := range 2 * pairs {
			d, err := draw.Pair()
			if err != nil {
				t.Fatal(err)
			}
			r, err := replay.Check(context.Background(), plan, d.Data, d.Neighbour, uint64(pair))
			if err != nil {
				t.Fatalf("%v, pair %d: %v", adjacency, pair, err)
			}
			worst = max(worst, r.Ratio)
		}
		t.Logf("%v: worst ratio %.6f", adjacency, worst)
		if worst < 0.5 {
			t.Errorf("%v: no pair needs more than %v of what is paid for", adjacency, worst)
		}
	}
}

// TestCodeThatHidesWhatItKeepsIsRefuted: the library's second call does not find it, and a
// pair does.
func TestCodeThatHidesWhatItKeepsIsRefuted(t *testing.T) {
	// One decision a person, all of reward 0 but for the last.
	still := func(last float64) *trajectory.Dataset {
		d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}, Reward: make([]float64, persons), Terminated: make([]bool, persons)}
		for i := range persons {
			d.PersonStart, d.EpisodeStart = append(d.PersonStart, i+1), append(d.EpisodeStart, i+1)
		}
		d.Reward[persons-1] = last
		return d
	}
	// The code must keep something for each of the two runs alone.
	plan, _ := sumsPlan(t, twice{first: &peeks{}, second: &peeks{}, left: new(int)}, dp.ReplaceOne)
	if _, err := replay.Check(context.Background(), plan, still(0), still(1), 1); !errors.Is(err, replay.ErrBroken) {
		t.Errorf("%v; want ErrBroken", err)
	}
}

// twice keeps apart what it saw in the first run and in the second.
type twice struct {
	returns
	first, second *peeks
	left          *int
}

func (m twice) Contribution(dst []float64, round int, earlier [][]float64, p *trajectory.Dataset) {
	*m.left++
	if *m.left <= 2*2*2*persons {
		returns{m.first}.Contribution(dst, round, earlier, p)
		return
	}
	returns{m.second}.Contribution(dst, round, earlier, p)
}
