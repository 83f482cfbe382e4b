package fleet

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/train"
)

// PermitClient is the least version of an agent that draws permits. Runs ask for it, or for a later one.
const PermitClient = "1.1.0"

// EraBits are those of a permit's number that count. Above them is when the server's store was last put back from a copy, in seconds since
// 1970: what it gave out after the copy is not known to it, and counted as drawn.
const EraBits = 31

// NonceSize is the length of what a process draws for the request of a permit.
const NonceSize = 32

// Permit lets a device make one report, in the round; round 0 stands for one that has drawn all of a run.
type Permit struct {
	Round uint64
	// Number counts the device's permits, over all runs, from 1.
	Number uint64
	// Request is the SHA-256 of the nonce that it was drawn by.
	Request Hash
}

// Place is what the permit of a number of a device is called: HMAC-SHA256, under its pseudonym key, of "discreet fleet permit 1", a zero
// byte, and the number as 8 bytes, little-endian. Each is used once, as a [Nullifier] is.
func Place(pseudonym [32]byte, number uint64) [32]byte {
	return placed(pseudonym, "discreet fleet permit 1\x00", nil, number)
}

// PlaceInRun is that of the number-th permit of the device in a run.
func PlaceInRun(pseudonym [32]byte, run train.RunID, number uint64) [32]byte {
	return placed(pseudonym, "discreet fleet permit of run 1\x00", run[:], number)
}

func placed(pseudonym [32]byte, context string, run []byte, number uint64) [32]byte {
	mac := hmac.New(sha256.New, pseudonym[:])
	mac.Write([]byte(context))
	mac.Write(run)
	mac.Write(binary.LittleEndian.AppendUint64(nil, number))
	return [32]byte(mac.Sum(nil))
}

// HasPermits tells whether only agents that draw permits take part in the run.
func (r *Run) HasPermits() bool {
	have, err := ParseVersion(r.MinClient)
	least, wrong := ParseVersion(PermitClient)
	return err == nil && wrong == nil && slices.Compare(have[:], least[:]) >= 0
}

// SignPermit signs a device's permit with a key of the run, which has the number id.
func (r *Run) SignPermit(id uint32, key ed25519.PrivateKey, pseudonym [32]byte, p Permit) (*fleetv1.SignedSpec, error) {
	place := Place(pseudonym, p.Number)
	return sign(permitContext, key, id, &fleetv1.Permit{Run: r.ID[:], Round: p.Round, Number: p.Number, Place: place[:], Request: p.Request[:]})
}

// VerifyPermit reads a permit of the device. The error wraps [ErrSpec].
func (r *Run) VerifyPermit(pseudonym [32]byte, signed *fleetv1.SignedSpec) (Permit, error) {
	key, ok := r.key(signed.GetKey(), fleetv1.Use_USE_SIGN)
	if !ok {
		return Permit{}, fmt.Errorf("%w: permit: key %d signs none of this run; fetch the run again", ErrSpec, signed.GetKey())
	}
	var m fleetv1.Permit
	if err := verify(permitContext, ed25519.PublicKey(key.Public), signed, &m); err != nil {
		return Permit{}, fmt.Errorf("permit: %w", err)
	}
	p := Permit{Round: m.GetRound(), Number: m.GetNumber()}
	place := Place(pseudonym, p.Number)
	if string(m.GetRun()) != string(r.ID[:]) || p.Number == 0 || !hmac.Equal(m.GetPlace(), place[:]) || len(m.GetRequest()) != len(p.Request) {
		return Permit{}, fmt.Errorf("%w: permit %d is of another run or another device", ErrSpec, p.Number)
	}
	copy(p.Request[:], m.GetRequest())
	return p, nil
}
