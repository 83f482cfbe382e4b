package policy

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Node is a node of a decision tree: a question, or a leaf that holds the
// probability of every action.
type Node struct {
	// Input is the column that is asked about; with Step in its place it is the number of the
	// decision in its episode, from 0. What is not above Threshold goes to the node numbered
	// Left, all else to Right; both come after this node.
	Input     string   `json:"input,omitempty"`
	Step      bool     `json:"step,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
	Left      int      `json:"left,omitempty"`
	Right     int      `json:"right,omitempty"`
	// Probs is that of a leaf, which has nothing else. In a tree that is boosted a leaf has
	// Score in its place.
	Probs []float64 `json:"probs,omitempty"`
	Score *float64  `json:"score,omitempty"`
}

// tree is a decision tree over observation columns as they are (Breiman,
// Friedman, Olshen and Stone 1984) and the number of the decision, with a distribution over actions in each leaf.
type tree struct {
	inputs
	float32 bool
	nodes   []treeNode
	actions int
	maxProb float64
	scores  bool // leaves hold a score instead of probabilities
}

// treeNode is a node whose column is a number; left is 0 in a leaf.
type treeNode struct {
	threshold          float64
	input, left, right int
	probs              []float64
	score              float64
}

// NewTree returns the policy of a tree whose root is the first node. With single
// an observation is rounded to float32 before it is compared, as libraries do
// that store observations so. Every node but the root has one parent, which comes
// before it.
func NewTree(inputs []string, nodes []Node, single bool) (Policy, error) {
	t, err := newTree(inputs, nodes, single, false)
	if err != nil {
		return tree{}, fmt.Errorf("%w: tree: %w", ErrPolicy, err)
	}
	return t, nil
}

func newTree(names []string, nodes []Node, single, scores bool) (tree, error) {
	raw, err := feature.NewRaw(names)
	if err != nil {
		return tree{}, err
	}
	if len(nodes) == 0 {
		return tree{}, errors.New("no nodes; the first one is the root")
	}
	t := tree{inputs: inputs{raw: raw}, float32: single, scores: scores, nodes: make([]treeNode, len(nodes))}
	parents := make([]int, len(nodes))
	for i, n := range nodes {
		if n.Probs != nil || n.Score != nil {
			err = t.leaf(i, n)
		} else {
			err = t.question(i, n, names, parents)
		}
		if err != nil {
			return tree{}, fmt.Errorf("node %d: %w", i, err)
		}
	}
	for i, p := range parents[1:] {
		if p != 1 {
			return tree{}, fmt.Errorf("node %d has %d parents; want one", i+1, p)
		}
	}
	return t, nil
}

func (t *tree) leaf(i int, n Node) error {
	if n.Input != "" || n.Step || n.Threshold != nil || n.Left != 0 || n.Right != 0 {
		return errors.New("a leaf has probs and nothing else")
	}
	if t.scores != (n.Probs == nil) || t.scores != (n.Score != nil) {
		return errors.New("a leaf of a tree with an action has a score, and any other has probs")
	}
	if t.scores {
		if math.IsNaN(*n.Score) || math.IsInf(*n.Score, 0) {
			return errors.New("score is not finite")
		}
		t.nodes[i].score = *n.Score
		return nil
	}
	if t.actions == 0 {
		t.actions = len(n.Probs)
	}
	if len(n.Probs) != t.actions || len(n.Probs) < 2 {
		return fmt.Errorf("%d probabilities; want one an action, at least two and as many in every leaf", len(n.Probs))
	}
	if err := checkDistribution(n.Probs); err != nil {
		return err
	}
	t.nodes[i].probs = slices.Clone(n.Probs)
	t.maxProb = max(t.maxProb, slices.Max(n.Probs))
	return nil
}

func (t *tree) question(i int, n Node, names []string, parents []int) error {
	column := slices.Index(names, n.Input)
	if n.Step {
		column, t.step = len(names), true
	}
	switch {
	case n.Step && n.Input != "":
		return errors.New("input and step; a question is about one of them")
	case column < 0:
		return fmt.Errorf("input %q is not among the inputs", n.Input)
	case n.Threshold == nil || math.IsNaN(*n.Threshold) || math.IsInf(*n.Threshold, 0):
		return errors.New("threshold is missing or not finite")
	case n.Left <= i || n.Left >= len(parents) || n.Right <= i || n.Right >= len(parents):
		return fmt.Errorf("left %d and right %d; want nodes after this one, of %d", n.Left, n.Right, len(parents))
	}
	parents[n.Left]++
	parents[n.Right]++
	t.nodes[i] = treeNode{threshold: *n.Threshold, input: column, left: n.Left, right: n.Right}
	return nil
}

// ReadTree reads a tree as JSON; docs/policies.md has the format. precision is
// float64, or float32 where observations were rounded to it before they were
// compared:
//
//	{"kind": "tree", "inputs": ["obs_age"], "precision": "float32",
//	 "nodes": [{"input": "obs_age", "threshold": 50.5, "left": 1, "right": 2}, {"probs": [0.2, 0.8]}, {"probs": [1, 0]}]}
//
// With trees in place of nodes it is a forest, whose probabilities are the means of those
// in the leaves, or, with scores, boosted trees.
func ReadTree(r io.Reader, name string) (Policy, error) {
	var file struct {
		head
		Inputs    []string `json:"inputs"`
		Precision string   `json:"precision"`
		Nodes     []Node   `json:"nodes"`
		forestFile
	}
	if err := readFile(r, name, &file); err != nil {
		return nil, err
	}
	err := file.check("tree")
	if err == nil && file.Precision != "float32" && file.Precision != "float64" {
		err = fmt.Errorf("precision is %q; want float32 or float64, as the thresholds were compared where the tree was made", file.Precision)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrPolicy, name, err)
	}
	var t Policy
	switch single := file.Precision == "float32"; {
	case file.Trees != nil && file.Nodes != nil:
		err = fmt.Errorf("%w: tree: nodes and trees; give one tree as nodes, or several as trees", ErrPolicy)
	case file.Trees != nil || file.Scores != nil:
		t, err = newForest(file.Inputs, file.forestFile, single)
	default:
		t, err = NewTree(file.Inputs, file.Nodes, single)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// Actions is the number of probabilities in a leaf.
func (t tree) Actions() int { return t.actions }

// MaxProb is the largest probability in a leaf.
func (t tree) MaxProb() float64 { return t.maxProb }

// Bind implements [Policy].
func (t tree) Bind(d *trajectory.Dataset) (Bound, error) {
	if err := needActions(d); err != nil {
		return nil, err
	}
	in, err := t.bind(d)
	if err != nil {
		return nil, err
	}
	return &boundTree{t, in}, nil
}

type boundTree struct {
	tree
	in boundInputs
}

// leafOf is the distribution in the leaf that a row falls into, nil where an
// observation is missing.
func (b *boundTree) leafOf(row int) []float64 {
	x, ok := b.in.at(row)
	if !ok {
		return nil
	}
	return b.leafAt(x).probs
}

// leafAt is the leaf that an observation falls into.
func (t tree) leafAt(at []float64) *treeNode {
	n := &t.nodes[0]
	for n.left != 0 {
		x := at[n.input]
		if t.float32 {
			x = float64(float32(x))
		}
		next := n.right
		if x <= n.threshold {
			next = n.left
		}
		n = &t.nodes[next]
	}
	return n
}

func (b *boundTree) Prob(row int) (float64, bool) {
	p, a := b.leafOf(row), b.in.d.Action[row]
	if p == nil || a < 0 || int(a) >= len(p) {
		return 0, false
	}
	return p[a], true
}

func (b *boundTree) Distribution(dst []float64, row int) bool {
	clear(dst)
	p := b.leafOf(row)
	copy(dst[:b.actions], p)
	return p != nil
}
