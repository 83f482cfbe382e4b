package chain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// domain separates the hashes of entries from all others.
const domain = "discreet/ledger/entry/v1\n"

// Hash is the SHA-256 of an entry, or of a release; in text it is hexadecimal.
type Hash [sha256.Size]byte

// Sum is the hash of an entry's canonical bytes.
func Sum(line []byte) Hash {
	h := sha256.New()
	h.Write([]byte(domain))
	h.Write(line)
	return Hash(h.Sum(nil))
}

// SumRelease is the hash under which a release is recorded: its plain SHA-256.
func SumRelease(release []byte) Hash { return sha256.Sum256(release) }

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText implements [encoding.TextMarshaler].
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(h) {
		return fmt.Errorf("%w: a hash is %d hexadecimal digits", ErrEntry, 2*len(h))
	}
	*h = Hash(b)
	return nil
}

// Head names the last entry of a chain at some time: its place and its hash.
type Head struct {
	Seq  int64 `json:"seq"`
	Hash Hash  `json:"hash"`
}
