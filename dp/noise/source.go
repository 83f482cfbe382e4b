package noise

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/bits"

	"github.com/discreet-rl/discreet/internal/dp/hook"
)

// ErrEntropy marks a failure of the operating system's random source.
var ErrEntropy = errors.New("no entropy from the operating system")

const (
	keySize    = 32   // AES-256
	bufferSize = 8192 // bytes of keystream for each key
)

// Source is a cryptographic stream of uniform bits: the only randomness that
// private noise may come from. Make one with [NewSource]; the zero value panics.
//
// The stream is AES-256 in counter mode with fast key erasure (Bernstein 2017):
// each key encrypts 8 KiB and the 32 bytes that become the next key, so that a
// later look at the state does not give back the noise of earlier buffers. A
// source from [NewSource] also mixes 32 fresh bytes of the operating system into
// every new key, so that two copies of a running machine part ways within one
// buffer.
//
// Each refill costs about a microsecond and three small allocations, for 1024
// words. A Source is not safe for concurrent use: give each goroutine its own, with
// [Source.Split]. It must not be copied, because two copies return the same
// noise; go vet reports a copy.
type Source struct {
	_      noCopy
	unread int // bytes of buf that were not read yet, at its end
	keyed  bool
	seeded bool
	tape   hook.Tape
	sums   hook.Sums
	key    [keySize]byte
	fresh  [keySize]byte
	buf    [bufferSize]byte
}

// NewSource returns a source that is keyed by the operating system. The error
// wraps [ErrEntropy].
func NewSource() (*Source, error) {
	s := &Source{keyed: true}
	if _, err := io.ReadFull(rand.Reader, s.key[:]); err != nil {
		return nil, fmt.Errorf("%w: %w; check that getrandom or /dev/urandom is available", ErrEntropy, err)
	}
	return s, nil
}

// NewSeeded returns a source whose whole stream follows from the seed and is the same on every
// machine. Whoever knows or guesses the seed can subtract the noise, so it is only for tests, and
// [Source.Seeded] marks what it made.
func NewSeeded(seed uint64) *Source {
	material := append([]byte("discreet/dp/noise seeded source 1"), make([]byte, 8)...)
	binary.LittleEndian.PutUint64(material[len(material)-8:], seed)
	return &Source{keyed: true, seeded: true, key: sha256.Sum256(material)}
}

// drawTape is a [hook.Tape] that is told, before each draw of [Gaussian], the standard deviation
// that the sampler was made with: what is told of a sum can be compared with it.
type drawTape interface {
	Drawn(sigma float64)
}

// drawn informs the tape of a draw.
func (s *Source) drawn(sigma float64) {
	if t, ok := s.tape.(drawTape); ok {
		t.Drawn(sigma)
	}
}

// laplaceTape is a [hook.Tape] that is told the same of [DiscreteLaplace].
type laplaceTape interface {
	DrawnLaplace(scale float64)
}

// coinTape is a [hook.Tape] that is told, before each coin of [Source.BernoulliExpRat], its exponent.
type coinTape interface {
	Tossed(x *big.Rat)
}

// NewTaped is [NewSeeded] with a tape. It is as unsafe, and only for tests.
func NewTaped(seed uint64, t hook.Tape) *Source {
	s := NewSeeded(seed)
	s.tape = t
	return s
}

// Tape returns the tape of a source from [NewTaped], nil of any other.
func (s *Source) Tape() hook.Tape { return s.tape }

// Seeded reports whether the source came from [NewSeeded]. A release made with a seeded source is not private.
func (s *Source) Seeded() bool { return s.seeded }

// Uint64 returns 64 uniform bits.
func (s *Source) Uint64() uint64 {
	if s.unread == 0 {
		s.refill()
	}
	s.unread -= 8
	return binary.LittleEndian.Uint64(s.buf[bufferSize-8-s.unread:])
}

// Uint64n returns a uniform integer in [0, n). It is exactly uniform (Lemire
// 2019) and panics if n is 0.
func (s *Source) Uint64n(n uint64) uint64 {
	if n == 0 {
		panic("noise: Uint64n(0)")
	}
	hi, lo := bits.Mul64(s.Uint64(), n)
	if lo < n {
		for surplus := -n % n; lo < surplus; {
			hi, lo = bits.Mul64(s.Uint64(), n)
		}
	}
	return hi
}

// refill draws the next key and the next buffer from the current key.
func (s *Source) refill() {
	if !s.keyed {
		panic("noise: the zero value of Source has no key; call NewSource")
	}
	block, err := aes.NewCipher(s.key[:])
	if err != nil {
		panic("noise: " + err.Error()) // a 32-byte key is always accepted
	}
	var counter [aes.BlockSize]byte
	stream := cipher.NewCTR(block, counter[:])
	clear(s.key[:])
	stream.XORKeyStream(s.key[:], s.key[:])
	clear(s.buf[:])
	stream.XORKeyStream(s.buf[:], s.buf[:])
	s.stir()
	s.unread = bufferSize
}

// stir mixes fresh entropy into the key of a source that is not seeded.
// crypto/rand.Read does not return without it: it ends the process instead.
func (s *Source) stir() {
	if s.seeded {
		return
	}
	_, _ = rand.Read(s.fresh[:])
	subtle.XORBytes(s.key[:], s.key[:], s.fresh[:])
	clear(s.fresh[:])
}

// noCopy makes go vet's copylocks check report a copied Source.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
