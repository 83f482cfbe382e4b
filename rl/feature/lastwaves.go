package feature

import (
	"math"
	"math/bits"
)

// lastWaves are the features of observations that were computed last: logs of rounded
// measurements have the same ones again and again. It gives up where they do not, and else
// takes more memory.
type lastWaves struct {
	shift        int      // of a hash to one of the places
	keys         []uint64 // of each place, the bits of an observation's columns
	used         []bool
	waves        []float64
	asked, found int
	off          bool
}

const (
	firstBits   = 12      // of the number of places at first
	mostLast    = 1 << 19 // features that are kept
	lastAtFirst = 1 << 14 // lookups after which at least half must have been found
)

// newLastWaves is nil where the features are too many.
func newLastWaves(columns, dim int) *lastWaves {
	if dim<<firstBits > mostLast {
		return nil
	}
	l := new(lastWaves)
	l.make(columns, dim, firstBits)
	return l
}

func (l *lastWaves) make(columns, dim, places int) {
	l.shift = 64 - places
	l.keys, l.used, l.waves = make([]uint64, columns<<places), make([]bool, 1<<places), make([]float64, dim<<places)
}

// find writes the features where they are known, and says where they belong.
func (l *lastWaves) find(dst, obs []float64, at []int) (place int, found bool) {
	if l.off {
		return 0, false
	}
	if l.asked++; l.asked == lastAtFirst {
		if l.found < lastAtFirst/2 {
			l.off = true
			return 0, false
		}
		l.make(len(at), len(dst), bits.Len(uint(mostLast/len(dst)))-1)
	}
	h := uint64(0)
	for _, j := range at {
		h = (h ^ math.Float64bits(obs[j])) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	place = int(h * 0x9e3779b97f4a7c15 >> l.shift)
	if !l.used[place] {
		return place, false
	}
	keys := l.keys[place*len(at):][:len(at)]
	for i, j := range at {
		if keys[i] != math.Float64bits(obs[j]) {
			return place, false
		}
	}
	l.found++
	copy(dst, l.waves[place*len(dst):])
	return place, true
}

func (l *lastWaves) keep(place int, dst, obs []float64, at []int) {
	if l.off {
		return
	}
	l.used[place] = true
	for i, j := range at {
		l.keys[place*len(at)+i] = math.Float64bits(obs[j])
	}
	copy(l.waves[place*len(dst):], dst)
}
