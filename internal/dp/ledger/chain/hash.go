package chain

import (
	"crypto/sha256"

	"github.com/discreet-rl/discreet/dp/receipt"
)

// domain separates the hashes of entries from all others.
const domain = "discreet/ledger/entry/v1\n"

// Hash is the SHA-256 of an entry, or of a release; in text it is hexadecimal.
type Hash = receipt.Hash

// Head names the last entry of a chain at some time: its place and its hash.
type Head = receipt.Head

// Sum is the hash of an entry's canonical bytes.
func Sum(line []byte) Hash {
	h := sha256.New()
	h.Write([]byte(domain))
	h.Write(line)
	return Hash(h.Sum(nil))
}

// SumRelease is the hash under which a release is recorded: its plain SHA-256.
func SumRelease(release []byte) Hash { return sha256.Sum256(release) }
