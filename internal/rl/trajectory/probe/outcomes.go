package probe

import (
	"hash/fnv"
	"os"
	"strconv"
	"strings"
)

// writeOutcomes writes the file of outcomes that goes with rows, where there is one: a value
// for each id, that follows from it, but for an odd record's, of which anything may be wrong.
func (l *session) writeOutcomes(rows []row) error {
	if len(l.Options.OutcomeFiles) == 0 {
		return nil
	}
	by, ids := l.outcomeLog()
	var out []row
	seen := map[string]bool{}
	for _, r := range rows {
		id, ok := r[ids]
		if !ok || id == "null" || seen[id] {
			continue
		}
		seen[id] = true
		h := fnv.New32()
		_, _ = h.Write([]byte(id)) // never fails
		x := row{}
		for _, c := range by.columns {
			switch {
			case c.kind == unit:
				x[c.name] = id
			case c.words != nil:
				x[c.name] = c.word(int(h.Sum32()) % len(c.words))
			default:
				x[c.name] = number(float64(h.Sum32()%97) / 97)
			}
		}
		if !strings.HasPrefix(id, `"odd`) {
			if l.Options.OutcomeAbsent == nil || h.Sum32()%2 == 0 {
				out = append(out, x)
			}
			continue
		}
		switch l.rand.IntN(6) {
		case 0: // no row
		case 1:
			out = append(out, x, x)
		case 2, 3, 4:
			if len(by.columns) > 1 {
				x[by.columns[1].name] = oneOf(l.rand, "null", "-7", "1e9", strconv.Quote("NaN"))
			}
			fallthrough
		default:
			out = append(out, x)
		}
	}
	text, err := writers[l.Format](by, out)
	if err != nil {
		return err
	}
	return os.WriteFile(l.Options.OutcomeFiles[0], text, 0o600)
}

// outcomeLog is what a file of outcomes looks like, and the column of the data with its ids.
func (l *session) outcomeLog() (*log, string) {
	by := &log{o: l.Options, format: l.Format}
	by.o.Rows = ""
	kind, ids := unit, l.Options.OutcomeBy
	if ids == "episode_id" {
		kind = episode
	}
	for _, c := range l.log.columns {
		if c.kind == kind {
			ids = c.name
		}
	}
	if by.columns = []column{{name: ids, kind: unit, text: true}}; l.Options.OutcomeColumn == "" {
		return by, ids
	}
	value := column{name: l.Options.OutcomeColumn, kind: reward}
	if v, ok := l.Options.Encode["reward"]; ok {
		value.words, value.text = v.Words, !v.Numeric
	}
	by.columns = append(by.columns, value)
	if l.Options.OutcomeEvent != "" {
		by.add(observation, l.Options.OutcomeEvent)
	}
	return by, ids
}
