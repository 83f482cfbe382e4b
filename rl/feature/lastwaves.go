package feature

import "math"

// lastWaves are the features of observations that were computed last: logs of rounded
// measurements have the same ones again and again. It gives up where they do not.
type lastWaves struct {
	keys         []uint64 // of each place, the bits of an observation's columns
	used         []bool
	waves        []float64
	asked, found int
	off          bool
}

const (
	lastBits    = 12
	mostLast    = 1 << 19 // features that are kept
	lastAtFirst = 1 << 14 // lookups after which at least half must have been found
)

// newLastWaves is nil where the features are too many.
func newLastWaves(columns, dim int) *lastWaves {
	if dim<<lastBits > mostLast {
		return nil
	}
	return &lastWaves{keys: make([]uint64, columns<<lastBits), used: make([]bool, 1<<lastBits), waves: make([]float64, dim<<lastBits)}
}

// find writes the features where they are known, and says where they belong.
func (l *lastWaves) find(dst, obs []float64, at []int) (place int, found bool) {
	if l.off {
		return 0, false
	}
	h := uint64(0)
	for _, j := range at {
		h = (h ^ math.Float64bits(obs[j])) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	place = int(h * 0x9e3779b97f4a7c15 >> (64 - lastBits))
	if l.asked++; l.asked == lastAtFirst && l.found < lastAtFirst/2 {
		l.off = true
	}
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
