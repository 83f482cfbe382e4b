//go:build slow && linux

// What the soak says of the server in the end: nothing of it has grown, and nothing that was acknowledged is missing.

package aggregator_test

import (
	"slices"
	"time"
)

// report prints a state a minute, and how long uploads took.
func (s *soak) report(samples []state) {
	minute := -1
	for _, x := range samples {
		if m := int(x.at.Minutes()); m != minute {
			minute = m
			s.t.Log(x)
		}
	}
	for m := 0; m <= minute; m++ {
		if of, ok := s.took.Load(m); ok {
			all := of.(*times).all
			s.t.Logf("minute %d: %d uploads, half within %v, 99%% within %v", m, len(all), quantile(all, .5), quantile(all, .99))
		}
	}
}

// flat holds the last third of the time against the second.
func (s *soak) flat(samples []state, length time.Duration) {
	var second, last []state
	for _, x := range samples {
		switch {
		case x.at > length*2/3:
			last = append(last, x)
		case x.at > length/3:
			second = append(second, x)
		}
	}
	if len(second) < 10 || len(last) < 10 {
		s.t.Fatalf("%d and %d samples are too few", len(second), len(last))
	}
	of := func(all []state, what func(state) float64, q float64) float64 {
		var xs []float64
		for _, x := range all {
			xs = append(xs, what(x))
		}
		slices.Sort(xs)
		return xs[int(q*float64(len(xs)-1))]
	}
	for _, c := range []struct {
		name          string
		what          func(state) float64
		q             float64 // 1: the largest
		factor, extra float64
		unit          float64
	}{
		{"MiB of resident memory", func(x state) float64 { return x.resident }, 1, 1.1, 8 * mib, mib},
		{"MiB of write-ahead log", func(x state) float64 { return x.wal }, 1, 1.25, mib, mib},
		{"goroutines", func(x state) float64 { return x.goroutines }, .5, 1.25, 20, 1},
		{"files", func(x state) float64 { return x.files }, .5, 1.25, 20, 1},
	} {
		before, after := of(second, c.what, c.q), of(last, c.what, c.q)
		bound := c.factor*before + c.extra
		s.t.Logf("%s: %.1f in the second third, %.1f in the last; bound %.1f", c.name, before/c.unit, after/c.unit, bound/c.unit)
		if after > bound {
			s.t.Errorf("%s grew from %.1f to %.1f; want %.1f at most", c.name, before/c.unit, after/c.unit, bound/c.unit)
		}
	}
}

// empty waits until what the devices held is given back.
func (s *soak) empty(first state) {
	for until := time.Now().Add(2 * time.Minute); ; pause(s.t.Context(), 100*time.Millisecond) {
		x := s.state()
		// A connection more may be that of the device that follows the rounds.
		if x.goroutines <= first.goroutines+10 && x.files <= first.files+10 && x.connections <= first.connections+2 {
			s.t.Log("all have gone:", x)
			return
		}
		if time.Now().After(until) {
			s.t.Errorf("two minutes after all have gone: %v; at first %v", x, first)
			return
		}
	}
}

func quantile(all []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[int(q*float64(len(sorted)-1))].Round(10 * time.Microsecond)
}
