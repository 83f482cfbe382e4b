package file

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

// grouping is what [Stream.Together] has read.
type grouping struct {
	ctx   context.Context
	rows  *spill.Temporary
	frame spill.Frame
	files []string
}

// Together reads the stream to its end and keeps the decisions, so that [Stream.Part] gives
// whole persons whose episodes do not stand together in the data. About 2 MB of them stay
// in memory; more are in temporary files without names, which nobody else can open, in the
// directory that is returned, until they are read or Close is called. What is wrong with
// the data is told as Next tells it. Where it or Part fails because nothing can be kept on
// disk, [Stream.NoRoom] tells so.
func (s *Stream) Together(ctx context.Context) (dir string, err error) {
	k := &grouping{ctx: ctx, rows: spill.NewTemporary(), files: s.Files()}
	s.kept = k
	var record, person []byte
	for {
		e, err := s.in.Next()
		if errors.Is(err, io.EOF) {
			return k.rows.Dir(), nil
		}
		if err != nil {
			return "", err
		}
		person = binary.AppendUvarint(person[:0], uint64(e.Person))
		record = k.frame.Append(record[:0], person, nil, e)
		if err := k.rows.Put(e.Person, spill.Episode, record); err != nil {
			return "", err
		}
	}
}

// NoRoom tells that rows could not be kept on disk.
func (s *Stream) NoRoom() bool { return s.kept != nil && s.kept.rows.NoRoom() }

// part replaces d by persons who were kept.
func (k *grouping) part(d *trajectory.Dataset) error {
	records, err := k.rows.Next(k.ctx)
	if err != nil {
		return err
	}
	b := spill.Builder{Frame: k.frame, Files: k.files}
	for {
		_, record, err := records.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = b.Add(record)
		}
		if err != nil {
			return fmt.Errorf("rows that were kept in a temporary file cannot be read again: %w", err)
		}
	}
	*d = *b.Dataset()
	d.PersonID = nil // stand for the numbers of persons
	return nil
}
