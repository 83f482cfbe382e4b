package value

// CellSaddle holds every person's saddle-point gradient for one-hot features,
// compiled: revisits of a cell are merged, and A_i, b_i and C_i are kept sparse
// over the person's own cells, so that a gradient walks contiguous memory once
// and costs at most of the order of the person's transitions. It computes what
// [Saddle] computes, with statistics stored as float32; a person's are rounded
// from float64 sums over that person's rows alone. Memory is 20 bytes a cell
// and at most 8 a pair of cells that a person visits one after the other.
//
// It is read-only once built and may be shared.
type CellSaddle struct {
	first     []int   // by person: the first of its cells; one entry more
	firstLink []int   // by person: the first of its links; one entry more
	cells     []int32 // distinct coordinates
	stats     []cellStats
	links     []cellLink
}

// cellStats are the statistics of one cell i of a person.
type cellStats struct {
	a, b, c float32 // A_ii, b_i, C_ii
	links   int32   // how many A_ij beside the diagonal are not zero
}

// cellLink is an entry A_ij, j numbered among the person's cells.
type cellLink struct {
	j int32
	a float32
}

// NewCellSaddle compiles the gradients of s, which must have one-hot features,
// in time linear in its transitions.
func NewCellSaddle(s *Sample, w Weighting) *CellSaddle {
	persons := s.Data.Persons()
	g := &CellSaddle{first: make([]int, persons+1), firstLink: make([]int, persons+1)}
	c := cellCompiler{s: s, w: w, local: make([]int32, s.Dim)}
	for i := range c.local {
		c.local[i] = NoCell
	}
	for p := range persons {
		c.person(g, p)
		g.first[p+1], g.firstLink[p+1] = len(g.cells), len(g.links)
	}
	return g
}

// Cells returns the coordinates, each once, of theta and of w that one person's
// gradient reads and writes; elsewhere it is zero. The slice belongs to g.
func (g *CellSaddle) Cells(person int) []int32 {
	lo, hi := g.first[person], g.first[person+1]
	return g.cells[lo:hi:hi]
}

// Gradient writes one person's gradient, as [Saddle.Person] defines it, at the
// person's cells: position k of every slice belongs to Cells(person)[k], and all
// four have the length of Cells(person). theta and w are read, dTheta and dW
// written.
func (g *CellSaddle) Gradient(dTheta, dW, theta, w []float64, person int) {
	lo, hi := g.first[person], g.first[person+1]
	stats := g.stats[lo:hi]
	links := g.links[g.firstLink[person]:g.firstLink[person+1]]
	n := len(stats)
	dTheta, dW, theta, w = dTheta[:n], dW[:n], theta[:n], w[:n]
	clear(dTheta)
	for i := range stats {
		s := &stats[i]
		wi := w[i]
		sum := float64(s.a)*theta[i] + float64(s.c)*wi - float64(s.b)
		dTheta[i] -= float64(s.a) * wi
		for _, l := range links[:s.links] {
			sum += float64(l.a) * theta[l.j]
			dTheta[l.j] -= float64(l.a) * wi
		}
		links = links[s.links:]
		dW[i] = sum
	}
}

// cellCompiler compiles one person after another.
type cellCompiler struct {
	s     *Sample
	w     Weighting
	local []int32 // by coordinate: its number among the person's cells, or NoCell
	cells []int32
	// By cell of the person, and by pair of cells.
	a, b, c []float64
	pairs   []cellPair
	// The pairs in order of their row, and scratch for merging a row.
	starts []int
	sorted []cellPair
	at     []int
}

type cellPair struct {
	i, j int32
	a    float64
}

func (c *cellCompiler) person(g *CellSaddle, person int) {
	c.cells, c.pairs = c.cells[:0], c.pairs[:0]
	c.a, c.b, c.c = c.a[:0], c.b[:0], c.c[:0]
	lo, hi := c.s.Episodes(person)
	for e := lo; e < hi; e++ {
		from, to := c.s.Transitions(e)
		each := 1 / float64(hi-lo)
		if c.w == ByTrajectory {
			each /= float64(to - from)
		}
		for row := from; row < to; row++ {
			c.add(row, each)
		}
	}
	c.emit(g)
	for _, cell := range c.cells {
		c.local[cell] = NoCell
	}
}

// number returns the number of a coordinate among the person's cells.
func (c *cellCompiler) number(cell int32) int32 {
	k := c.local[cell]
	if k == NoCell {
		k = int32(len(c.cells))
		c.local[cell] = k
		c.cells = append(c.cells, cell)
		c.a, c.b, c.c = append(c.a, 0), append(c.b, 0), append(c.c, 0)
	}
	return k
}

func (c *cellCompiler) add(row int, each float64) {
	s := c.s
	if s.Cell[row] == NoCell {
		return
	}
	i := c.number(s.Cell[row])
	weight := each * s.Ratio(row)
	c.a[i] += weight
	c.b[i] += weight * s.Data.Reward[row]
	c.c[i] += each
	p := s.Next[row]
	if p < 0 || s.Cell[p] == NoCell {
		return
	}
	j := c.number(s.Cell[p])
	if j == i {
		c.a[i] -= weight * s.Gamma(row)
	} else {
		c.pairs = append(c.pairs, cellPair{i, j, -weight * s.Gamma(row)})
	}
}

// emit merges equal pairs and appends the person's statistics.
func (c *cellCompiler) emit(g *CellSaddle) {
	c.sort()
	n := len(c.cells)
	c.at = grow(c.at, n)
	for j := range c.at {
		c.at[j] = -1
	}
	for i := range n {
		row := len(g.links)
		for _, p := range c.sorted[c.starts[i]:c.starts[i+1]] {
			if k := c.at[p.j]; k >= row {
				// Two float32 sums of one entry: rounded like any stored statistic.
				g.links[k].a += float32(p.a)
				continue
			}
			c.at[p.j] = len(g.links)
			g.links = append(g.links, cellLink{p.j, float32(p.a)})
		}
		g.stats = append(g.stats, cellStats{float32(c.a[i]), float32(c.b[i]), float32(c.c[i]), int32(len(g.links) - row)})
	}
	g.cells = append(g.cells, c.cells...)
}

// sort puts the pairs in order of their row by counting.
func (c *cellCompiler) sort() {
	n := len(c.cells)
	c.starts = grow(c.starts, n+2)
	clear(c.starts)
	// starts[i+2] counts row i; after the running sum starts[i+1] is where row i
	// begins, and filling moves it to where row i+1 begins.
	for _, p := range c.pairs {
		c.starts[p.i+2]++
	}
	for i := range n {
		c.starts[i+2] += c.starts[i+1]
	}
	c.sorted = grow(c.sorted, len(c.pairs))
	for _, p := range c.pairs {
		c.sorted[c.starts[p.i+1]] = p
		c.starts[p.i+1]++
	}
}

// grow returns a slice of length n, with room reused.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, 2*n)
	}
	return s[:n]
}
