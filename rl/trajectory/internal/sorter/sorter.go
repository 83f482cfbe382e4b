package sorter

import (
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

const (
	// sortedAtOnce is how many bytes of records a sorter has in memory.
	sortedAtOnce = 1 << 25
	// mostRuns is how many runs of a level are merged into one of the next: as many files
	// are open at a time, times the levels.
	mostRuns = 64
)

// Sorter puts records in the order of their keys, byte by byte. About 32 MB of them stay in
// memory; more are in temporary files as [Temporary] makes. Without room on disk all
// stay in memory, which [Sorter.NoRoom] tells.
type Sorter struct {
	dir    string
	most   int // bytes in memory
	fan    int // runs of a level
	now    chunk
	levels [][]*run
	chunks []*chunk // sorted, which are in memory for want of room
	noRoom error
}

// New makes an empty one, whose files are in [os.TempDir].
func New() *Sorter {
	return &Sorter{dir: os.TempDir(), most: sortedAtOnce, fan: mostRuns}
}

// Put adds a record. Records of one key come in any order.
func (s *Sorter) Put(key, record []byte) {
	if s.now.size > 0 && s.now.size+len(key)+len(record) > s.most {
		s.spill()
	}
	s.now.add(key, record)
}

// NoRoom is why records could not be kept on disk, nil if they could.
func (s *Sorter) NoRoom() error { return s.noRoom }

// Dir is where files were needed, empty where all records are in memory.
func (s *Sorter) Dir() string {
	if len(s.levels) == 0 {
		return ""
	}
	return s.dir
}

// spill makes a run of what is in memory.
func (s *Sorter) spill() {
	c := s.now
	s.now = chunk{}
	c.sort()
	if s.noRoom == nil {
		if s.noRoom = s.write(0, &c); s.noRoom == nil {
			s.now = chunk{blocks: c.blocks, entries: c.entries[:0]} // used again
			s.noRoom = s.join(0)
			return
		}
	}
	c.at = 0
	s.chunks = append(s.chunks, &c)
}

// write makes a run of a level.
func (s *Sorter) write(level int, from ordered) error {
	r, err := newRun(s.dir)
	if err == nil {
		err = r.fill(from)
	}
	if err != nil {
		if r != nil {
			err = errors.Join(err, r.close())
		}
		return fmt.Errorf("rows could not be kept in temporary files in %s: %w; they need 8 bytes a number there: have TMPDIR name another directory, or sort the data, so that they need none", s.dir, err)
	}
	if level == len(s.levels) {
		s.levels = append(s.levels, nil)
	}
	s.levels[level] = append(s.levels[level], r)
	return nil
}

// join merges the runs of a level into one of the next where there are many. They are kept
// where that fails.
func (s *Sorter) join(level int) error {
	if len(s.levels[level]) < s.fan {
		return nil
	}
	runs := s.levels[level]
	merged, err := merge(sources(runs, nil))
	if err == nil {
		err = s.write(level+1, merged)
	}
	if err != nil {
		return err
	}
	s.levels[level] = nil
	for _, r := range runs {
		err = errors.Join(err, r.close())
	}
	return errors.Join(err, s.join(level+1))
}

// Sorted gives all records in order; none can be put after that.
func (s *Sorter) Sorted() (*Sorted, error) {
	s.now.sort()
	m, err := merge(sources(slices.Concat(s.levels...), append(s.chunks, &s.now)))
	return &Sorted{m}, err
}

// Close removes all that is kept.
func (s *Sorter) Close() error {
	var all error
	for _, r := range slices.Concat(s.levels...) {
		all = errors.Join(all, r.close())
	}
	*s = Sorter{dir: s.dir, most: s.most, fan: s.fan}
	return all
}

// Sorted are records in order.
type Sorted struct{ from *merged }

// Next gives the next record and its key, which hold until the next call, or io.EOF.
func (s *Sorted) Next() (key, record []byte, err error) { return s.from.next() }

// ordered gives records in order, and io.EOF after the last.
type ordered interface {
	next() (key, record []byte, err error)
}

// blockSize is the usual size of a block, of which memory for one is asked at a time.
const blockSize = 1 << 18

// chunk is records in memory.
type chunk struct {
	blocks  [][]byte // keys and records, each whole in one of the first used blocks
	used    int
	size    int // of all keys and records
	entries []entry
	at      int
}

// entry is where a key begins, and where it and its record end, in a block.
type entry struct {
	prefix                 uint64 // the first bytes of the key
	block, start, key, end uint32
}

func (c *chunk) add(key, record []byte) {
	size := len(key) + len(record)
	if c.used == 0 || cap(c.blocks[c.used-1])-len(c.blocks[c.used-1]) < size {
		c.open(size)
	}
	b := c.blocks[c.used-1]
	start := len(b)
	b = append(append(b, key...), record...)
	c.blocks[c.used-1], c.size = b, c.size+size
	var first [8]byte
	copy(first[:], key)
	c.entries = append(c.entries, entry{binary.BigEndian.Uint64(first[:]), uint32(c.used - 1), uint32(start), uint32(start + len(key)), uint32(len(b))})
}

// open goes on to an empty block that has room.
func (c *chunk) open(size int) {
	switch {
	case c.used == len(c.blocks):
		c.blocks = append(c.blocks, make([]byte, 0, max(size, blockSize)))
	case cap(c.blocks[c.used]) < size:
		c.blocks[c.used] = make([]byte, 0, size)
	default:
		c.blocks[c.used] = c.blocks[c.used][:0]
	}
	c.used++
}

func (c *chunk) keyOf(e *entry) []byte { return c.blocks[e.block][e.start:e.key] }

func (c *chunk) recordOf(e *entry) []byte { return c.blocks[e.block][e.key:e.end] }

// sort compares keys whole where they begin alike and have more. Records of one key stay in
// their order.
func (c *chunk) sort() {
	if slices.IsSortedFunc(c.entries, c.compare) {
		return
	}
	c.sortPrefixes()
	for from := 0; from < len(c.entries); {
		to := from + 1
		for to < len(c.entries) && c.entries[to].prefix == c.entries[from].prefix {
			to++
		}
		slices.SortFunc(c.entries[from:to], c.compare)
		from = to
	}
}

// sortPrefixes sorts by one byte of the prefixes after another, the last one first.
func (c *chunk) sortPrefixes() {
	from, to := c.entries, make([]entry, len(c.entries))
	for shift := 0; shift < 64; shift += 8 {
		var at [256]int
		for i := range from {
			at[byte(from[i].prefix>>shift)]++
		}
		if at[byte(from[0].prefix>>shift)] == len(from) {
			continue
		}
		before := 0
		for b, n := range at {
			at[b] = before
			before += n
		}
		for i := range from {
			b := byte(from[i].prefix >> shift)
			to[at[b]] = from[i]
			at[b]++
		}
		from, to = to, from
	}
	c.entries = from
}

func (c *chunk) compare(a, b entry) int {
	if a.prefix != b.prefix {
		return cmp.Compare(a.prefix, b.prefix)
	}
	if a.key-a.start > 8 && b.key-b.start > 8 {
		if d := bytes.Compare(c.keyOf(&a), c.keyOf(&b)); d != 0 {
			return d
		}
	}
	return cmp.Or(cmp.Compare(a.key-a.start, b.key-b.start), cmp.Compare(a.block, b.block), cmp.Compare(a.start, b.start))
}

func (c *chunk) next() (key, record []byte, err error) {
	if c.at == len(c.entries) {
		return nil, nil, io.EOF
	}
	e := &c.entries[c.at]
	c.at++
	return c.keyOf(e), c.recordOf(e), nil
}

// merged gives the records of several sources in order.
type merged struct {
	heads []*head
	last  *head // whose record was given
}

// head is the next record of a source.
type head struct {
	from        ordered
	key, record []byte
}

func sources(runs []*run, chunks []*chunk) []ordered {
	var all []ordered
	for _, r := range runs {
		all = append(all, r)
	}
	for _, c := range chunks {
		all = append(all, c)
	}
	return all
}

// merge begins to read sources.
func merge(from []ordered) (*merged, error) {
	m := &merged{}
	for _, s := range from {
		if r, ok := s.(*run); ok {
			if err := r.begin(); err != nil {
				return nil, err
			}
		}
		h := &head{from: s}
		err := h.read()
		if errors.Is(err, io.EOF) {
			continue
		}
		if err != nil {
			return nil, err
		}
		m.heads = append(m.heads, h)
	}
	heap.Init(m)
	return m, nil
}

func (h *head) read() (err error) {
	h.key, h.record, err = h.from.next()
	return err
}

func (m *merged) next() (key, record []byte, err error) {
	if m.last != nil {
		switch err := m.last.read(); {
		case errors.Is(err, io.EOF):
			heap.Pop(m)
		case err != nil:
			return nil, nil, err
		default:
			heap.Fix(m, 0)
		}
	}
	if len(m.heads) == 0 {
		m.last = nil
		return nil, nil, io.EOF
	}
	m.last = m.heads[0]
	return m.last.key, m.last.record, nil
}

// Len, Less, Swap, Push and Pop implement [heap.Interface].
func (m *merged) Len() int { return len(m.heads) }

func (m *merged) Less(i, j int) bool {
	return bytes.Compare(m.heads[i].key, m.heads[j].key) < 0
}

func (m *merged) Swap(i, j int) { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }

func (m *merged) Push(x any) { m.heads = append(m.heads, x.(*head)) }

func (m *merged) Pop() any {
	last := len(m.heads) - 1
	h := m.heads[last]
	m.heads = m.heads[:last]
	return h
}
