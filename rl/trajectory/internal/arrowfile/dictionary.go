package arrowfile

import (
	"bytes"
	"errors"
)

// dictionaries are the words by the number of their dictionary; one that is missing is empty,
// as a missing key is.
type dictionaries map[int][][]byte

// add reads a message with words. It replaces those of its dictionary, or comes after them.
func (d dictionaries) add(m message, columns []column) error {
	id, delta := m.header.Long(0), m.header.Byte(2) != 0
	data, ok := m.header.Sub(1)
	if !ok {
		return errors.New("a dictionary without words")
	}
	of := find(columns, id)
	if of == nil || !of.isText() { // nobody picks it
		return nil
	}
	var b batch
	if err := b.open(data, m.body); err != nil {
		return err
	}
	v, err := b.take(of, b.rows)
	if err != nil {
		return err
	}
	words := [][]byte{}
	if delta {
		words = d[id]
	}
	read := of.bytes(&v)
	for row := range b.rows {
		var word []byte
		if !v.null(row) {
			word = bytes.Clone(read(row))
		}
		words = append(words, word)
	}
	d[id] = words
	return nil
}

// find is the type of the values of a dictionary that a column at the top has.
func find(columns []column, id int) *column {
	for i := range columns {
		if c := &columns[i]; c.encoded && c.dictionary == id && c.picked {
			return c.value
		}
	}
	return nil
}
