package ingest

import "github.com/discreet-rl/discreet/rl/trajectory/internal/table"

// idList is a list of ids, all held as of one kind, which every text can be.
type idList struct {
	kind   table.IDKind
	n      int
	low    integers // numbers, or the halves of UUIDs
	high   integers
	chunks []textChunk
}

// textChunk holds texts, one after another.
type textChunk struct {
	text []byte
	end  []uint32 // perChunk of at most [table.MaxKey] bytes have room
}

// forNumber is memory for the text of a number or of a UUID.
type forNumber [40]byte

// held is an id as the list would hold it, if it can. The text is the id's own, or in at.
func (l *idList) held(id *table.ID, at *forNumber) (table.ID, bool) {
	if l.kind == table.TextID && id.Kind != table.TextID && l.n > 0 {
		return table.ID{Text: id.Append(at[:0])}, true
	}
	return *id, l.kind == id.Kind
}

// at is id i as it is held.
func (l *idList) at(i int) table.ID {
	switch l.kind {
	case table.NumberID:
		return table.NumberOf(l.low.at(i))
	case table.UUIDID:
		return table.ID{Kind: table.UUIDID, High: uint64(l.high.at(i)), Low: uint64(l.low.at(i))}
	}
	c, k := &l.chunks[i/perChunk], i%perChunk
	from := uint32(0)
	if k > 0 {
		from = c.end[k-1]
	}
	return table.ID{Text: c.text[from:c.end[k]]}
}

// goesOn tells that an id is a number, as all of the list are, and above the last.
func (l *idList) goesOn(id *table.ID) bool {
	return l.n > 0 && l.kind == table.NumberID && id.Kind == table.NumberID && id.Number() > l.low.at(l.n-1)
}

// add adds an id as it is held.
func (l *idList) add(id *table.ID) {
	if l.kind != table.TextID {
		l.low.add(int64(id.Low))
		if l.kind == table.UUIDID {
			l.high.add(int64(id.High))
		}
		l.n++
		return
	}
	if l.n%perChunk == 0 {
		c := textChunk{}
		if l.n > 0 {
			c.text = make([]byte, 0, len(l.chunks[len(l.chunks)-1].text))
			c.end = make([]uint32, 0, perChunk)
		}
		l.chunks = append(l.chunks, c)
	}
	c := &l.chunks[len(l.chunks)-1]
	c.text = append(c.text, id.Text...)
	c.end = append(c.end, uint32(len(c.text)))
	l.n++
}

// admit has the list hold what is of a kind that it does not.
func (l *idList) admit(kind table.IDKind) {
	if l.n == 0 {
		l.kind = kind
		return
	}
	old := *l
	*l = idList{}
	var at forNumber
	for i := range old.n {
		id := old.at(i)
		l.add(&table.ID{Text: id.Append(at[:0])})
	}
}

// strings gives the text of every id; they share one allocation.
func (l *idList) strings() []string {
	var text []byte
	ends := make([]int, l.n)
	for i := range ends {
		id := l.at(i)
		text = id.Append(text)
		ends[i] = len(text)
	}
	all, start := string(text), 0
	out := make([]string, l.n)
	for i, end := range ends {
		out[i], start = all[start:end], end
	}
	return out
}

// first is a list of the first n ids.
func (l *idList) first(n int) idList {
	out := idList{kind: l.kind}
	for i := range n {
		id := l.at(i)
		out.add(&id)
	}
	return out
}
