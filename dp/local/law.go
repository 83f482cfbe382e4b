package local

// mostWalked bounds the bits of a report whose distribution is computed: each bit multiplies the
// number of paths by four.
const mostWalked = 3

// Law is the exact probability of every report that a randomiser can make for x: it follows every
// random decision of the code that Randomize runs. ok is false for randomisers with too many
// decisions: all but [SignPRS] and [PRS] with at most three bits.
func Law(r Vector, x []float64) (reports map[string]float64, ok bool) {
	switch r := r.(type) {
	case SignPRS:
		if r.rows <= mostWalked {
			return law(func(c coins) []byte { return r.randomize(nil, x, signPlace, c) }), true
		}
	case PRS:
		if r.rows <= mostWalked {
			return law(func(c coins) []byte { return r.randomize(nil, x, r.place, c) }), true
		}
	}
	return nil, false
}

// Law is the exact probability of both reports on x.
func (o OneBit) Law(x float64) map[string]float64 {
	return law(func(c coins) []byte { return o.randomize(nil, x, c) })
}

// walk implements coins by going through every sequence of decisions once: each run of the
// randomiser takes one path of its decision tree, and weight is that path's probability. The
// distribution of a report is then known without sampling.
type walk struct {
	choice, size []int
	depth        int
	weight       float64
}

func (w *walk) decide(n int) int {
	if w.depth == len(w.choice) {
		w.choice, w.size = append(w.choice, 0), append(w.size, n)
	}
	c := w.choice[w.depth]
	w.depth++
	return c
}

func (w *walk) bernoulli(p float64) bool {
	if !(p >= 0 && p <= 1) {
		panic("not a probability")
	}
	if p == 0 || p == 1 {
		return p == 1
	}
	if w.decide(2) == 1 {
		w.weight *= p
		return true
	}
	w.weight *= 1 - p
	return false
}

func (w *walk) below(threshold uint64) bool { return w.bernoulli(lieProbability(threshold)) }

func (w *walk) uniform(n uint64) uint64 {
	w.weight /= float64(n)
	return uint64(w.decide(int(n)))
}

// law returns the probability of every report that run can make.
func law(run func(c coins) []byte) map[string]float64 {
	out := map[string]float64{}
	w := &walk{}
	for {
		w.depth, w.weight = 0, 1
		out[string(run(w))] += w.weight
		i := len(w.choice) - 1
		for i >= 0 && w.choice[i] == w.size[i]-1 {
			i--
		}
		if i < 0 {
			return out
		}
		w.choice, w.size = w.choice[:i+1], w.size[:i+1]
		w.choice[i]++
	}
}
