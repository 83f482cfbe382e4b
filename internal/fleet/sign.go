package fleet

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
)

// Root is the number of the root's key, which signs runs.
const Root = 0

// What is signed begins with one of these, so that no signature is good for anything else.
const (
	runContext    = "discreet fleet run 1\x00"
	roundContext  = "discreet fleet round 1\x00"
	permitContext = "discreet fleet permit 1\x00"
	recordContext = "discreet fleet record 1\x00"
	endContext    = "discreet fleet transcript 1\x00"
)

// Hash is the SHA-256 of a spec as it was signed, or of weights.
type Hash = [sha256.Size]byte

// HashOf is the hash of a signed spec, by which the next one names it.
func HashOf(s *fleetv1.SignedSpec) Hash { return sha256.Sum256(s.GetSpec()) }

// sign encodes a spec and signs it.
func sign(context string, key ed25519.PrivateKey, id uint32, spec proto.Message) (*fleetv1.SignedSpec, error) {
	if len(key) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("%w: a private key of %d bytes; want one of Ed25519", ErrConfig, len(key))
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return &fleetv1.SignedSpec{Spec: data, Key: id, Signature: ed25519.Sign(key, append([]byte(context), data...))}, nil
}

// verify reads the spec into m if the signature is good and nothing in it is unknown: an owner cannot consent to what their
// device cannot read.
func verify(context string, key ed25519.PublicKey, s *fleetv1.SignedSpec, m proto.Message) error {
	if len(key) != ed25519.PublicKeySize || len(s.GetSpec()) > mostSpec ||
		!ed25519.Verify(key, append([]byte(context), s.GetSpec()...), s.GetSignature()) {
		return fmt.Errorf("%w: the signature is not that of key %d", ErrSpec, s.GetKey())
	}
	if err := proto.Unmarshal(s.GetSpec(), m); err != nil {
		return fmt.Errorf("%w: %w", ErrSpec, err)
	}
	return known(m)
}

// known refuses fields that this program has no name for.
func known(m proto.Message) error {
	unknown := len(m.ProtoReflect().GetUnknown()) > 0
	switch s := m.(type) {
	case *fleetv1.RunSpec:
		unknown = unknown || len(s.GetRandomizer().ProtoReflect().GetUnknown()) > 0
		for _, k := range s.GetKeys() {
			unknown = unknown || len(k.ProtoReflect().GetUnknown()) > 0
		}
	case *fleetv1.RoundSpec:
		unknown = unknown || len(s.GetRandomizer().ProtoReflect().GetUnknown()) > 0
	}
	if unknown {
		return fmt.Errorf("%w: it says more than this version understands; update it", ErrSpec)
	}
	return nil
}

// SignRun signs a revision of a run with the root's key. What makes no run is refused with [ErrConfig].
func SignRun(root ed25519.PrivateKey, spec *fleetv1.RunSpec) (*fleetv1.SignedSpec, error) {
	if _, err := parseRun(spec); err != nil {
		return nil, asConfig(err)
	}
	return sign(runContext, root, Root, spec)
}

// SignRound signs a round with a key of the run, which has the number id. What makes no round of the run, after the one
// before, is refused with [ErrConfig].
func SignRound(r *Run, before Head, id uint32, key ed25519.PrivateKey, spec *fleetv1.RoundSpec) (*fleetv1.SignedSpec, error) {
	s, err := sign(roundContext, key, id, spec)
	if err != nil {
		return nil, err
	}
	_, err = r.VerifyRound(before, s)
	return s, asConfig(err)
}

// asConfig makes what a device would refuse the operator's mistake.
func asConfig(err error) error {
	if err == nil || errors.Is(err, ErrConfig) {
		return err
	}
	return fmt.Errorf("%w: %v", ErrConfig, err)
}

// returnContext begins what a device signs that comes back after its certificate has ended.
const returnContext = "discreet fleet return 1\x00"

// ReturnDigest is what a device signs with the key of its last certificate to get one for the request, by a code.
func ReturnDigest(csr []byte, code string) [sha256.Size]byte {
	request := sha256.Sum256(csr)
	return sha256.Sum256(append(append([]byte(returnContext), request[:]...), code...))
}
