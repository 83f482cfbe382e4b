package fleet

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/train"
)

// Leaf is the hash by which a transcript names a report: SHA-256 of "discreet fleet leaf 1", a zero byte, the run, the round as 8 bytes,
// little-endian, the nullifier and the body. The nullifier, which only the device and the server know, is the salt.
func Leaf(run train.RunID, round uint64, nullifier [32]byte, body []byte) Hash {
	h := sha256.New()
	h.Write([]byte("discreet fleet leaf 1\x00"))
	h.Write(run[:])
	h.Write(binary.LittleEndian.AppendUint64(nil, round))
	h.Write(nullifier[:])
	h.Write(body)
	return Hash(h.Sum(nil))
}

// Ascending sorts hashes, and writes one after the other.
func Ascending(list []Hash) []byte {
	slices.SortFunc(list, func(a, b Hash) int { return bytes.Compare(a[:], b[:]) })
	out := make([]byte, 0, len(list)*sha256.Size)
	for _, h := range list {
		out = append(out, h[:]...)
	}
	return out
}

// ParseAscending reads what Ascending wrote: each hash once, in their order. The error wraps [ErrSpec].
func ParseAscending(data []byte) ([]Hash, error) {
	if len(data)%sha256.Size != 0 {
		return nil, fmt.Errorf("%w: %d bytes of hashes; want %d each", ErrSpec, len(data), sha256.Size)
	}
	var out []Hash
	for h := range slices.Chunk(data, sha256.Size) {
		if n := len(out); n > 0 && bytes.Compare(out[n-1][:], h) >= 0 {
			return nil, fmt.Errorf("%w: hashes that are not in ascending order", ErrSpec)
		}
		out = append(out, Hash(h))
	}
	return out, nil
}

// SignRecord signs what a round came to with a key of the run, which has the number id.
func SignRecord(id uint32, key ed25519.PrivateKey, r *fleetv1.RoundRecord) (*fleetv1.SignedSpec, error) {
	return sign(recordContext, key, id, r)
}

// SignEnd signs where a transcript ends.
func SignEnd(id uint32, key ed25519.PrivateKey, e *fleetv1.TranscriptEnd) (*fleetv1.SignedSpec, error) {
	return sign(endContext, key, id, e)
}

// VerifyRecord reads a record of the run. The error wraps [ErrSpec].
func (r *Run) VerifyRecord(signed *fleetv1.SignedSpec) (*fleetv1.RoundRecord, error) {
	m := &fleetv1.RoundRecord{}
	if err := r.verifyBy(recordContext, signed, m); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return m, r.own(m.GetRun())
}

// VerifyEnd reads where a transcript of the run ends. The error wraps [ErrSpec].
func (r *Run) VerifyEnd(signed *fleetv1.SignedSpec) (*fleetv1.TranscriptEnd, error) {
	m := &fleetv1.TranscriptEnd{}
	if err := r.verifyBy(endContext, signed, m); err != nil {
		return nil, fmt.Errorf("end: %w", err)
	}
	return m, r.own(m.GetRun())
}

func (r *Run) verifyBy(context string, signed *fleetv1.SignedSpec, m proto.Message) error {
	key, ok := r.key(signed.GetKey(), fleetv1.Use_USE_SIGN)
	if !ok {
		return fmt.Errorf("%w: key %d signs none of this run", ErrSpec, signed.GetKey())
	}
	return verify(context, ed25519.PublicKey(key.Public), signed, m)
}

func (r *Run) own(run []byte) error {
	if !bytes.Equal(run, r.ID[:]) {
		return fmt.Errorf("%w: it is of another run", ErrSpec)
	}
	return nil
}
