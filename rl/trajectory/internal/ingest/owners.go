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
	own, err := s.ownersOf(t, path)
	if err != nil {
		return err
	}
	if err := t.Select(own.picks); err != nil {
		return err
	}
	b := table.NewBatch(own.width[:], own.keyCount())
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
		if err := own.each(b, func(plain []byte, from, to int) error { return each(plain, to-from) }); err != nil {
			return err
		}
	}
}

// owned finds whose the rows of a table are.
type owned struct {
	*binding
	plain   spellings
	columns map[string]bool
	text    []byte
}

// ownersOf binds the ids of persons alone.
func (s *Stream) ownersOf(t table.Table, path string) (*owned, error) {
	o := s.o
	o.Columns = nil
	if column := s.o.Columns[canon.Unit]; column != "" {
		o.Columns = map[string]string{canon.Unit: column}
	}
	x := newBinder(t, path, &o)
	if err := x.index(); err != nil {
		return nil, err
	}
	if err := x.unit(); err != nil {
		return nil, err
	}
	if !x.b.hasKey[keyUnit] {
		return nil, x.fail(canon.Unit, "no column names the person", "map "+canon.Unit+" to the column that does")
	}
	own := &owned{binding: x.b, plain: spellings{joined: s.joinedIDs(true)}, columns: map[string]bool{}}
	for _, p := range x.b.picks {
		own.columns[x.fields[p.Field].Name] = true
	}
	return own, nil
}

// each gives the rows of a batch that have one owner in a row.
func (own *owned) each(b *table.Batch, each func(plain []byte, from, to int) error) error {
	for _, f := range b.Faults {
		if own.columns[f.Err.Column] { // told with their places by who reads all
			return &trajectory.InputError{File: own.file, Column: canon.Unit, What: "holds what is no id", Remedy: "have texts or whole numbers as ids", Kind: trajectory.ErrValue}
		}
	}
	own.joinIDs(b)
	runs := &b.Keys[keyUnit]
	for i, from := 0, 0; from < b.Rows; i++ {
		id := runs.ID(i)
		own.text = id.Append(own.text[:0])
		of := own.text
		if !own.plain.isPlain(&id) {
			of = own.plain.plainID(own.text)
		}
		if err := each(of, from, runs.End(i)); err != nil {
			return err
		}
		from = runs.End(i)
	}
	return nil
}
