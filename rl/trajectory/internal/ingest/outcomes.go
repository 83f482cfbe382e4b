package ingest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// outcomes are what became of persons, or of episodes, as files of their own say: a value
// each, and what ended a time where that is asked for. They are read before the first row
// of the data, as episodes of one row, and do not change afterwards, so that streams share
// them. Whatever is wrong with one of them is a matter of its person alone.
type outcomes struct {
	files     []string
	ids       *names
	spellings *spellings
	values    []float64 // by id
	events    []float64 // by id; nil without
	present   *float64  // of every id, else nil
	// unusable says why an id has no value, and where a second row of it is.
	unusable map[int]unusable
	notices  []string
}

type unusable struct {
	why    trajectory.FaultKind
	second place
}

// Beside has the stream read outcomes from files of their own.
func (s *Stream) Beside(format table.Format, files []string) { s.besides, s.beside = files, format }

// readOutcomes reads all of them once.
func (s *Stream) readOutcomes() error {
	if len(s.besides) == 0 || s.outcomes != nil {
		return nil
	}
	o := outcomeOptions(&s.o)
	in, err := NewStream(s.ctx, s.beside, s.besides, o)
	if err != nil {
		return err
	}
	defer in.Close()
	t := &outcomes{files: s.besides, ids: in.persons, spellings: in.spellings, present: s.o.OutcomePresent, unusable: map[int]unusable{}}
	for {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s.ofOutcome(err)
		}
		t.take(in, e, o.Whole != nil)
	}
	for _, n := range in.Notices() {
		if n != in.leftOutNotice() {
			t.notices = append(t.notices, "data.outcome: "+n)
		}
	}
	s.outcomes = t
	return nil
}

// leftOutNotice is the notice about what is left out, which is told of the data that it is about.
func (s *Stream) leftOutNotice() string {
	if r := s.Repaired(); r.Episodes > 0 {
		return s.leftOutWords(r)
	}
	return ""
}

// ofOutcome names the column of ids in an error about a file of outcomes as the data do.
func (s *Stream) ofOutcome(err error) error {
	var several *trajectory.FaultsError
	var input *trajectory.InputError
	switch {
	case s.o.OutcomeBy == canon.Unit:
	case errors.As(err, &several):
		for _, e := range several.First {
			if e.Column == canon.Unit {
				e.Column = canon.Episode
			}
		}
	case errors.As(err, &input) && input.Column == canon.Unit:
		input.Column = canon.Episode
	}
	return err
}

// outcomeOptions read rows of ids and values, and leave out those that cannot be used.
func outcomeOptions(o *trajectory.Options) trajectory.Options {
	out := trajectory.Options{
		Columns: map[string]string{canon.Reward: o.OutcomeColumn}, Observations: []string{}, Encode: map[string]trajectory.Vocabulary{},
		Separator: o.Separator, NA: o.NA, Multiline: o.Multiline, Unit: trajectory.UnitPerson, OneRowEpisodes: true, Repair: true, Faults: o.Faults, Alone: o.Alone,
	}
	if column, ok := o.Columns[o.OutcomeBy]; ok {
		out.Columns[canon.Unit] = column
	} else if o.OutcomeBy == canon.Episode {
		out.Columns[canon.Unit] = canon.Episode
	}
	if o.OutcomePresent != nil { // a row has an id alone
		out.Columns[canon.Reward] = trajectory.NoColumn
		out.OutcomeFiles, out.OutcomeBy, out.OutcomePresent = o.OutcomeFiles, canon.Unit, o.OutcomePresent
	} else if v, ok := o.Encode[canon.Reward]; ok {
		out.Encode[canon.Reward] = v
	}
	if o.OutcomeEvent != "" {
		out.Observations, out.Whole = []string{o.OutcomeEvent}, []string{o.OutcomeEvent}
		if v, ok := o.Encode[o.OutcomeEvent]; ok {
			out.Encode[o.OutcomeEvent] = v
		}
	}
	return out
}

// take adds the row of an id.
func (t *outcomes) take(in *Stream, e *trajectory.Episode, event bool) {
	id := e.Person
	if id < len(t.values) {
		t.unusable[id] = unusable{second: place{file: e.File, row: e.Row}}
		return
	}
	value, code := math.NaN(), math.NaN()
	if e.Len() > 0 {
		if value = e.Reward[0]; t.present != nil {
			value = *t.present
		}
		if event {
			code = e.Obs[0]
		}
	} else {
		t.unusable[id] = unusable{why: in.lastViolation}
	}
	t.values = append(t.values, value)
	if event {
		t.events = append(t.events, code)
	}
}

// joinOutcome puts the outcome of the episode at hand on its last decision.
func (s *Stream) joinOutcome() {
	if s.outcomes == nil {
		return
	}
	value, event := s.lookUp()
	if n := len(s.buf.reward); n > 0 {
		s.buf.reward[n-1] = s.bounded(value)
	}
	if s.outcomes.events != nil && s.state.rows > 0 { // an episode has one row
		s.buf.obs = append(s.buf.obs, event)
	}
}

// lookUp finds the outcome of the episode at hand. One that is missing, or cannot be used,
// is a violation, and NaN.
func (s *Stream) lookUp() (value, event float64) {
	t, ids, number := s.outcomes, s.persons, s.ep.Person
	if s.o.OutcomeBy == canon.Episode {
		ids, number = s.episodes, s.ep.Number
	}
	none := math.NaN()
	if number < 0 {
		return none, none
	}
	id := ids.id(number)
	if id.Missing() { // which is told
		return none, none
	}
	at, ok := t.ids.find(&id)
	if !ok {
		return s.noOutcomeOf(&id), none
	}
	s.join(at)
	if u, bad := t.unusable[at]; bad {
		s.violation(s.lastRow(), t.fault(at, u))
		return none, none
	}
	if t.events != nil {
		event = t.events[at]
	}
	return t.values[at], event
}

// fault says why the outcome of an id cannot be used.
func (t *outcomes) fault(id int, u unusable) *trajectory.InputError {
	at := t.spellings.place(id)
	e := &trajectory.InputError{File: t.files[at.file], Row: at.row, Column: u.why.Column, What: u.why.What + ", so that there is no outcome", Remedy: "mend the row", Kind: trajectory.ErrValue}
	if u.second.row > 0 {
		e.What = "two rows have the id of this one, so that there is no outcome"
		e.Remedy = fmt.Sprintf("keep this row or row %s of %s", rowWords(u.second.row), t.files[u.second.file])
	}
	return e
}

// noOutcomeOf is about an episode whose id has no row among the outcomes, or one that is
// spelled in another way, which is a fault as it is within one file. It gives what is stated of
// ids without a row.
func (s *Stream) noOutcomeOf(id *table.ID) float64 {
	t, column, here := s.outcomes, s.o.OutcomeBy, s.lastRow()
	if at, clash := t.spellings.like(t.ids, id); clash {
		s.faults.add(here, &trajectory.InputError{File: s.files[here.file], Row: here.row, Column: column,
			What: fmt.Sprintf("is another spelling of the id in row %s of %s", rowWords(at.row), t.files[at.file]), Remedy: "write every id in one way in both files", Kind: trajectory.ErrValue})
		return math.NaN()
	}
	if absent := s.o.OutcomeAbsent; absent != nil {
		s.state.absent = 1
		return *absent
	}
	s.violation(here, &trajectory.InputError{Column: column, What: "has no row in " + t.files[0] + ", the file of outcomes",
		Remedy: "add the row; a missing outcome is not 0", Kind: trajectory.ErrValue})
	return math.NaN()
}

// lastRow is where the last row of the episode at hand is.
func (s *Stream) lastRow() place {
	if s.state.rows == 0 {
		return s.state.finalAt
	}
	return s.state.flagAt
}

// like finds an id of which another one is another spelling.
func (s *spellings) like(ids *names, id *table.ID) (place, bool) {
	plain := *id
	if id.Kind == table.TextID && !isPlain(id.Text) {
		plain = table.IDOf(plainID(id.Text))
	}
	if i, ok := s.odd.find(&plain); ok {
		return s.place(s.unit[i]), true
	}
	if i, ok := ids.find(&plain); ok {
		return s.place(i), true
	}
	return place{}, false
}

// bounded is an outcome within the bounds of a reward.
func (s *Stream) bounded(v float64) float64 {
	r := s.o.Reward
	switch {
	case r == nil || v != v || v >= r.Min && v <= r.Max:
		return v
	case s.o.ClipRewards:
		s.state.clipped++
		return min(max(v, r.Min), r.Max)
	}
	at := s.state.flagAt
	s.faults.add(at, &trajectory.InputError{File: s.files[at.file], Row: at.row, Column: s.o.OutcomeColumn,
		What:   "the outcome of this episode is outside the declared bounds [" + short(r.Min) + ", " + short(r.Max) + "]",
		Remedy: "widen the bounds by public knowledge, or clip rewards (outside: clip)", Kind: trajectory.ErrValue})
	return v
}

// grown has room for word i.
func grown(words []uint64, i int) []uint64 {
	for len(words) <= i {
		words = append(words, 0)
	}
	return words
}

// join notes that an outcome is of somebody in the data.
func (s *Stream) join(id int) {
	if s.joined == nil {
		s.joined = make([]uint64, (len(s.outcomes.values)+63)/64)
	}
	s.joined[id/64] |= 1 << (id % 64)
}

// tellOutcomes says how many outcomes are of nobody in the data.
func (s *Stream) tellOutcomes() {
	if s.outcomes == nil {
		return
	}
	for _, n := range s.outcomes.notices {
		s.notice(n)
	}
	if absent := s.o.OutcomeAbsent; absent != nil {
		s.notice(fmt.Sprintf("%s: episodes without a row there, whose outcome is %g as data.outcome.absent says: %d", s.outcomes.files[0], *absent, s.repaired.Absent))
	}
	n := len(s.outcomes.values)
	for _, word := range s.joined {
		n -= bits.OnesCount64(word)
	}
	switch {
	case n > 0 && n == len(s.outcomes.values) && s.o.OutcomeAbsent != nil:
		s.notice(fmt.Sprintf("NO ID OF %s IS IN THE DATA, and everybody is read as absent: are its ids those of data.outcome.by?", s.outcomes.files[0]))
	case n > 0:
		s.notice(fmt.Sprintf("%s: ids that are not in the data, and add nothing: %d", s.outcomes.files[0], n))
	}
}
