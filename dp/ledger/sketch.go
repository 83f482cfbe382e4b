package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
)

// A sketch tells how many units two sets of data have in common, whatever files
// they come from: the smallest hashes of the units' ids, under a key of the store
// (MinHash with one hash function: Broder 1997, "On the resemblance and
// containment of documents"). Of the union of two sets the sketches give the
// smallest hashes, and of which set each is: a uniform sample of the union, without
// replacement. Sketches are for the steward alone. They stand beside the chain and
// are in no entry, export, backup or release.
type sketch []uint64 // ascending, no two equal

// sketchSize is how many hashes a sketch has at most. A set with fewer units is in
// it whole.
const sketchSize = 4096

// fewest is how many units of a set have to be in the sample for its share to be
// judged, unless the sample is all there is.
const fewest = 32

// mostly is the share of a set's units from which on, not included, another set is
// said to hold mostly the same. A set that shares a quarter is taken for one that
// does with a probability below 1e-3 (binomial with 32 and 1/4), and of any larger
// sample far below.
const mostly = 0.5

// sketchOf hashes ids.
func sketchOf(key []byte, ids iter.Seq[string]) sketch {
	mac := hmac.New(sha256.New, subkey(key, "sketch"))
	var s sketch
	var sum []byte
	highest := uint64(math.MaxUint64)
	for id := range ids {
		mac.Reset()
		mac.Write([]byte(id))
		sum = mac.Sum(sum[:0])
		h := binary.BigEndian.Uint64(sum)
		if h > highest {
			continue
		}
		if s = append(s, h); len(s) == 4*sketchSize {
			s = s.trimmed()
			highest = s[len(s)-1]
		}
	}
	return s.trimmed()
}

// trimmed keeps the smallest hashes.
func (s sketch) trimmed() sketch {
	slices.Sort(s)
	s = slices.Compact(s)
	return s[:min(len(s), sketchSize)]
}

// join is the sketch of the union of two sets.
func (s sketch) join(other sketch) sketch { return slices.Concat(s, other).trimmed() }

// common is what a sample of the union of two sets shows.
type common struct {
	a, b, both int
	whole      bool // the sample is the union
}

// with counts, of the smallest hashes of the union, those of either set.
func (s sketch) with(other sketch) common {
	union := s.join(other)
	c := common{whole: len(union) < sketchSize}
	for _, h := range union {
		_, inA := slices.BinarySearch(s, h)
		_, inB := slices.BinarySearch(other, h)
		if inA {
			c.a++
		}
		if inB {
			c.b++
		}
		if inA && inB {
			c.both++
		}
	}
	return c
}

// overlap is the estimated part of n sampled units that are in both sets, and its
// standard error; judged is false where too few were sampled.
func (c common) overlap(n int) (part, deviation float64, judged bool) {
	if n == 0 || n < fewest && !c.whole {
		return 0, 0, false
	}
	part = float64(c.both) / float64(n)
	if !c.whole {
		deviation = math.Sqrt(part * (1 - part) / float64(n))
	}
	return part, deviation, true
}

// alarm says that one of two sets is mostly in the other; empty where not.
func (c common) alarm(dataset, unit string) string {
	say := func(n int, of, in string) (string, float64) {
		part, deviation, judged := c.overlap(n)
		if !judged || part <= mostly {
			return "", 0
		}
		return fmt.Sprintf("about %.0f%% (standard error %.1f%%) of the %ss of %s are in %s too, by their ids", 100*part, 100*deviation, unit, of, in), part
	}
	named := fmt.Sprintf("dataset %q", dataset)
	here, part := say(c.a, "these data", named)
	there, other := say(c.b, named, "these data")
	if other > part {
		return there
	}
	return here
}

func (s sketch) encode() []byte {
	body := make([]byte, 0, 8*len(s))
	for _, h := range s {
		body = binary.BigEndian.AppendUint64(body, h)
	}
	return body
}

// parseSketch reads a sketch as it is stored.
func parseSketch(body []byte) (sketch, error) {
	if len(body)%8 != 0 || len(body) > 8*sketchSize {
		return nil, fmt.Errorf("a sketch of %d bytes", len(body))
	}
	s := make(sketch, len(body)/8)
	for i := range s {
		if s[i] = binary.BigEndian.Uint64(body[8*i:]); i > 0 && s[i] <= s[i-1] {
			return nil, fmt.Errorf("a sketch out of order")
		}
	}
	return s, nil
}

// recognise notes who is in the data, and warns of, or refuses, data that are
// mostly of units of another dataset. Those in known are reported already.
func (l *Ledger) recognise(tx *store.Tx, s sketch, known []string) (warnings []string, err error) {
	if len(s) == 0 {
		return nil, nil
	}
	if err := l.noteSketch(tx, s); err != nil {
		return nil, err
	}
	err = tx.EachSketch(func(dataset string, body []byte) error {
		other, err := parseSketch(body)
		if err != nil {
			return store.Abort(l.tampered(-1, "of dataset %q it holds %v", dataset, err))
		}
		alarm := s.with(other).alarm(dataset, l.open.Unit)
		switch {
		case alarm == "" || slices.Contains(known, dataset):
			return nil
		case l.open.RefuseCopies:
			return store.Abort(fmt.Errorf("%w: %s; charge that dataset, or create the ledger of %q without refusing copies", ErrCopy, alarm, l.open.Dataset))
		}
		warnings = append(warnings, fmt.Sprintf("%s: the losses of one %s add up over both", alarm, l.open.Unit))
		return nil
	})
	return warnings, err
}

// noteSketch joins the units of a charge to those of the dataset's charges before.
func (l *Ledger) noteSketch(tx *store.Tx, s sketch) error {
	body, err := tx.Sketch()
	if err != nil {
		return err
	}
	old, err := parseSketch(body)
	if err != nil {
		return store.Abort(l.tampered(-1, "it holds %v", err))
	}
	joined := s.join(old)
	if slices.Equal(joined, old) {
		return nil
	}
	return tx.SetSketch(joined.encode())
}
