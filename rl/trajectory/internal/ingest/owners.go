package ingest

import (
	"errors"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Owners reads whose rows the files hold, and no other columns: the plain spelling of the
// id of a person, which holds until the next call, and of how many rows in a row. It is
// empty where there is no id.
func (s *Stream) Owners(each func(plain []byte, rows int) error) error {
	for _, path := range s.files {
		t, err := s.openFile(path)
		if err != nil {
			return err
		}
		if err := errors.Join(s.owners(t, path, each), t.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stream) owners(t table.Table, path string, each func([]byte, int) error) error {
	o := s.o
	o.Columns = nil
	if column := s.o.Columns[canon.Unit]; column != "" {
		o.Columns = map[string]string{canon.Unit: column}
	}
	x := newBinder(t, path, &o)
	if err := x.index(); err != nil {
		return err
	}
	if err := x.unit(); err != nil {
		return err
	}
	if !x.b.hasKey[keyUnit] {
		return x.fail(canon.Unit, "no column names the person", "map "+canon.Unit+" to the column that does")
	}
	if err := t.Select(x.b.picks); err != nil {
		return err
	}
	b, plain := table.NewBatch(x.b.width[:], x.b.keyCount()), spellings{joined: s.joinedIDs(true)}
	var text []byte
	for {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		b.Reset()
		if err := t.Read(b); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if len(b.Faults) > 0 { // told with their places by who reads all
			return &trajectory.InputError{File: path, Column: canon.Unit, What: "holds what is no id", Remedy: "have texts or whole numbers as ids", Kind: trajectory.ErrValue}
		}
		x.b.joinIDs(b)
		runs := &b.Keys[keyUnit]
		for i, from := 0, 0; from < b.Rows; i++ {
			id := runs.ID(i)
			text = id.Append(text[:0])
			of := text
			if !plain.isPlain(&id) {
				of = plain.plainID(text)
			}
			if err := each(of, runs.End(i)-from); err != nil {
				return err
			}
			from = runs.End(i)
		}
	}
}
