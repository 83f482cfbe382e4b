package ingest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// FuzzJoinedIDs holds ids of two columns against their parts: an id tells both, whatever is
// in them, and plain spelling is of each part alone.
func FuzzJoinedIDs(f *testing.F) {
	for _, s := range [][2]string{{"7", "x"}, {"7/", "x"}, {"7", "/x"}, {`7\`, "/x"}, {`7\/`, `\`}, {"07", " a  b "}, {"\xff", "é"}} {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		join := func(a, b []byte) []byte { return appendPart(append(appendPart(nil, a), '/'), b) }
		id := join(a, b)
		if got := splitID(id); !slices.EqualFunc(got, [][]byte{a, b}, bytes.Equal) {
			t.Fatalf("%q and %q are %q, which is %q", a, b, id, got)
		}
		s := &spellings{joined: true}
		if got, want := s.plainID(id), join(plainID(a), plainID(b)); !bytes.Equal(got, want) {
			t.Errorf("plainly %q; want %q", got, want)
		}
		if s.isPlain(&table.ID{Text: id}) && !bytes.Equal(s.plainID(id), id) {
			t.Errorf("%q is told to be plain and is not", id)
		}
	})
}
