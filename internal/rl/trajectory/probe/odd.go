package probe

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
)

// oddity is a way for a record to be odd.
type oddity struct {
	name string
	// value tells that it is a matter of values alone, which options may have repaired;
	// ids, order among others' rows and the form of a file are not.
	value bool
	// text tells that only formats made of text can hold it, json that NDJSON alone can,
	// bare that CSV can where nobody states that texts are in quotes.
	text, json, bare bool
	// apart tells that some of the rows come last of all.
	apart bool
	// spoil changes the rows of a person; where is one of them, c a column that is no id.
	spoil func(l *log, r *rand.Rand, rows []row, where row, c column) []row
}

// broken keys a row whose text is replaced as a whole.
const broken = "\x00"

// marked keys a row that is looked for.
const marked = "\x01"

// honest is the record that is not odd at all.
const honest = "honest"

// oddities are drawn from alike.
var oddities = []oddity{
	{name: honest, value: true, spoil: func(_ *log, _ *rand.Rand, rows []row, _ row, _ column) []row { return rows }},
	{name: "missing value", value: true, spoil: func(_ *log, _ *rand.Rand, rows []row, where row, c column) []row {
		where[c.name] = "null"
		return rows
	}},
	{name: "missing value in every row", value: true, spoil: func(_ *log, _ *rand.Rand, rows []row, _ row, c column) []row {
		for _, x := range rows {
			x[c.name] = "null"
		}
		return rows
	}},
	{name: "value out of range", value: true, spoil: func(_ *log, r *rand.Rand, rows []row, where row, c column) []row {
		where[c.name] = oneOf(r, "-1", "0", "2", "0.30000000000000004", "1e308", "-1e308", "5e-324", "99999999999", "1e9")
		return rows
	}},
	{name: "not a number", value: true, spoil: func(_ *log, r *rand.Rand, rows []row, where row, c column) []row {
		where[c.name] = oneOf(r, `"NaN"`, `"Infinity"`, `"-inf"`)
		return rows
	}},
	{name: "value of another type", value: true, text: true, spoil: func(_ *log, r *rand.Rand, rows []row, where row, c column) []row {
		where[c.name] = oneOf(r, `"abc"`, `" 7"`, `"2024-01-02"`, `"1,5"`, `"=1+1"`)
		return rows
	}},
	{name: "unknown word", value: true, spoil: func(_ *log, r *rand.Rand, rows []row, where row, c column) []row {
		where[c.name] = oneOf(r, `"never heard of"`, `""`, "7")
		return rows
	}},
	{name: "missing key", json: true, spoil: func(_ *log, _ *rand.Rand, rows []row, where row, c column) []row {
		delete(where, c.name)
		return rows
	}},
	{name: "list, object or true in place of a number or text", json: true, spoil: func(_ *log, r *rand.Rand, rows []row, where row, c column) []row {
		where[c.name] = oneOf(r, "[1,2]", "[]", `{"a":1}`, "true")
		return rows
	}},
	{name: "additional key", json: true, spoil: func(_ *log, r *rand.Rand, rows []row, where row, _ column) []row {
		where[oneOf(r, "obs_more", "next_obs_more", "prob_99", "action_probs", "observation", "remark")] = oneOf(r, "1", "[1,2,3]", "null")
		return rows
	}},
	{name: "duplicate row", value: true, spoil: func(_ *log, _ *rand.Rand, rows []row, where row, _ column) []row {
		return slices.Insert(rows, place(rows, where), maps.Clone(where))
	}},
	{name: "rows of an episode out of order", value: true, spoil: func(l *log, r *rand.Rand, rows []row, where row, _ column) []row {
		from, to := place(rows, where), place(rows, where)+1
		for from > 0 && l.oneEpisode(rows[from-1], where) {
			from--
		}
		for to < len(rows) && l.oneEpisode(rows[to], where) {
			to++
		}
		r.Shuffle(to-from, func(i, j int) { rows[from+i], rows[from+j] = rows[from+j], rows[from+i] })
		return rows
	}},
	{name: "interleaved episodes", spoil: func(_ *log, r *rand.Rand, rows []row, _ row, _ column) []row {
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		return rows
	}},
	{name: "step repeated or left out", value: true, spoil: func(l *log, r *rand.Rand, rows []row, where row, _ column) []row {
		for _, c := range l.columns {
			if c.kind == step {
				where[c.name] = l.step(0, r.IntN(5), r)
			}
		}
		return rows
	}},
	{name: "far more rows than other records", value: true, spoil: func(l *log, r *rand.Rand, rows []row, _ row, _ column) []row {
		first := len(rows)
		for range 30 {
			for _, c := range l.columns {
				if c.kind == episode {
					more := l.person(r, "odd")[0]
					more[c.name] = strconv.Quote("odd.more" + strconv.Itoa(first+len(rows)))
					rows = append(rows, more)
				}
			}
		}
		return rows
	}},
	{name: "an episode longer than other records", value: true, spoil: func(l *log, r *rand.Rand, rows []row, _ row, _ column) []row {
		var long []row
		for s := range 30 {
			long = append(long, l.decision(r, "odd", 90, s, s == 29, false))
		}
		if l.o.EpisodePerPerson {
			return long
		}
		return append(long, rows...)
	}},
	{name: "missing id", spoil: func(l *log, r *rand.Rand, rows []row, where row, _ column) []row {
		for _, c := range l.columns {
			if c.kind == unit || c.kind == episode && r.IntN(2) == 0 {
				where[c.name] = "null"
			}
		}
		return rows
	}},
	{name: "rows not together, after those of others", apart: true, spoil: func(_ *log, _ *rand.Rand, rows []row, _ row, _ column) []row { return rows }},
	{name: "free text with quotes and separators", value: true, spoil: func(l *log, r *rand.Rand, rows []row, _ row, _ column) []row {
		return l.write(r, rows, asJSON, quoting)
	}},
	{name: "free text with line ends", spoil: func(l *log, r *rand.Rand, rows []row, _ row, _ column) []row {
		return l.write(r, rows, asJSON, lineEnds)
	}},
	{name: "free text that is not put in quotes", bare: true, apart: true, spoil: func(l *log, r *rand.Rand, rows []row, _ row, _ column) []row {
		bare := func(text string) string { return unquoted + text }
		if r.IntN(2) == 0 {
			return l.write(r, rows, bare, quoting)
		}
		l.write(r, rows[:1], bare, quoting[:1])
		l.write(r, rows[len(rows)-1:], bare, quoting[1:2])
		return rows
	}},
	{name: "truncated line", text: true, spoil: func(_ *log, _ *rand.Rand, rows []row, where row, _ column) []row {
		where[broken] = "cut"
		return rows
	}},
	{name: "line with too many fields", text: true, spoil: func(_ *log, _ *rand.Rand, rows []row, where row, _ column) []row {
		where[broken] = "more"
		return rows
	}},
}

// unquoted begins a value that a program writes as it is.
const unquoted = "\x02"

// What a person may write into a field of free text.
var (
	quoting  = []string{`"tired`, `better"`, `"`, `""`, `"a","b"`, "a,b", ";", "\t", "|", "\r", "\u2028", "'", `\"`, `"}`}
	lineEnds = []string{"\n", "\r\n", "a\nb", "\"\n", "\n\"", "\"\n\""}
)

// write has a person write into the free text of some rows.
func (l *log) write(r *rand.Rand, rows []row, as func(string) string, texts []string) []row {
	name := l.columns[len(l.columns)-1].name
	for _, x := range rows {
		if r.IntN(4) > 0 {
			x[name] = as(oneOf(r, texts...))
		}
	}
	return rows
}

// asJSON is a text as JSON.
func asJSON(text string) string {
	quoted, _ := json.Marshal(text) // of a text it never fails
	return string(quoted)
}

// place is where a row is among rows.
func place(rows []row, where row) int {
	where[marked] = ""
	defer delete(where, marked)
	return slices.IndexFunc(rows, func(r row) bool { _, ok := r[marked]; return ok })
}

// named tells that a column says whose a row is.
func (l *log) named() bool {
	return slices.ContainsFunc(l.columns, func(c column) bool { return c.kind == unit || c.kind == episode })
}

// oneEpisode tells that two rows of a person are of one episode.
func (l *log) oneEpisode(a, b row) bool {
	for _, c := range l.columns {
		if c.kind == episode {
			return a[c.name] == b[c.name]
		}
	}
	return l.o.EpisodePerPerson || l.o.Cuts()
}

// odd draws a record that is odd in one way, at times in two, and how many of its rows
// come last of all.
func (l *log) odd(r *rand.Rand) (what oddity, rows []row, apart int) {
	for {
		rows = l.person(r, "odd")
		what = oddities[r.IntN(len(oddities))]
		if l.holds(what) && (!what.apart || l.named()) {
			break
		}
	}
	rows = l.spoilt(r, what, rows)
	if what.apart {
		return what, rows, r.IntN(len(rows)) + 1
	}
	if second := oddities[r.IntN(len(oddities))]; r.IntN(3) == 0 && what.name != honest && second.value && what.value && l.holds(second) {
		rows = l.spoilt(r, second, rows)
	}
	return what, rows, 0
}

// spoilt applies an oddity to one row and one column that is no id.
func (l *log) spoilt(r *rand.Rand, what oddity, rows []row) []row {
	for {
		if c := l.columns[r.IntN(len(l.columns))]; c.kind != unit && c.kind != episode && c.kind != constant && c.kind != note {
			return what.spoil(l, r, rows, rows[r.IntN(len(rows))], c)
		}
	}
}

// holds tells whether the format can hold an oddity.
func (l *log) holds(o oddity) bool {
	switch l.format {
	case "ndjson":
		return !o.bare
	case "csv":
		return !o.json && !(o.bare && l.o.Multiline)
	}
	return !o.json && !o.text && !o.bare
}

func oneOf(r *rand.Rand, values ...string) string { return values[r.IntN(len(values))] }
