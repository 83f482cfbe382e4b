package csvfile

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// key is the key of the record at hand.
type key struct {
	block   int
	text    []byte
	scratch []byte
}

// header reads the names of the columns.
func (t *reader) header() error {
	s := &t.scan
	if err := s.more(0); err != nil && err != io.EOF {
		return t.broken(err)
	}
	first, _, _ := bytes.Cut(s.buf, []byte("\n"))
	if bytes.HasPrefix(first, []byte("\xff\xfe")) || bytes.HasPrefix(first, []byte("\xfe\xff")) || bytes.IndexByte(first, 0) >= 0 {
		return &trajectory.InputError{File: t.name, What: "is UTF-16, or no text", Remedy: "save it anew as UTF-8", Kind: trajectory.ErrFormat}
	}
	if len(s.buf) >= 3 && string(s.buf[:3]) == "\ufeff" {
		s.pos = 3
	}
	if err := s.skipBlank(); err == io.EOF {
		return t.fault("", "the file is empty", "write a header row and one row a decision", trajectory.ErrEmpty)
	} else if err != nil {
		return t.broken(err)
	}
	if err := t.whole(t.names); err != nil {
		return err
	}
	return t.plausible()
}

// whole parses one record, reading on until it is whole.
func (t *reader) whole(parse func() error) error {
	for {
		err := parse()
		if err == errIncomplete {
			err = t.scan.more(t.scan.pos)
			if err == nil {
				continue
			}
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
		}
		if err != nil {
			return t.broken(err)
		}
		return nil
	}
}

// names parses the header.
func (t *reader) names() error {
	s := &t.scan
	t.fields = t.fields[:0]
	p, lines := s.pos, 0
	for {
		text, next, n, err := s.field(p, nil)
		if err != nil {
			return err
		}
		lines += n
		t.fields = append(t.fields, table.Field{Name: string(text)})
		if s.buf[next] != s.sep {
			s.pos = s.endOfLine(next)
			s.line += lines + 1
			return nil
		}
		p = next + 1
	}
}

// record reads one record into the batch, or returns io.EOF.
func (t *reader) record(b *table.Batch) error {
	if err := t.scan.skipBlank(); err == io.EOF {
		return err
	} else if err != nil {
		return t.broken(err)
	}
	faults := len(b.Faults)
	return t.whole(func() error {
		err := t.parse(b)
		if err != nil { // the record is read again, or not at all
			b.Faults = b.Faults[:faults]
		}
		return err
	})
}

// parse reads the record at hand into the next row of the batch, and moves on
// if it is whole.
func (t *reader) parse(b *table.Batch) error {
	s := &t.scan
	// Field number `at` starts at start; end is its end, -1 while unknown.
	at, start, end, lines := 0, s.pos, -1, 0
	nextKey := 0
	for i := range t.picks {
		pick := &t.picks[i]
		for at < pick.Field {
			if end < 0 {
				next, n, err := s.skip(start)
				if err != nil {
					return err
				}
				end, lines = next, lines+n
			}
			if s.buf[end] != s.sep {
				return t.short()
			}
			at, start, end = at+1, end+1, -1
		}
		if pick.Kind == table.Number && !t.numericNA {
			block := &b.Blocks[pick.Block]
			if v, next, ok := scanNumber(s.buf, start, s.sep); ok {
				block.Values[b.Rows*block.Width+pick.Offset] = v
				end = next
				continue
			}
			if v, next, ok := scanFlag(s.buf, start, s.sep); ok && len(t.na) == 0 {
				block.Values[b.Rows*block.Width+pick.Offset] = v
				end = next
				continue
			}
		}
		next, n, err := t.other(b, pick, start, &nextKey)
		if err != nil {
			return err
		}
		if end < 0 {
			lines += n
		}
		end = next
	}
	for end < 0 || s.buf[end] == s.sep {
		if end >= 0 {
			at, start = at+1, end+1
		}
		next, n, err := s.skip(start)
		if err != nil {
			return err
		}
		end, lines = next, lines+n
	}
	if at+1 != len(t.fields) {
		return t.short()
	}
	for i := range t.keys {
		b.Keys[t.keys[i].block].Append(t.keys[i].text, 1)
	}
	b.Row[b.Rows] = s.line
	b.Rows++
	s.pos = s.endOfLine(end)
	s.line += lines + 1
	return nil
}

// plausible recognises a header that is of another format.
func (t *reader) plausible() error {
	name := t.fields[0].Name
	broken := slices.ContainsFunc(t.fields, func(f table.Field) bool { return strings.ContainsRune(f.Name, '\r') })
	switch {
	case broken: // the whole file may be in it: no name of a column may be told
		return &trajectory.InputError{File: t.name, What: "the header holds a carriage return: lines that end in one alone are not told apart",
			Remedy: "end lines in LF or CRLF", Kind: trajectory.ErrFormat}
	case t.scan.sep != ',' && len(t.fields) == 1 && strings.ContainsAny(name, ","+separators):
		i := strings.IndexAny(name, ","+separators)
		return &trajectory.InputError{File: t.name, What: "the separator, " + separatorName(t.scan.sep) + ", does not occur in the header, which holds " + separatorName(name[i]),
			Remedy: "name in data.separator what separates the fields; leave it out for a comma", Kind: trajectory.ErrFormat}
	case len(t.fields) == 1 && strings.ContainsAny(name, separators):
		i := strings.IndexAny(name, separators)
		return &trajectory.InputError{File: t.name, What: "the header has one column, whose name holds " + separatorName(name[i]),
			Remedy: "if that separates the fields, name it in data.separator", Kind: trajectory.ErrFormat}
	}
	return nil
}

// other reads a field that is no plain number.
func (t *reader) other(b *table.Batch, pick *table.Pick, start int, nextKey *int) (next, lines int, err error) {
	s := &t.scan
	if pick.Kind == table.Key {
		k := &t.keys[*nextKey]
		*nextKey++
		k.text, next, lines, err = s.field(start, k.scratch)
		if t.isNA(k.text) {
			k.text = nil
		}
		if err == nil && len(k.text) > table.MaxKey {
			k.text = k.text[:table.MaxKey]
			b.Fail(table.LongKey(t.name, t.scan.line, t.fields[pick.Field].Name))
		}
		return next, lines, err
	}
	text, next, lines, err := s.field(start, nil)
	if err != nil {
		return 0, 0, err
	}
	if t.isNA(text) {
		text = nil
	}
	block := &b.Blocks[pick.Block]
	at := &block.Values[b.Rows*block.Width+pick.Offset]
	if pick.Kind == table.Presence {
		*at = 1
		if len(text) == 0 {
			*at = table.Null()
		}
		return next, lines, nil
	}
	if *at, err = parseNumber(text); err != nil {
		*at = table.Null()
		b.Fail(t.notNumber(pick, text, err))
	}
	return next, lines, nil
}

func (t *reader) notNumber(pick *table.Pick, text []byte, err error) *trajectory.InputError {
	column := t.fields[pick.Field].Name
	if decimalComma(text) {
		return t.fault(column, "has a decimal comma", "write numbers with a point, such as -1.5e3", trajectory.ErrValue)
	}
	if err == errNotFinite {
		return t.fault(column, "is NaN or infinite", "write missing values as empty (null), and numbers as finite ones", trajectory.ErrValue)
	}
	return t.fault(column, "is not a number", pick.Advise("write a decimal number such as -1.5e3, true or false, or leave a missing value empty (data.na lists other markers)"), trajectory.ErrValue)
}

// short complains of a record with the wrong number of fields.
func (t *reader) short() error {
	s := &t.scan
	n := 1
	for p := s.pos; ; n++ {
		next, _, err := s.skip(p)
		if err != nil {
			return err
		}
		if s.buf[next] != s.sep {
			break
		}
		p = next + 1
	}
	return t.fault("", "the row has "+strconv.Itoa(n)+" fields and the header has "+strconv.Itoa(len(t.fields)),
		"the file may be cut short, or a field with "+separatorName(s.sep)+" lacks quotes", trajectory.ErrFormat)
}

func (t *reader) fault(column, what, remedy string, kind error) *trajectory.InputError {
	return &trajectory.InputError{File: t.name, Row: t.scan.line, Column: column, What: what, Remedy: remedy, Kind: kind}
}

// broken turns an error of the scanner into one for the curator.
func (t *reader) broken(err error) error {
	var input *trajectory.InputError
	switch {
	case errors.As(err, &input):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF) && t.scan.eof:
		return t.fault("", "a quote is opened and never closed", "the file is cut short, or a quote inside a field is not doubled", trajectory.ErrFormat)
	case errors.Is(err, errQuote):
		return t.fault("", "text follows a closing quote", "double the quotes inside a quoted field", trajectory.ErrFormat)
	case errors.Is(err, errBareQuote):
		return t.fault("", "a field without quotes around it holds a quote", "write the file anew with texts in quotes and the quotes inside doubled, or without the column of texts", trajectory.ErrFormat)
	case errors.Is(err, errLineEnd):
		return t.fault("", "a quote is opened and not closed on its line", "if the program that wrote the file puts texts in quotes and doubles the quotes inside, set data.multiline: true; if not, one person's text can swallow the records of others: write the file anew with quotes, or without the column of texts", trajectory.ErrFormat)
	case errors.Is(err, errTooLong):
		return t.fault("", "the row is longer than 256 MB", "a quote may be opened and never closed", trajectory.ErrFormat)
	}
	return &trajectory.InputError{File: t.name, Row: t.scan.line, What: "cannot be read on from here", Remedy: "the file may be cut short or damaged",
		Kind: trajectory.ErrFormat, Cause: err}
}
