package table

import "strings"

// Nesting says what of the records of a file is not at their top.
type Nesting struct {
	// Rows is the list of a record whose elements are the rows, by its keys with dots between
	// them; empty where a record is a row.
	Rows string
	// Inner are the columns wanted that lie in objects, by their keys with dots between them.
	Inner []string
	// All wants all of them that stand in half of their objects or more: other keys may be values.
	All bool
}

// Above reports whether a key, with those above it, leads to a name.
func Above(key, name string) bool {
	return len(name) > len(key) && strings.HasPrefix(name, key) && name[len(key)] == '.'
}

// The number of a row that is an element of a record holds both: a bit says so, above those
// of the record and of the element.
const (
	elementBits = 19
	recordBits  = 27
	nestedRow   = 1 << (elementBits + recordBits)
	// MostElements is the most rows of one record, MostRecords of a file.
	MostElements, MostRecords = 1<<elementBits - 1, 1<<recordBits - 1
)

// Numbered is the number of a row: that of its record where no element is told, else both.
func Numbered(record, element int) int {
	if element == 0 {
		return record
	}
	return nestedRow | record<<elementBits | element
}

// Place gives the record and the element, 0 if it is none, of a row by its number.
func Place(row int) (record, element int) {
	if row < nestedRow {
		return row, 0
	}
	row -= nestedRow
	return row >> elementBits, row & MostElements
}
