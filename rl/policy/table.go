package policy

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// sumTolerance is how far the probabilities of a state may add up from 1, which
// leaves room for tables printed with seven digits. They are used as they are.
const sumTolerance = 1e-6

// Table gives the probability of every action in every state.
type Table struct {
	states  feature.Finite
	actions int
	probs   []float64 // states x actions, row by row
	maxProb float64
}

// NewTable returns the policy whose probability of action a in state s is
// probs[s*actions+a]. The named observation column holds the state number.
// Every probability lies in [0, 1] and those of a state add up to 1 within
// 1e-6.
func NewTable(probs []float64, actions int, column string) (Table, error) {
	if actions < 1 || len(probs) == 0 || len(probs)%actions != 0 {
		return Table{}, fmt.Errorf("%w: table: %d numbers for %d actions; want one row of probabilities a state", ErrPolicy, len(probs), actions)
	}
	states, err := feature.NewTabular(len(probs)/actions, column)
	if err != nil {
		return Table{}, fmt.Errorf("%w: table: %w", ErrPolicy, err)
	}
	t := Table{states: states, actions: actions, probs: slices.Clone(probs), maxProb: slices.Max(probs)}
	for s := range states.States() {
		if err := checkDistribution(t.row(s)); err != nil {
			return Table{}, fmt.Errorf("%w: table: state %d: %w", ErrPolicy, s, err)
		}
	}
	return t, nil
}

// ReadTable reads a table as CSV: one line a state, in order from 0, one field
// an action; lines that begin with # are skipped, and so is a first line that
// holds no number. Errors name the line as name:line:field.
func ReadTable(r io.Reader, name, column string) (Table, error) {
	in := csv.NewReader(&shortLines{r: r})
	in.Comment = '#'
	in.TrimLeadingSpace = true
	in.ReuseRecord = true
	var probs []float64
	actions := 0
	for first := true; ; first = false {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Table{}, fmt.Errorf("%w: %s: %w", ErrPolicy, name, csvInWords(err))
		}
		if first && isHeader(fields) {
			continue
		}
		actions = len(fields)
		for i, text := range fields {
			p, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				line, _ := in.FieldPos(i)
				return Table{}, fmt.Errorf("%w: %s:%d:%d: not a number; want the probability of action %d", ErrPolicy, name, line, i+1, i)
			}
			probs = append(probs, p)
		}
		if len(probs) > maxEntries {
			return Table{}, fmt.Errorf("%w: %s: more than %d probabilities; a policy of this size is better given by columns of the data (target kind columns)", ErrPolicy, name, maxEntries)
		}
	}
	t, err := NewTable(probs, actions, column)
	if err != nil {
		return Table{}, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// A table has at most maxEntries probabilities, and a line of its file at most
// maxLine bytes.
const (
	maxEntries = 1 << 22
	maxLine    = 1 << 20
)

// shortLines refuses a line that is too long for a row of a table: the file is
// something else.
type shortLines struct {
	r   io.Reader
	run int // bytes since the last end of a line
}

var errLongLine = errors.New("a line is longer than 1 MiB; check that this is a policy's table")

func (s *shortLines) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if i := bytes.LastIndexByte(p[:n], '\n'); i >= 0 {
		s.run = n - i - 1
	} else {
		s.run += n
	}
	if s.run > maxLine {
		return 0, errLongLine
	}
	return n, err
}

// csvInWords says what is wrong with a line.
func csvInWords(err error) error {
	var parse *csv.ParseError
	switch {
	case !errors.As(err, &parse):
		return err
	case errors.Is(err, csv.ErrFieldCount):
		return fmt.Errorf("line %d has not as many fields as the lines before it; write one probability an action in every line", parse.Line)
	}
	return fmt.Errorf("line %d has a quote that is not closed, or text after one; write numbers without quotes", parse.Line)
}

func isHeader(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool {
		_, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
		return err == nil
	})
}

func checkDistribution(p []float64) error {
	sum := 0.0
	for a, x := range p {
		if !(x >= 0 && x <= 1) {
			return fmt.Errorf("probability of action %d is %v; want 0 to 1", a, x)
		}
		sum += x
	}
	if math.Abs(sum-1) > sumTolerance {
		return fmt.Errorf("probabilities add up to %v; want 1: list one for each action", sum)
	}
	return nil
}

func (t Table) row(state int) []float64 {
	return t.probs[state*t.actions : (state+1)*t.actions : (state+1)*t.actions]
}

// Actions is the number of columns of the table.
func (t Table) Actions() int { return t.actions }

// States is the number of rows of the table.
func (t Table) States() int { return t.states.States() }

// Columns names the observation column that the policy reads.
func (t Table) Columns() []string { return t.states.Columns() }

// MaxProb is the largest number in the table.
func (t Table) MaxProb() float64 { return t.maxProb }

// Prob is the probability of an action in a state.
func (t Table) Prob(state, action int) float64 { return t.row(state)[action] }

// Bind implements [Policy].
func (t Table) Bind(d *trajectory.Dataset) (Bound, error) {
	if err := needActions(d); err != nil {
		return nil, err
	}
	r, err := t.states.BindState(d.Columns)
	if err != nil {
		return nil, err
	}
	return &boundTable{t, r, d}, nil
}

type boundTable struct {
	Table
	reader feature.StateReader
	d      *trajectory.Dataset
}

func (b *boundTable) Prob(row int) (float64, bool) {
	s, ok := b.reader.State(b.d.Observation(row))
	a := b.d.Action[row]
	if !ok || a < 0 || int(a) >= b.actions {
		return 0, false
	}
	return b.probs[s*b.actions+int(a)], true
}

// ratios writes the ratios of the first rows, and tells whether all of them can be had.
func (b *boundTable) ratios(dst []float64) bool {
	good, width, reader, obs, probs, most := true, len(b.d.Columns), b.reader, b.d.Obs, b.probs, b.actions
	actions, behavior := b.d.Action[:len(dst)], b.d.BehaviorProb[:len(dst)]
	for row := range dst {
		s, known := reader.State(obs[:width])
		obs = obs[width:]
		a := int(actions[row])
		p := 0.0
		if known = known && a >= 0 && a < most; known {
			p = probs[s*most+a]
		}
		rho, ok := divided(p, known, behavior[row])
		dst[row], good = rho, good && ok
	}
	return good
}

func (b *boundTable) Distribution(dst []float64, row int) bool {
	clear(dst)
	s, ok := b.reader.State(b.d.Observation(row))
	if ok {
		copy(dst[:b.actions], b.row(s))
	}
	return ok
}
