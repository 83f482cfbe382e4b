package fleet

import (
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/train"
)

const (
	reportVersion = 1
	reportHeader  = 1
	sealInfo      = "discreet fleet report 1"
	encapsulated  = 32
	// Overhead is what sealing adds to a report, in bytes: the encapsulated key and the tag.
	Overhead = encapsulated + 16
)

func curve() ecdh.Curve { return ecdh.X25519() }

// SealedSize is the size of every sealed report of the run.
func (r *Run) SealedSize() int { return r.ReportBytes + Overhead }

// bound is what a sealed report is good for: run, round and the hash of the round's spec.
func (r *Round) bound() []byte {
	b := append([]byte(nil), r.run.ID[:]...)
	b = binary.LittleEndian.AppendUint64(b, r.Number)
	return append(b, r.Hash[:]...)
}

// Seal seals a body, of the size of the round's codec, to a key of the run. The result has SealedSize bytes, whatever the body.
func (r *Round) Seal(body []byte, to Key) ([]byte, error) {
	if len(body) != r.Codec().Size() {
		return nil, fmt.Errorf("%w: a body of %d bytes; want %d", ErrReport, len(body), r.Codec().Size())
	}
	public, err := hpke.DHKEM(curve()).NewPublicKey(to.Public)
	if err != nil {
		return nil, fmt.Errorf("%w: key %d: %w", ErrReport, to.ID, err)
	}
	enc, sender, err := hpke.NewSender(public, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), []byte(sealInfo))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReport, err)
	}
	plain := make([]byte, r.run.ReportBytes)
	plain[0] = reportVersion
	copy(plain[reportHeader:], body)
	sealed, err := sender.Seal(r.bound(), plain)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReport, err)
	}
	return append(enc, sealed...), nil
}

// Unseal opens a report of the round that was sealed to the key, and returns its body. Nothing but what Seal makes is taken. The
// error wraps [ErrReport].
func (r *Round) Unseal(sealed []byte, key hpke.PrivateKey) ([]byte, error) {
	if len(sealed) != r.run.SealedSize() {
		return nil, fmt.Errorf("%w: %d bytes; want %d", ErrReport, len(sealed), r.run.SealedSize())
	}
	recipient, err := hpke.NewRecipient(sealed[:encapsulated], key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), []byte(sealInfo))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReport, err)
	}
	plain, err := recipient.Open(r.bound(), sealed[encapsulated:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReport, err)
	}
	size := r.Codec().Size()
	if plain[0] != reportVersion {
		return nil, fmt.Errorf("%w: form %d; this version knows %d", ErrReport, plain[0], reportVersion)
	}
	for _, b := range plain[reportHeader+size:] {
		if b != 0 {
			return nil, fmt.Errorf("%w: something follows the body", ErrReport)
		}
	}
	return plain[reportHeader : reportHeader+size], nil
}

// NewSealKey draws a private key that reports are sealed to, and its public half.
func NewSealKey() (private hpke.PrivateKey, public []byte, err error) {
	private, err = hpke.DHKEM(curve()).GenerateKey()
	if err != nil {
		return nil, nil, err
	}
	return private, private.PublicKey().Bytes(), nil
}

// ParseSealKey reads the bytes of a private key that [NewSealKey] drew.
func ParseSealKey(data []byte) (hpke.PrivateKey, error) {
	key, err := hpke.DHKEM(curve()).NewPrivateKey(data)
	if err != nil {
		return nil, fmt.Errorf("%w: no X25519 key: %w", ErrConfig, err)
	}
	return key, nil
}

// Nullifier is what a device is in a round, one for each: HMAC-SHA256, under the device's pseudonym key, of "discreet fleet
// nullifier 1", a zero byte, the run, and the round as 8 bytes, little-endian. Without the key nobody can tell the nullifiers of one
// device from those of others.
func Nullifier(pseudonym [32]byte, run train.RunID, round uint64) [32]byte {
	mac := hmac.New(sha256.New, pseudonym[:])
	mac.Write([]byte("discreet fleet nullifier 1\x00"))
	mac.Write(run[:])
	mac.Write(binary.LittleEndian.AppendUint64(nil, round))
	return [32]byte(mac.Sum(nil))
}

// Seed is what the public randomness of a device's report follows from: SHA-256 of "discreet fleet seed 1", a zero byte, the run, the
// round as 8 bytes, little-endian, its beacon and the nullifier.
func (r *Round) Seed(nullifier [32]byte) local.Seed {
	const context = "discreet fleet seed 1\x00"
	b := make([]byte, 0, len(context)+16+8+32+32)
	b = append(b, context...)
	b = append(b, r.run.ID[:]...)
	b = binary.LittleEndian.AppendUint64(b, r.Number)
	b = append(b, r.Beacon[:]...)
	b = append(b, nullifier[:]...)
	return sha256.Sum256(b)
}

// Request is the message that carries a sealed report, under a permit.
func (r *Round) Request(sealed []byte, to Key, permit *fleetv1.SignedSpec) *fleetv1.UploadRequest {
	return &fleetv1.UploadRequest{Run: r.run.ID[:], Round: r.Number, Key: to.ID, Sealed: sealed, Permit: permit}
}
