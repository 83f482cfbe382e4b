package ingest

import (
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// An indicator is an observation that says of another one whether it is missing: of x it is
// x_missing, 1 where x is missing and 0 elsewhere.

// indicator keeps a place for one, of which indicators finds the observation.
func (x *binder) indicator(name string) {
	x.b.observations, x.b.hot = append(x.b.observations, name), append(x.b.hot, hot{word: allWords, missing: true})
	x.reserve(blkObs)
}

// reserve keeps a place for a number that is in no column.
func (x *binder) reserve(block int) {
	x.b.column[block] = append(x.b.column[block], "")
	x.b.width[block]++
}

// indicators finds what the indicators are of: an observation that is read, or any of the one-hot
// columns of one.
func (x *binder) indicators() error {
	bare := func(name string) string { return strings.TrimPrefix(name, canon.PrefixObs) }
	for k, h := range x.b.hot {
		if !h.missing {
			continue
		}
		of := bare(strings.TrimSuffix(x.b.observations[k], canon.SuffixMissing))
		x.b.hot[k].of = slices.IndexFunc(x.b.observations, func(name string) bool { return bare(name) == of })
		if x.b.hot[k].of < 0 {
			x.b.hot[k].of = slices.IndexFunc(x.b.hot, func(h hot) bool { return h.word != allWords && bare(h.key) == of })
		}
		if x.b.hot[k].of < 0 {
			return x.fail(x.b.observations[k], "says whether "+of+" is missing, which is not read", "name that observation too")
		}
	}
	return nil
}

// indicate fills the places of indicators in a batch. What is neither missing nor a number
// stays a fault.
func (b *binding) indicate(batch *table.Batch, block int) {
	if !b.has(block) {
		return
	}
	w, values := b.width[block], batch.Blocks[block].Values
	for k, h := range b.hot {
		if !h.missing {
			continue
		}
		for row := range batch.Rows {
			v := values[row*w+h.of]
			switch {
			case table.IsNull(v):
				v = 1
			case finite(v):
				v = 0
			}
			values[row*w+k] = v
		}
	}
}

// known tells that an observation after a decision says anything.
func (b *binding) known(values []float64) bool {
	for j, v := range values {
		if !table.IsNull(v) && !b.hot[j].missing {
			return true
		}
	}
	return false
}

// fillOther puts the category of all other values in the place of those that are missing.
func (b *binding) fillOther(values []float64) {
	for j, v := range values {
		if b.hot[j].filled && table.IsNull(v) {
			values[j] = b.hot[j].fill
		}
	}
}

// hotOf is the one-hot column of a word, or all words as one number.
func hotOf(key string, word int, v trajectory.Vocabulary) hot {
	h := hot{key: key, word: word, filled: v.Other}
	switch last := len(v.Words) - 1; {
	case !v.Other:
	case word == allWords:
		h.fill = v.Code(last)
	case word == last:
		h.fill = 1
	}
	return h
}
