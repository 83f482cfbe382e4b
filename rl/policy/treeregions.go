package policy

import (
	"maps"
	"math"
)

// stepColumn stands for the number of the decision, of which both trees may ask.
const stepColumn = ""

// interval holds the numbers above the first and not above the second.
type interval [2]float64

// region is where an observation falls into a leaf: an interval of each column that was asked for.
type region struct {
	within map[string]interval
	probs  []float64
}

// regions are those of the leaves of a tree.
func (t tree) regions() []region {
	var out []region
	columns := t.Columns()
	var visit func(node int, within map[string]interval)
	visit = func(node int, within map[string]interval) {
		n := t.nodes[node]
		if n.left == 0 {
			out = append(out, region{within, n.probs})
			return
		}
		column := stepColumn
		if n.input < len(columns) {
			column = columns[n.input]
		}
		was, asked := within[column]
		if !asked {
			was = interval{math.Inf(-1), math.Inf(1)}
		}
		for _, side := range []struct {
			to  int
			cut interval
		}{{n.left, interval{was[0], min(was[1], n.threshold)}}, {n.right, interval{max(was[0], n.threshold), was[1]}}} {
			if side.cut[0] < side.cut[1] {
				part := maps.Clone(within)
				part[column] = side.cut
				visit(side.to, part)
			}
		}
	}
	visit(0, map[string]interval{})
	return out
}

// meets tells whether an observation may be in both regions.
func (r region) meets(other region) bool {
	for column, a := range r.within {
		if b, both := other.within[column]; both && !(max(a[0], b[0]) < min(a[1], b[1])) {
			return false
		}
	}
	return true
}

// leafByLeaf lists what two trees do wherever a leaf of one meets a leaf of the other; nil of other policies, of trees
// that read numbers of different precision, and of too many leaves.
func leafByLeaf(target, behaviour Policy) [][][]float64 {
	a, ok := target.(tree)
	b, both := behaviour.(tree)
	if !ok || !both || a.float32 != b.float32 || len(a.nodes)*len(b.nodes)*(a.actions+b.actions) > largestListed {
		return nil
	}
	var out [][][]float64
	inB := b.regions()
	for _, r := range a.regions() {
		for _, s := range inB {
			if r.meets(s) {
				out = append(out, [][]float64{r.probs, s.probs})
			}
		}
	}
	return out
}
