package ingest

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// words is a column whose values stand for numbers. The format delivers it once, as
// keys or as numbers; a batch is then translated value by value, without a look at
// any other.
type words struct {
	field, vocabulary string
	// key is where the text is; -1 where it is a number, at the offset in blkCoded.
	key, offset int
	text        func(key []byte) float64    // the number of a word, or unlisted
	number      func(value float64) float64 // likewise
	none        float64                     // the number of a missing value
	outs        []out
}

// out is where the number of a word goes: as it is, or 1 for one word and 0 for
// the others.
type out struct {
	block, offset int
	word          int // allWords: as it is
	code          float64
}

// hot is the one-hot column of a word of a vocabulary.
type hot struct {
	key  string // of Options.Encode; empty without a vocabulary
	word int
	// missing tells of an observation that it says whether another one, that at the place of, is missing.
	missing bool
	of      int
	// filled tells that a missing value is a category, whose number here is fill.
	filled bool
	fill   float64
}

// allWords stands for no word in particular.
const allWords = -1

// unlistedBits is a NaN that stands for a value that the vocabulary does not list.
// Checks find it where they look for numbers that are not finite, so that of several
// faults the first row's is told.
const unlistedBits = 0x7ff8_0000_0000_07a3

func unlisted() float64 { return math.Float64frombits(unlistedBits) }

func isUnlisted(v float64) bool { return math.Float64bits(v) == unlistedBits }

// vocabulary is that of a canonical name or an observation, and its name in the
// options, empty if it has none.
func (x *binder) vocabulary(name string) (string, trajectory.Vocabulary) {
	for _, key := range []string{name, canon.PrefixObs + name, strings.TrimPrefix(name, canon.PrefixObs)} {
		if v, ok := x.o.Encode[key]; ok {
			return key, v
		}
	}
	return "", trajectory.Vocabulary{}
}

// value asks for a column of one number a row, or of words that stand for one.
func (x *binder) value(field, block int, name string) error {
	if key, _ := x.vocabulary(name); key != "" {
		return x.encode(field, block, hot{key: key, word: allWords})
	}
	return x.pick(field, block)
}

// oneHotNamed finds the one-hot column of a name.
func (x *binder) oneHotNamed(name string) (hot, bool) {
	for key, v := range x.o.Encode {
		if !v.OneHot || x.find(key) < 0 {
			continue
		}
		for i := range v.Words {
			if strings.TrimPrefix(v.Column(key, i), canon.PrefixObs) == strings.TrimPrefix(name, canon.PrefixObs) {
				return hotOf(key, i, v), true
			}
		}
	}
	return hot{}, false
}

// vocabularies refuses a vocabulary of a column that is not there: its name may be
// mistyped, and the column that was meant be read as it is.
func (x *binder) vocabularies() error {
	for _, key := range sortedKeys(x.o.Encode) {
		switch key {
		case x.o.OutcomeEvent: // of another file
		case canon.Action, canon.Reward, canon.Terminated, canon.Truncated: // asked for where they are needed
		default:
			if x.find(key) < 0 {
				return x.fail(key, "the file has no such column, and data.encode has a vocabulary for it", "correct the name, or map it to a column of the file"+x.nearest(key))
			}
		}
	}
	return nil
}

// means refuses a public mean of a column that is not there: its name may be mistyped, and
// what is missing in the column that was meant be replaced by something else.
func (x *binder) means() error {
	for _, key := range sortedKeys(x.o.Means) {
		if _, hot := x.oneHotNamed(key); !hot && x.find(key) < 0 && key != x.o.OutcomeEvent && !slices.Contains(x.b.observations, key) {
			return x.fail(key, "the file has no such column, and data.means has a number for it", "correct the name"+x.nearest(key))
		}
	}
	return nil
}

// encode asks for a column of words and puts their numbers into a block.
func (x *binder) encode(field, block int, h hot) error {
	v := x.o.Encode[h.key]
	o := out{block: block, offset: x.b.width[block], word: h.word}
	if h.word != allWords {
		o.code = v.Code(h.word)
	}
	w, err := x.coded(field, block, h.key, v)
	if err != nil {
		return err
	}
	w.outs = append(w.outs, o)
	x.use(field, block, x.fields[field].Name)
	return nil
}

// coded is a column of words, which is asked for once.
func (x *binder) coded(field, block int, key string, v trajectory.Vocabulary) (*words, error) {
	name := x.fields[field].Name
	for _, w := range x.b.words {
		if w.field == name && w.vocabulary == key {
			return w, nil
		}
	}
	w := &words{field: name, vocabulary: key, key: -1, none: table.Null()}
	if v.Other {
		w.none = v.Code(len(v.Words) - 1)
	}
	p := table.Pick{Field: field, Found: block == blkObs && x.o.Observations == nil, Part: x.part(block)}
	if v.Numeric {
		var err error
		if p.List, err = x.single(field); err != nil {
			return nil, err
		}
		w.number, w.offset = numbers(v), x.b.width[blkCoded]
		p.Kind, p.Block, p.Offset, p.Advice = table.Number, blkCoded, w.offset, "put the values of its vocabulary in quotes, if they are text"
		x.b.width[blkCoded]++
		x.b.column[blkCoded] = append(x.b.column[blkCoded], name)
	} else {
		w.text, w.key = texts(v), x.wordKey()
		p.Kind, p.Word, p.Block, p.Advice = table.Key, true, w.key, "write the values of its vocabulary without quotes, if they are numbers"
	}
	x.b.picks, x.b.words = append(x.b.picks, p), append(x.b.words, w)
	return w, nil
}

// wordKey is the next key of a batch that is of words.
func (x *binder) wordKey() int {
	n := keys
	for _, w := range x.b.words {
		if w.key >= 0 {
			n++
		}
	}
	for _, j := range x.b.joins {
		n += len(j.parts)
	}
	return n
}

// dates reads a column of dates as numbers that rise with them.
func (x *binder) dates(field int) {
	if f := x.fields[field]; f.Dated {
		x.b.clock = map[bool]string{true: "moments", false: "times without a zone"}[f.Zoned]
		x.b.picks = append(x.b.picks, table.Pick{Field: field, Kind: table.Time, Block: blkStep, Offset: x.b.width[blkStep], Part: x.part(blkStep)})
		x.use(field, blkStep, f.Name)
		return
	}
	parse := x.o.Steps.Time()
	w := &words{field: x.fields[field].Name, key: x.wordKey(), none: table.Null(), outs: []out{{block: blkStep, word: allWords}}}
	w.text = func(key []byte) float64 {
		if v, ok := parse(string(key)); ok {
			return v
		}
		return unlisted()
	}
	x.b.picks = append(x.b.picks, table.Pick{Field: field, Kind: table.Key, Word: true, Block: w.key, Part: x.part(blkStep)})
	x.b.words = append(x.b.words, w)
	x.use(field, blkStep, w.field)
}

// repeated reports whether an observation is one of the one-hot columns of another one
// before it, so that what is wrong with the one is wrong with the other.
func (b *binding) repeated(observation int) bool {
	h := b.hot[observation]
	return h.missing || h.word != allWords && slices.ContainsFunc(b.hot[:observation], func(before hot) bool { return before.key == h.key })
}

// stands reports whether the numbers of an observation stand for words, so that 0 may be
// one of them. In one-hot columns 0 says that it is not that word.
func (b *binding) stands(observation int) bool {
	h := b.hot[observation]
	return h.key != "" && h.word == allWords
}

// isDate reports whether a column holds dates.
func (b *binding) isDate(column string) bool {
	return slices.ContainsFunc(b.words, func(w *words) bool { return w.vocabulary == "" && w.field == column })
}

// texts looks words up.
func texts(v trajectory.Vocabulary) func([]byte) float64 {
	codes := make(map[string]float64, len(v.Words))
	for i, w := range v.Words {
		codes[w] = v.Code(i)
	}
	rest := rest(v)
	return func(key []byte) float64 {
		if c, ok := codes[string(key)]; ok {
			return c
		}
		return rest
	}
}

// rest is what a value is read as that the vocabulary does not list.
func rest(v trajectory.Vocabulary) float64 {
	if v.Other {
		return v.Code(len(v.Words) - 1)
	}
	return unlisted()
}

// numbers looks numbers up.
func numbers(v trajectory.Vocabulary) func(float64) float64 {
	codes := make(map[float64]float64, len(v.Words))
	for i, w := range v.Words {
		if v.Other && i == len(v.Words)-1 {
			continue // no number
		}
		n, _ := strconv.ParseFloat(w, 64) // the options are valid
		codes[n] = v.Code(i)
	}
	rest := rest(v)
	return func(value float64) float64 {
		switch c, ok := codes[value]; {
		case ok:
			return c
		case table.IsNull(value):
			return value
		}
		return rest
	}
}

// translate replaces the words of a batch by their numbers, and joins ids.
func (b *binding) translate(batch *table.Batch) {
	b.joinIDs(batch)
	for _, w := range b.words {
		if w.key < 0 {
			coded := &batch.Blocks[blkCoded]
			for row := range batch.Rows {
				v := coded.Values[row*coded.Width+w.offset]
				w.write(batch, row, w.number(v), table.IsNull(v))
			}
			continue
		}
		runs := &batch.Keys[w.key]
		for run, row := 0, 0; row < batch.Rows; run++ {
			code, key := table.Null(), runs.Key(run)
			if len(key) > 0 {
				code = w.text(key)
			}
			for ; row < runs.End(run); row++ {
				w.write(batch, row, code, len(key) == 0)
			}
		}
	}
	b.indicate(batch, blkObs)
	b.indicate(batch, blkNext)
}

// write puts the number of a row's word where it belongs. What follows a decision may be
// missing without being any value.
func (w *words) write(batch *table.Batch, row int, code float64, missing bool) {
	for _, o := range w.outs {
		v := code
		if missing && o.block != blkNext {
			v = w.none
		}
		code := v
		if o.word != allWords && code == code {
			v = 0
			if code == o.code {
				v = 1
			}
		}
		block := &batch.Blocks[o.block]
		block.Values[row*block.Width+o.offset] = v
	}
}

// nearest lists, for a remedy, the columns of the file whose names are most like one
// that it does not have.
func (x *binder) nearest(name string) string {
	type near struct {
		name string
		far  int
	}
	var all []near
	for _, f := range x.fields {
		if d := distance(strings.ToLower(name), strings.ToLower(f.Name)); f.Name != "" && d <= max(1, len(name)/2) {
			all = append(all, near{f.Name, d})
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortStableFunc(all, func(a, b near) int { return a.far - b.far })
	names := make([]string, min(len(all), 3))
	for i := range names {
		names[i] = all[i].name
	}
	return " (most like it: " + strings.Join(names, ", ") + ")"
}

// distance is the number of bytes to insert, delete or replace that makes b of a
// (Levenshtein 1966). Names of more than 64 bytes are far from all others.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
