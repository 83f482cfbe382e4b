package ingest

import (
	"bytes"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// composite is an id of several columns: where it goes among the keys of a batch, and where
// the texts of its columns are.
type composite struct {
	key       int
	parts     []int
	canonical string
}

// join asks for the columns of an id.
func (x *binder) join(canonical string, key int) {
	j := composite{key: key, canonical: canonical}
	first := x.wordKey()
	for i, column := range x.o.Joined[canonical] {
		field := x.byName[column]
		x.used[field] = true
		x.b.picks = append(x.b.picks, table.Pick{Field: field, Kind: table.Key, Block: first + i})
		j.parts = append(j.parts, first+i)
	}
	x.b.hasKey[key] = true
	x.b.joins = append(x.b.joins, j)
	x.b.parts = map[string][]string{}
	for _, j := range x.b.joins {
		x.b.parts[j.canonical] = x.o.Joined[j.canonical]
	}
}

// keyCount is how many keys a batch has.
func (b *binding) keyCount() int {
	n := keys + len(b.words)
	for _, j := range b.joins {
		n += len(j.parts)
	}
	return n
}

// joinsKey tells whether ids of a batch are of several columns.
func (b *binding) joinsKey(key int) bool {
	for _, j := range b.joins {
		if j.key == key {
			return true
		}
	}
	return false
}

// joinIDs puts the ids together, run by run. One of which a part is missing is missing.
func (b *binding) joinIDs(batch *table.Batch) {
	for _, j := range b.joins {
		var id []byte
		runs := make([]int, len(j.parts))
		for row := 0; row < batch.Rows; {
			id = id[:0]
			end, missing := batch.Rows, false
			for i, key := range j.parts {
				part := &batch.Keys[key]
				for part.End(runs[i]) <= row {
					runs[i]++
				}
				end = min(end, part.End(runs[i]))
				text := part.Key(runs[i])
				missing = missing || len(text) == 0
				if i > 0 {
					id = append(id, '/')
				}
				id = appendPart(id, text)
			}
			if missing {
				id = id[:0]
			}
			batch.Keys[j.key].Append(id, end-row)
			row = end
		}
	}
}

// appendPart appends a part of an id, so that a slash in it is not taken for one between
// parts.
func appendPart(id, part []byte) []byte {
	for _, b := range part {
		if b == '/' || b == '\\' {
			id = append(id, '\\')
		}
		id = append(id, b)
	}
	return id
}

// splitID gives the parts of which an id was joined.
func splitID(id []byte) [][]byte {
	all := [][]byte{{}}
	for i := 0; i < len(id); i++ {
		last := len(all) - 1
		switch {
		case id[i] == '/':
			all = append(all, []byte{})
			continue
		case id[i] == '\\' && i+1 < len(id):
			i++
		}
		all[last] = append(all[last], id[i])
	}
	return all
}

// plainID is an id as one would write it plainly, part by part.
func (s *spellings) plainID(id []byte) []byte {
	if !s.joined {
		return plainID(id)
	}
	var plain []byte
	for i, part := range splitID(id) {
		if i > 0 {
			plain = append(plain, '/')
		}
		plain = appendPart(plain, plainID(part))
	}
	return plain
}

// isPlain tells of most plain ids that they are.
func (s *spellings) isPlain(id *table.ID) bool {
	if !s.joined {
		return id.Kind != table.TextID || isPlain(id.Text)
	}
	for part := range bytes.SplitSeq(id.Text, []byte("/")) {
		if !isPlain(part) {
			return false
		}
	}
	return true
}

// faultyID tells whether a row has a fault in a column of an id.
func (b *binding) faultyID(batch *table.Batch, row int, canonical string) bool {
	for _, column := range b.parts[canonical] {
		if batch.Faulty(row, column) {
			return true
		}
	}
	return batch.Faulty(row, b.source[canonical])
}

// joinedIDs tells whether the ids of persons, or of episodes, are of several columns.
func (s *Stream) joinedIDs(person bool) bool {
	if person {
		return s.o.Joined[canon.Unit] != nil
	}
	return s.o.Joined[s.naming()] != nil
}

// joinedUnits tells it of the ids of units.
func (s *Stream) joinedUnits() bool { return s.joinedIDs(s.people() != s.episodes) }
