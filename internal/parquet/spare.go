package parquet

import (
	"bufio"
	"sync"
)

// memory is what a column reads into.
type memory struct {
	raw, dict []byte
	work      [2][]byte
	offsets   []uint32
	numbers   []float64
	r         *bufio.Reader
}

func (m *memory) size() int {
	n := cap(m.raw) + cap(m.dict) + cap(m.work[0]) + cap(m.work[1]) + 4*cap(m.offsets) + 8*cap(m.numbers)
	if m.r != nil {
		n += m.r.Size()
	}
	return n
}

// spares is the memory of columns of forks that were closed, by leaf, for other forks to
// read the same columns into. So a file that is read by many forks needs no more memory
// than those at work do.
type spares struct {
	mutex sync.Mutex
	of    map[int][]memory
}

// forPages stands, in place of a leaf, for the memory of compressed pages.
const forPages = -1

func (s *spares) give(leaf int, m memory) {
	if m.size() == 0 {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.of == nil {
		s.of = map[int][]memory{}
	}
	s.of[leaf] = append(s.of[leaf], m)
}

// take gives memory of a column, or none.
func (s *spares) take(leaf int) memory {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	all := s.of[leaf]
	if len(all) == 0 {
		return memory{}
	}
	m := all[len(all)-1]
	s.of[leaf] = all[:len(all)-1]
	return m
}

// memory is what the column holds.
func (c *Column) memory() memory {
	return memory{c.raw, c.dict, c.work, c.dictionary.offsets, c.dictionary.numbers, c.pages.r}
}

// reuse has the column read into memory of another one, as far as the bound on it allows.
func (c *Column) reuse(m memory) {
	if c.file.hold(m.size()) != nil {
		return
	}
	c.raw, c.dict, c.work, c.pages.r = m.raw, m.dict, m.work, m.r
	c.dictionary.offsets, c.dictionary.numbers = m.offsets, m.numbers
}
