package sorter

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// buffered is how much of a file is in memory.
const buffered = 1 << 15

// run is a temporary file of records in the order of their keys.
type run struct {
	file  *os.File
	named string // the name of the file where it could not be removed
	wrote int64
	in    *bufio.Reader
	text  []byte
}

func newRun(dir string) (*run, error) {
	file, named, err := Temporary(dir)
	if err != nil {
		return nil, err
	}
	return &run{file: file, named: named}, nil
}

// Temporary makes a temporary file of mode 0600 without a name, or with the one that could
// not be removed.
func Temporary(dir string) (file *os.File, named string, err error) {
	file, err = os.CreateTemp(dir, "discreet-rows-*")
	if err != nil {
		return nil, "", err
	}
	if os.Remove(file.Name()) != nil {
		named = file.Name()
	}
	return file, named, nil
}

// fill writes all records of a source.
func (r *run) fill(from ordered) error {
	out := bufio.NewWriterSize(r.file, buffered)
	var head []byte
	for {
		key, record, err := from.next()
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return err
		}
		head = binary.AppendUvarint(binary.AppendUvarint(head[:0], uint64(len(key))), uint64(len(record)))
		for _, b := range [][]byte{head, key, record} {
			n, err := out.Write(b)
			if err != nil {
				return err
			}
			r.wrote += int64(n)
		}
	}
}

// begin goes to the first record.
func (r *run) begin() error {
	info, err := r.file.Stat()
	if err == nil && info.Size() != r.wrote {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		_, err = r.file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("rows that were kept in a temporary file are gone: %w; run again", err)
	}
	r.in = bufio.NewReaderSize(r.file, buffered)
	return nil
}

func (r *run) next() (key, record []byte, err error) {
	if _, err := r.in.Peek(1); err != nil {
		return nil, nil, err // io.EOF, between records
	}
	var n [2]uint64
	for i := range n {
		if n[i], err = binary.ReadUvarint(r.in); err != nil {
			return nil, nil, cut(err)
		}
	}
	if left := uint64(r.wrote); n[0] > left || n[1] > left-n[0] { // as a damaged file may say
		return nil, nil, io.ErrUnexpectedEOF
	}
	size := int(n[0] + n[1])
	if size > cap(r.text) {
		r.text = make([]byte, size+size/4)
	}
	r.text = r.text[:size]
	if _, err := io.ReadFull(r.in, r.text); err != nil {
		return nil, nil, cut(err)
	}
	return r.text[:n[0]], r.text[n[0]:], nil
}

// close removes the file.
func (r *run) close() error {
	err := r.file.Close()
	if r.named != "" {
		err = errors.Join(err, os.Remove(r.named))
	}
	return err
}

// cut tells of an end within a record.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
