package truthbench

// Worlds are problems of one decision in ten states, all as likely, whose reward is 0 or 1.
// They were made to break what the bands of dp-refine suppose: no outcome is rare, and
// no state is unlike the rest.
func Worlds() []Function {
	values := func(at func(state int) float64) []float64 {
		v := make([]float64, 10)
		for s := range v {
			v[s] = at(s)
		}
		return v
	}
	return []Function{
		world("rare outcomes, .01", values(func(int) float64 { return 0.01 })),
		world("0 and 1 in turn", values(func(s int) float64 { return float64(s % 2) })),
		world("five at .2, five at .8", values(func(s int) float64 {
			if s < 5 {
				return 0.2
			}
			return 0.8
		})),
		world("nine at .1, one at .9", values(func(s int) float64 {
			if s == 9 {
				return 0.9
			}
			return 0.1
		})),
	}
}

// world is worth v[s] in state s.
func world(name string, v []float64) Function {
	m := &mdp{gamma: 1, coin: true}
	for _, worth := range v {
		m.start = append(m.start, 1/float64(len(v)))
		m.next = append(m.next, [][]branch{click(worth)})
		m.behavior = append(m.behavior, []float64{1})
	}
	return m.function(name, 1, nil)
}
