package ingest

// perChunk is how many entries a chunk of a list has. Lists grow by chunks, so that nothing
// is copied and little is asked for that is not needed.
const perChunk = 1 << 12

// integers is a list of whole numbers. Those of a chunk that are near each other take four
// bytes each.
type integers struct {
	chunks []integerChunk
	n      int
}

type integerChunk struct {
	base int64
	near []int32 // what is to be added to base
	far  []int64 // in place of near, where one is not near
}

func (l *integers) add(v int64) {
	if l.n%perChunk == 0 {
		c := integerChunk{base: v}
		if l.n > 0 {
			c.near = make([]int32, 0, perChunk)
		}
		l.chunks = append(l.chunks, c)
	}
	l.n++
	c := &l.chunks[len(l.chunks)-1]
	d := v - c.base // which may wrap around, as its addition does
	if c.far == nil && int64(int32(d)) == d {
		c.near = append(c.near, int32(d))
		return
	}
	c.widen()
	c.far = append(c.far, v)
}

func (c *integerChunk) widen() {
	if c.far != nil {
		return
	}
	c.far = make([]int64, 0, perChunk)
	for _, d := range c.near {
		c.far = append(c.far, c.base+int64(d))
	}
	c.near = nil
}

func (l *integers) at(i int) int64 {
	c := &l.chunks[i/perChunk]
	if c.far != nil {
		return c.far[i%perChunk]
	}
	return c.base + int64(c.near[i%perChunk])
}

// all are the numbers, in order.
func (l *integers) all() []int64 {
	out := make([]int64, l.n)
	for i := range out {
		out[i] = l.at(i)
	}
	return out
}

func (l *integers) set(i int, v int64) {
	c := &l.chunks[i/perChunk]
	if d := v - c.base; c.far == nil && int64(int32(d)) == d {
		c.near[i%perChunk] = int32(d)
		return
	}
	c.widen()
	c.far[i%perChunk] = v
}
