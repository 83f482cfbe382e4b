package ingest

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// To write a plain id plainly changes nothing, and the ids that are known to be plain at a
// glance are: otherwise one of two spellings would pass.
func TestPlainIdsStayAsTheyAre(t *testing.T) {
	piece := rapid.SampledFrom([]string{"7", "0", "07", "1", "000", "a", "x", "e", "E", "+", "-", ".", ",", "'", "\"", "=", "`", " ", "\t", "_",
		"\u0667", "\uff10", "\u2011", "\u2212", "\u2019", "\u00a0", "\u200d", "\u00bd", "\u00b2", "\ufb01", "\u0301", "\xff", "0x", "1e9", "#"})
	rapid.Check(t, func(t *rapid.T) {
		var id []byte
		for _, p := range rapid.SliceOfN(piece, 1, 7).Draw(t, "id") {
			id = append(id, p...)
		}
		plain := plainID(id)
		if again := plainID(plain); !bytes.Equal(again, plain) {
			t.Fatalf("%q is %q plainly, and that %q", id, plain, again)
		}
		if isPlain(id) && !bytes.Equal(plain, id) {
			t.Fatalf("%q is plain at a glance, and %q plainly", id, plain)
		}
	})
}

// FuzzPlainID: the same of any bytes.
func FuzzPlainID(f *testing.F) {
	f.Add([]byte("='0x\u0667,000\""))
	f.Fuzz(func(t *testing.T, id []byte) {
		plain := plainID(bytes.Clone(id))
		if again := plainID(bytes.Clone(plain)); !bytes.Equal(again, plain) {
			t.Fatalf("%q is %q plainly, and that %q", id, plain, again)
		}
		if isPlain(id) && !bytes.Equal(plain, id) {
			t.Fatalf("%q is plain at a glance, and %q plainly", id, plain)
		}
	})
}
