package trajectory

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
)

// Vocabulary is the public list of the values that a column may hold, and the
// number that is read for each. It is known before the data are: a value that it
// does not list is a fault of its row alone.
type Vocabulary struct {
	// Words are the values, as text.
	Words []string
	// Numeric tells that the values are numbers and compared as such: 1, 1.0 and
	// 1e0 are one of them, false is 0 and true is 1. Otherwise they are compared as
	// text, byte by byte.
	Numeric bool
	// Codes is the number read for each of Words; nil means 0, 1, 2, ...
	Codes []float64
	// OneHot reads an observation as one column a word, which is 1 where the value
	// is that word, else 0. The columns are named as by [Vocabulary.Column].
	OneHot bool
	// Other says that the last of Words stands for every value of an observation that the
	// others do not list, and for a missing one.
	Other bool `json:",omitempty"`
}

// listed are the words that are values.
func (v Vocabulary) listed() []string {
	if v.Other {
		return v.Words[:len(v.Words)-1]
	}
	return v.Words
}

// Column names the column of word i of a one-hot observation: its name, an
// underscore and the word, such as obs_stage_4.
func (v Vocabulary) Column(name string, i int) string { return name + "_" + v.Words[i] }

// Code is the number read for word i.
func (v Vocabulary) Code(i int) float64 {
	if v.Codes == nil {
		return float64(i)
	}
	return v.Codes[i]
}

// validate checks a vocabulary for a column of a canonical name or an observation.
func (v Vocabulary) validate(name string) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: the vocabulary of %s "+format, append([]any{ErrOptions, name}, args...)...)
	}
	switch {
	case len(v.Words) == 0 || len(v.listed()) == 0:
		return fail("is empty; list the values that the column may hold")
	case v.Other && canEncode(name):
		return fail("has a category for all other values, which is for observations alone")
	case v.Codes != nil && len(v.Codes) != len(v.Words):
		return fail("has %d words and %d numbers for them", len(v.Words), len(v.Codes))
	case v.OneHot && v.Codes != nil:
		return fail("is one-hot, and gives numbers; choose one of the two")
	case slices.ContainsFunc(v.Codes, func(c float64) bool { return !finite(c) }):
		return fail("gives a number that is not finite")
	}
	if err := v.distinct(fail); err != nil {
		return err
	}
	codes := make([]float64, len(v.Words))
	for i := range codes {
		codes[i] = v.Code(i)
	}
	switch name {
	case canon.Action:
		slices.Sort(codes)
		bad := func(c float64) bool { return c < 0 || c > math.MaxInt32 || c != math.Trunc(c) }
		if v.OneHot || slices.ContainsFunc(codes, bad) || len(slices.Compact(codes)) < len(v.Words) {
			return fail("must give every action a number of its own, 0 or above")
		}
	case canon.Terminated, canon.Truncated:
		if v.OneHot || slices.ContainsFunc(codes, func(c float64) bool { return c != 0 && c != 1 }) {
			return fail("must say 0 or 1 (false or true) of every value")
		}
	case canon.Reward:
		if v.OneHot {
			return fail("is one-hot; give every value its number")
		}
	}
	return nil
}

// distinct refuses a word that is there twice, or is no number where all are.
func (v Vocabulary) distinct(fail func(string, ...any) error) error {
	words, numbers := map[string]bool{}, map[float64]bool{}
	for i, w := range v.Words {
		twice := words[w]
		words[w] = true
		if v.Numeric && i < len(v.listed()) {
			n, err := strconv.ParseFloat(w, 64)
			if err != nil || !finite(n) {
				return fail("is one of numbers, and %q is none", w)
			}
			twice = numbers[n]
			numbers[n] = true
		}
		switch {
		case twice:
			return fail("lists %q twice", w)
		case w == "":
			return fail("lists the empty text, which is a missing value; leave it out")
		}
	}
	return nil
}

// validateEncode checks the vocabularies as a whole.
func (o *Options) validateEncode() error {
	columns := map[string]string{} // of one-hot observations: whose they are
	for name, v := range o.Encode {
		bare := strings.TrimPrefix(name, canon.PrefixObs)
		_, both := o.Encode[canon.PrefixObs+name]
		switch {
		case bare == "" || both:
			return fmt.Errorf("%w: %q has two vocabularies, or no name", ErrOptions, name)
		case canon.Has(name) && !strings.HasPrefix(name, canon.PrefixObs) && !canEncode(name):
			return fmt.Errorf("%w: %s cannot have a vocabulary; the action, the reward, terminated, truncated and observations can", ErrOptions, name)
		}
		if err := v.validate(name); err != nil {
			return err
		}
		for _, w := range v.Words {
			if slices.Contains(o.NA, w) {
				return fmt.Errorf("%w: the vocabulary of %s lists %q, which is a marker of missing values; leave one of them out", ErrOptions, name, w)
			}
		}
		if !v.OneHot {
			continue
		}
		for _, n := range o.Observations {
			if strings.TrimPrefix(n, canon.PrefixObs) == bare {
				return fmt.Errorf("%w: %s is one-hot and has a column for each value; name those that are wanted, such as %s", ErrOptions, n, v.Column(n, 0))
			}
		}
		for i := range v.Words {
			column := v.Column(bare, i)
			if other, twice := columns[column]; twice {
				return fmt.Errorf("%w: one-hot columns of %s and %s have the name %s; rename one in data.columns", ErrOptions, other, name, column)
			}
			columns[column] = name
		}
	}
	return nil
}

func canEncode(name string) bool {
	switch name {
	case canon.Action, canon.Reward, canon.Terminated, canon.Truncated:
		return true
	}
	return false
}
