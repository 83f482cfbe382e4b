package parquet

// node is a column of the schema with those within it.
type node struct {
	*element
	columns []*node
	index   int   // among the leaves
	maxDef  uint8 // the highest definition level
	maxRep  uint8 // and repetition level
}

func (n *node) leaf() bool { return n.kind != noKind }

func (n *node) repeats() bool { return n.repetition == repeated }

// grower makes the tree of a schema that was checked.
type grower struct {
	left   []element
	leaves int
}

// grow makes the node at the front of what is left, within columns of the given levels.
func (g *grower) grow(maxDef, maxRep uint8) *node {
	n := &node{element: &g.left[0], maxDef: maxDef, maxRep: maxRep}
	g.left = g.left[1:]
	switch n.repetition {
	case optional:
		n.maxDef++
	case repeated:
		n.maxDef++
		n.maxRep++
	}
	if n.leaf() {
		n.index = g.leaves
		g.leaves++
	}
	for range n.children {
		n.columns = append(n.columns, g.grow(n.maxDef, n.maxRep))
	}
	return n
}

// columns are those at the top of a schema; what the root says of its own repetition
// has no meaning.
func columns(schema []element) []*node {
	root := schema[0]
	root.repetition = required
	all := append([]element{root}, schema[1:]...)
	return (&grower{left: all}).grow(0, 0).columns
}
