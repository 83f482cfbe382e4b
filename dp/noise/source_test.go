package noise

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
	"testing"
)

func TestStreamIsAESCounterModeWithKeyErasure(t *testing.T) {
	seed := make([]byte, 8)
	binary.LittleEndian.PutUint64(seed, 42)
	key := sha256.Sum256(append([]byte("discreet/dp/noise seeded source 1"), seed...))
	s := NewSeeded(42)
	for buffer := range 3 {
		block, err := aes.NewCipher(key[:])
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, keySize+bufferSize)
		cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(want, want)
		copy(key[:], want)
		for i := keySize; i < len(want); i += 8 {
			if got := s.Uint64(); got != binary.LittleEndian.Uint64(want[i:]) {
				t.Fatalf("buffer %d, byte %d: %#x", buffer, i-keySize, got)
			}
		}
		if s.key != key {
			t.Fatalf("buffer %d: the key was not replaced", buffer)
		}
	}
}

func TestUnseededSourcesPartWays(t *testing.T) {
	a, err := NewSource()
	if err != nil {
		t.Fatal(err)
	}
	b := &Source{keyed: true, key: a.key} // as after a snapshot of the machine
	for range bufferSize / 8 {
		if a.Uint64() != b.Uint64() {
			t.Fatal("the same key gives different buffers")
		}
	}
	same := 0
	for range bufferSize / 8 {
		if a.Uint64() == b.Uint64() {
			same++
		}
	}
	if same > 0 { // false alarm 2^-54
		t.Errorf("%d of %d words of the second buffer agree", same, bufferSize/8)
	}
	if a.Seeded() {
		t.Error("a source of the operating system says that it is seeded")
	}
	if !bytes.Equal(a.fresh[:], make([]byte, keySize)) {
		t.Error("the fresh entropy was kept")
	}
}

// brokenReader stands for an operating system without entropy.
type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestNewSourceReportsMissingEntropy(t *testing.T) {
	good := rand.Reader
	defer func() { rand.Reader = good }()
	rand.Reader = brokenReader{}
	if s, err := NewSource(); s != nil || !errors.Is(err, ErrEntropy) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("NewSource() = %v, %v; want ErrEntropy", s, err)
	}
}

func TestSeededStreamsAreReproducibleAndMarked(t *testing.T) {
	a, b, c := NewSeeded(7), NewSeeded(7), NewSeeded(8)
	if !a.Seeded() {
		t.Error("a seeded source does not say so")
	}
	for i := range 5000 {
		if a.Uint64() != b.Uint64() {
			t.Fatalf("word %d differs under the same seed", i)
		}
	}
	if a.Uint64() == c.Uint64() {
		t.Error("different streams agree")
	}
}

func TestBytesOfTheStreamAreUniform(t *testing.T) {
	src, counts := NewSeeded(13), make([]int, 256)
	ones := make([]int, 64)
	const n = 1 << 18
	for range n {
		w := src.Uint64()
		for i := 0; i < 64; i += 8 {
			counts[w>>i&255]++
		}
		for w := w; w != 0; w &= w - 1 {
			ones[bits.TrailingZeros64(w)]++
		}
	}
	uniform := make([]float64, 256)
	for i := range uniform {
		uniform[i] = 1. / 256
	}
	if p := chiSquared(counts, uniform); p < falseAlarm {
		t.Errorf("bytes: p = %.2g", p)
	}
	for i, k := range ones {
		if z := (float64(k) - n/2) / math.Sqrt(n/4); math.Abs(z) > 6.5 {
			t.Errorf("bit %d: %d of %d ones", i, k, n)
		}
	}
}

func TestUint64nIsUniform(t *testing.T) {
	// At n = 3 * 2^62 the plain product would favour thirds of the range.
	for _, n := range []uint64{1, 2, 7, 1000, 3 << 62, 1<<63 + 1, math.MaxUint64} {
		src := NewSeeded(n)
		cells := int(min(n, 12))
		counts, uniform := make([]int, cells), make([]float64, cells)
		residues := make([]int, 3)
		for range 1 << 17 {
			v := src.Uint64n(n)
			if v >= n {
				t.Fatalf("Uint64n(%d) = %d", n, v)
			}
			hi, lo := bits.Mul64(v, uint64(cells))
			cell, _ := bits.Div64(hi, lo, n)
			counts[cell]++
			residues[v%3]++
		}
		for i := range uniform {
			uniform[i] = 1 / float64(cells)
		}
		if n == 1000 { // cells of 84 or 83 values
			for i := range uniform {
				uniform[i] = float64((1000*(i+1)+11)/12-(1000*i+11)/12) / 1000
			}
		}
		if cells > 1 {
			if p := chiSquared(counts, uniform); p < falseAlarm {
				t.Errorf("Uint64n(%d): p = %.2g", n, p)
			}
		}
		if n > 1000 {
			if p := chiSquared(residues, []float64{1. / 3, 1. / 3, 1. / 3}); p < falseAlarm {
				t.Errorf("Uint64n(%d) mod 3: p = %.2g", n, p)
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Uint64n(0) did not panic")
		}
	}()
	NewSeeded(1).Uint64n(0)
}

func TestGoldenDraws(t *testing.T) {
	// The same on every machine: a change here breaks the record of every test
	// that holds a seed.
	src := NewSeeded(1)
	for i, want := range goldenWords {
		if got := src.Uint64(); got != want {
			t.Errorf("word %d: %#x; want %#x", i, got, want)
		}
	}
	for _, l := range laws {
		for scale, want := range goldenDraws[l.name] {
			s, err := l.make(scale)
			if err != nil {
				t.Fatal(err)
			}
			src := NewSeeded(1)
			var sum int64
			for i := range 100_000 {
				k := s.Sample(src)
				if i < len(want.first) && k != want.first[i] {
					t.Errorf("%s(%g): draw %d: %d; want %d", l.name, scale, i, k, want.first[i])
				}
				sum = sum*31 + k
			}
			if sum != want.hash {
				t.Errorf("%s(%g): hash of 100000 draws %d; want %d", l.name, scale, sum, want.hash)
			}
		}
	}
}
