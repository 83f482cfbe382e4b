package ingest

import (
	"errors"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// A part ends with the person who brings it to partRows rows or partPersons persons.
// It lies in a cache of a processor.
const (
	partRows    = 1 << 13
	partPersons = 1 << 13
)

// parts is how far a stream was read by parts.
type parts struct {
	begun  bool
	held   bool // the last episode read begins the next part
	person int  // of the last episode that was taken
	latest int  // person
	whole  bool // rows that are put in order are all read first
}

// errApart ends the reading by parts where persons do not stand together.
var errApart = errors.New("a person comes again after others")

// comesAgain tells whether persons of a stream that is read by parts have come in between.
func (s *Stream) comesAgain(person int) bool {
	if !s.parts.begun || person < s.parts.latest {
		return s.parts.begun
	}
	s.parts.latest = person
	return false
}

// Part replaces d by the next persons, all of their episodes, and keeps its memory.
// After the last one it returns io.EOF. It fails with an error that [Stream.Apart]
// recognises where a person comes again after others.
func (s *Stream) Part(d *trajectory.Dataset) error {
	Emptied(d)
	if !s.parts.begun {
		s.parts.begun, s.parts.person, s.parts.latest, s.tally.lastAlone = true, -1, -1, true
	}
	first := s.parts.person
	for {
		if !s.parts.held {
			if s.quickly(d, first) {
				break
			}
			_, err := s.Next()
			if errors.Is(err, io.EOF) && s.parts.person > first {
				break
			}
			if err != nil {
				if s.arranged != nil && s.arranged.rising && !errors.Is(err, io.EOF) {
					s.err = errApart
				}
				return s.err
			}
		}
		s.parts.held = false
		if s.ep.Person > s.parts.person {
			if d.Rows() >= partRows || s.parts.person-first >= partPersons {
				s.parts.held = true
				break
			}
			if s.parts.person > first {
				d.PersonStart = append(d.PersonStart, d.Episodes())
			}
			s.parts.person++
		}
		AddTo(d, &s.ep, s.files)
	}
	d.PersonStart = append(d.PersonStart, d.Episodes())
	d.KeepCounts()
	return nil
}

// ReadFirst has a stream that puts rows in order read all of them before the first part.
func (s *Stream) ReadFirst() { s.parts.whole = true }

// Apart tells that Part failed because a person's episodes do not stand together.
func (s *Stream) Apart() bool { return s.err == errApart }

// PersonIDs are the names of the persons met so far, nil where they have none.
func (s *Stream) PersonIDs() []string {
	if s.people().len() == 0 {
		return nil
	}
	return s.people().strings()
}

// Emptied empties a dataset and keeps its memory.
func Emptied(d *trajectory.Dataset) {
	d.PersonStart, d.EpisodeStart = append(d.PersonStart[:0], 0), append(d.EpisodeStart[:0], 0)
	d.LeftOut, d.Lost = nil, nil
	d.Obs, d.Action, d.Reward = d.Obs[:0], d.Action[:0], d.Reward[:0]
	d.BehaviorProb, d.ActionProbs, d.TargetProb, d.Discount = d.BehaviorProb[:0], d.ActionProbs[:0], d.TargetProb[:0], d.Discount[:0]
	d.Terminated, d.Origin, d.FirstRow = d.Terminated[:0], d.Origin[:0], d.FirstRow[:0]
	d.Final, d.HasFinal = nil, nil
}

// AddTo adds an episode of one of the files to the last person of d.
func AddTo(d *trajectory.Dataset, e *trajectory.Episode, files []string) {
	d.Columns, d.Actions = e.Columns, 0
	d.Obs, d.Reward, d.Action = joined(d.Obs, e.Obs), joined(d.Reward, e.Reward), joined(d.Action, e.Action)
	d.BehaviorProb, d.TargetProb = joined(d.BehaviorProb, e.BehaviorProb), joined(d.TargetProb, e.TargetProb)
	d.ActionProbs, d.Discount = joined(d.ActionProbs, e.ActionProbs), joined(d.Discount, e.Discount)
	if d.ActionProbs != nil {
		d.Actions = e.Actions
	}
	if d.Terminated == nil && !e.EndUnknown {
		d.Terminated = []bool{}
	}
	if e.Len() == 0 {
		d.Lose(len(d.PersonStart)-1, e) // a person ends when the last of the episodes is known
		return
	}
	d.EpisodeStart = append(d.EpisodeStart, d.Rows())
	if !e.EndUnknown {
		d.Terminated = append(d.Terminated, e.Terminated)
	}
	d.Origin, d.FirstRow = append(d.Origin, files[e.File]), append(d.FirstRow, e.Row)
	if e.Final != nil || d.HasFinal != nil {
		w, n := len(d.Columns), d.Episodes()
		d.HasFinal = append(d.HasFinal, make([]bool, n-len(d.HasFinal))...)
		d.Final = append(d.Final, make([]float64, n*w-len(d.Final))...)
		d.HasFinal[n-1] = e.Final != nil
		copy(d.Final[(n-1)*w:], e.Final)
	}
}

// joined appends values; it stays nil where the data have no such part.
func joined[T any](dst, values []T) []T {
	if values == nil {
		return dst
	}
	if dst == nil {
		dst = []T{}
	}
	return append(dst, values...)
}
