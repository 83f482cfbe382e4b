package receipt

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// errStamp marks text that is no part of a stamp.
var errStamp = errors.New("invalid stamp of a ledger")

// Stamp ties a release to the entry that paid for it. A release carries it in its
// field "ledger", as JSON.
type Stamp struct {
	// Ledger is the random identity of the ledger, and Dataset its dataset.
	Ledger  string `json:"ledger"`
	Dataset string `json:"dataset"`
	// Seq and Entry are the number and the hash of the charge.
	Seq   int64 `json:"seq"`
	Entry Hash  `json:"entry"`
	// Head is the last entry of the chain when the charge was committed.
	Head Head `json:"head"`
}

// Head names the last entry of a chain at some time: its place and its hash.
type Head struct {
	Seq  int64 `json:"seq"`
	Hash Hash  `json:"hash"`
}

// Hash is the SHA-256 of an entry, or of a release; in text it is hexadecimal.
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText implements [encoding.TextMarshaler].
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(h) {
		return fmt.Errorf("%w: a hash is %d hexadecimal digits", errStamp, 2*len(h))
	}
	*h = Hash(b)
	return nil
}
