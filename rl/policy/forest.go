package policy

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// forestFile are the members of a tree's file with several trees.
type forestFile struct {
	// Trees are averaged (Breiman 2001). With Scores they are boosted (Friedman 2001): the
	// score of an action is that in Scores plus those in the leaves of its own trees, and
	// probabilities are the softmax of the scores.
	Trees []struct {
		Action *int   `json:"action"`
		Nodes  []Node `json:"nodes"`
	} `json:"trees"`
	Scores []float64 `json:"scores"`
}

// forest is a policy of several trees.
type forest struct {
	trees  []tree
	of     []int     // the action of a boosted tree
	scores []float64 // before any tree; nil where trees are averaged
}

func newForest(inputs []string, file forestFile, single bool) (forest, error) {
	f := forest{scores: file.Scores, of: make([]int, len(file.Trees)), trees: make([]tree, len(file.Trees))}
	boosted := file.Scores != nil
	if len(file.Trees) == 0 || boosted && len(file.Scores) < 2 {
		return f, fmt.Errorf("%w: forest: %d trees, %d scores; want at least one tree and, of boosted trees, a score an action", ErrPolicy, len(file.Trees), len(file.Scores))
	}
	for a, s := range file.Scores {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return f, fmt.Errorf("%w: forest: score %d is not finite", ErrPolicy, a)
		}
	}
	for i, one := range file.Trees {
		if boosted != (one.Action != nil) || boosted && (*one.Action < 0 || *one.Action >= len(file.Scores)) {
			return f, fmt.Errorf("%w: forest: tree %d: a boosted tree has the action that it is of, 0 to %d, and no other has one", ErrPolicy, i, len(file.Scores)-1)
		}
		t, err := newTree(inputs, one.Nodes, single, boosted)
		if err == nil && i > 0 && t.actions != f.trees[0].actions {
			err = fmt.Errorf("%d actions; want as many in every tree", t.actions)
		}
		if err != nil {
			return f, fmt.Errorf("%w: forest: tree %d: %w", ErrPolicy, i, err)
		}
		if boosted {
			f.of[i] = *one.Action
		}
		f.trees[i] = t
	}
	return f, nil
}

// Actions is the number of probabilities.
func (f forest) Actions() int {
	if f.scores != nil {
		return len(f.scores)
	}
	return f.trees[0].actions
}

// Columns names the observation columns that the policy reads.
func (f forest) Columns() []string { return f.trees[0].Columns() }

// ReadsStep reports whether what is done may depend on how many decisions an episode had before.
func (f forest) ReadsStep() bool { return slices.ContainsFunc(f.trees, tree.ReadsStep) }

// MaxProb is at least the largest probability.
func (f forest) MaxProb() float64 {
	if f.scores != nil {
		return 1
	}
	most := 0.0
	for _, t := range f.trees {
		most += t.maxProb
	}
	return min(1, most/float64(len(f.trees)))
}

// Bind implements [Policy].
func (f forest) Bind(d *trajectory.Dataset) (Bound, error) {
	if err := needActions(d); err != nil {
		return nil, err
	}
	of := f.trees[0].inputs
	of.step = f.ReadsStep()
	in, err := of.bind(d)
	if err != nil {
		return nil, err
	}
	return &boundForest{forest: f, in: in, p: make([]float64, f.Actions())}, nil
}

type boundForest struct {
	forest
	in boundInputs
	p  []float64
}

// Distribution implements [Bound].
func (b *boundForest) Distribution(dst []float64, row int) bool {
	clear(dst)
	x, ok := b.in.at(row)
	if !ok {
		return false
	}
	p := dst[:b.Actions()]
	if b.scores == nil {
		for _, t := range b.trees {
			for a, q := range t.leafAt(x).probs {
				p[a] += q
			}
		}
		for a := range p {
			p[a] /= float64(len(b.trees))
		}
		return true
	}
	copy(p, b.scores)
	for i, t := range b.trees {
		p[b.of[i]] += t.leafAt(x).score
	}
	most, sum := slices.Max(p), 0.0
	for a := range p {
		p[a] = math.Exp(p[a] - most)
		sum += p[a]
	}
	for a := range p {
		p[a] /= sum
	}
	return true
}

// Prob implements [Bound].
func (b *boundForest) Prob(row int) (float64, bool) {
	a := b.in.d.Action[row]
	if a < 0 || int(a) >= len(b.p) || !b.Distribution(b.p, row) {
		return 0, false
	}
	return b.p[a], true
}
