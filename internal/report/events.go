package report

import (
	"fmt"
	"strings"

	"github.com/discreet-rl/discreet/dp"
)

// eventNode is one node of the event tree in words.
type eventNode struct {
	Kind     string
	Words    string
	Params   []param
	Children []*eventNode
	// Repeats says that the same event stands this many times in a row.
	Repeats int
	// More counts the children that are not shown.
	More int
}

type param struct{ Name, Value, Words string }

// mostChildren bounds what the page shows of one composition.
const mostChildren = 50

func newEventNode(e dp.Event) *eventNode {
	n := &eventNode{Kind: e.Kind(), Repeats: 1}
	switch e := e.(type) {
	case dp.Gaussian:
		n.Words = "Gaussian noise on a sum to which every person adds a clipped vector."
		n.add("noise_multiplier", parameter(e.NoiseMultiplier), "standard deviation of the noise, in units of the clip: the most that one person can add")
	case dp.Laplace:
		n.Words = "Laplace noise on a sum to which every person adds a clipped vector."
		n.add("noise_multiplier", parameter(e.NoiseMultiplier), "scale of the noise, in units of the clip: the most that one person can add")
	case dp.DiscreteGaussian:
		n.Words = "Whole-number Gaussian noise on a sum to which every person adds a clipped vector of whole numbers."
		n.add("sigma", parameter(e.Sigma), "spread of the noise")
		n.add("norm", parameter(e.Norm), "the most that one person can add (l2 norm)")
		if e.Dimension > 0 {
			n.add("dimension", fmt.Sprint(e.Dimension), "how many numbers are released")
		}
	case dp.DiscreteLaplace:
		n.Words = "Whole-number Laplace noise on a sum of whole numbers, such as counts, to which every person adds a bounded amount."
		n.add("scale", parameter(e.Scale), "scale of the noise")
		n.add("norm", parameter(e.Norm), "the most that one person can add (l1 norm)")
	case dp.RandomizedResponse:
		n.Words = "Each person’s answer is replaced by a random one with a known probability."
		n.add("buckets", fmt.Sprint(e.Buckets), "number of possible answers")
		n.add("noise_parameter", parameter(e.NoiseParameter), "probability that the answer is drawn at random")
	case dp.SmoothGaussian:
		n.Words = "Gaussian noise scaled to a smooth bound on how much one person can move the answer. The bound depends on the data and is not released."
		n.add("alpha", parameter(e.Alpha), "standard deviation of the noise, in units of the smooth bound")
		n.add("beta", parameter(e.Beta), "the most by which one person can move the logarithm of the bound")
		n.add("dimension", fmt.Sprint(e.Dimension), "how many numbers are released")
	case dp.Shuffled:
		n.Words = "One randomised report from each person, whose order a trusted party shuffled: somebody who sees the reports cannot see whose each one is."
		n.add("count", fmt.Sprint(e.Count), "how many persons report, each once")
		n.add("local_epsilon", parameter(e.LocalEpsilon), "the ε of each report by itself, against somebody who knows its sender")
		n.add("uniform_slots", fmt.Sprint(e.UniformSlots), "declared: the order is uniform and secret, over all persons at once")
		if e.OneRandomizer {
			n.add("one_randomizer", "true", "declared: all persons use the same randomiser")
		}
	case dp.TreeAggregation:
		n.Words = "Running sums of a stream: every node of a binary tree over its steps is released with Gaussian noise."
		n.add("noise_multiplier", parameter(e.NoiseMultiplier), "standard deviation of the noise of a node, in units of what one person can add in one step")
		n.add("steps", fmt.Sprint(e.Steps), "steps of one tree")
		n.add("restarts", fmt.Sprint(e.Restarts), "how often a new tree begins")
		n.add("participations", fmt.Sprint(e.Participations), "the most steps that one person takes part in, over all trees")
	case dp.GaussianDP:
		n.Words = "A computation known to hide a person as well as Gaussian noise does."
		n.add("mu", parameter(e.Mu), "the most that one person can move it, in standard deviations of that noise")
	case dp.ZeroConcentratedDP:
		n.Words = "A computation of which only its concentrated guarantee (zCDP) is known."
		n.add("rho", parameter(e.Rho), "its own ρ")
	case dp.PureDP:
		n.Words = "A computation of which only its pure guarantee is known."
		n.add("epsilon", parameter(e.Epsilon), "its own ε")
	case dp.RenyiCurve:
		n.Words = "A computation of which only bounds on its Rényi divergences are known."
		n.add("orders", few(e.Orders), "the orders at which there is a bound")
		n.add("values", few(e.Values), "the bounds")
	case dp.PrivacyLoss:
		n.Words = "A computation that comes with its own table of privacy losses and their probabilities."
		n.add("losses", few(e.Losses), "how strongly an outcome distinguishes two neighbouring datasets")
		n.add("masses", few(e.Masses), "how likely each of them is")
		n.add("infinity", parameter(e.Infinity), "probability of an outcome that distinguishes them with certainty")
	case dp.Exponential:
		n.Words = "A choice among candidates that favours high scores (exponential mechanism): the losses of all outcomes lie within one range."
		n.add("epsilon", parameter(e.Epsilon), "length of that range")
	case dp.SelectBest:
		n.Words = "The best of a secret, random number of runs; the others are not shown. It is accounted for as one release."
		n.add("runs", e.Runs, "distribution of the number of runs")
		if e.Gamma > 0 {
			n.add("gamma", parameter(e.Gamma), "its parameter")
		}
		if e.Mean > 0 {
			n.add("mean", parameter(e.Mean), "its mean")
		}
		n.child(e.Event)
	case dp.PermuteAndFlip:
		n.Words = "A choice among candidates that favours high scores (permute and flip)."
		n.add("epsilon", parameter(e.Epsilon), "its own ε")
	case dp.ReportNoisyMax:
		n.Words = "A choice of the candidate whose score, with noise added, is largest."
		n.add("noise", e.Noise, "distribution of the noise")
		n.add("scale", parameter(e.Scale), "scale of the noise")
		n.add("sensitivity", parameter(e.Sensitivity), "the most that one person can change a score")
		n.add("monotone", fmt.Sprint(e.Monotone), "declared: an added person moves all scores the same way")
	case dp.ApproximateDP:
		n.Words = "A computation of which only its guarantee is known."
		if e.Epsilon == 0 && e.Delta == 0 {
			n.Words = "A computation that does not depend on any person’s record."
		}
		n.add("epsilon", parameter(e.Epsilon), "its own ε")
		n.add("delta", parameter(e.Delta), "its own δ")
	case dp.PoissonSampled:
		n.Words = "Runs on a random sample of the persons, each in it independently of the others."
		n.add("rate", parameter(e.Rate), "probability that a person is in the sample")
		n.child(e.Event)
	case dp.SampledWithoutReplacement:
		n.Words = "Runs on a random sample of the persons, of fixed size."
		n.add("sample", fmt.Sprint(e.Sample), "persons in the sample")
		n.add("population", fmt.Sprint(e.Population), "persons to draw from")
		n.child(e.Event)
	case dp.SelfComposed:
		n.Words = "The same computation, several times on the same persons. Their costs are accounted for together."
		n.add("count", fmt.Sprint(e.Count), "how many times")
		n.child(e.Event)
	case dp.Composed:
		n.Words = "Several computations on the same persons. Their costs are accounted for together."
		n.children(e.Events)
	}
	return n
}

// few shows a few numbers, or how many there are and their ends.
func few(xs []float64) string {
	if len(xs) > 6 {
		return fmt.Sprintf("%d numbers from %s to %s", len(xs), parameter(xs[0]), parameter(xs[len(xs)-1]))
	}
	words := make([]string, len(xs))
	for i, x := range xs {
		words[i] = parameter(x)
	}
	return strings.Join(words, ", ")
}

func (n *eventNode) add(name, value, words string) {
	n.Params = append(n.Params, param{name, value, words})
}

func (n *eventNode) child(e dp.Event) { n.Children = append(n.Children, newEventNode(e)) }

// children adds events in order; neighbours that are the same share a node.
func (n *eventNode) children(events []dp.Event) {
	last := ""
	for i, e := range events {
		text, err := dp.MarshalEvent(e)
		if err == nil && i > 0 && string(text) == last {
			n.Children[len(n.Children)-1].Repeats++
			continue
		}
		if len(n.Children) == mostChildren {
			n.More = len(events) - i
			return
		}
		last = string(text)
		n.child(e)
	}
}
