package fleet_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hpke"
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/train"
)

// The keys of the tests: seeds of 32 equal bytes.
var (
	rootKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	signKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, 32))
	root    = rootKey.Public().(ed25519.PublicKey)
)

const start = int64(1_800_000_000_000)

func at(offset time.Duration) time.Time { return time.UnixMilli(start).Add(offset) }

func sealKey(t testing.TB) hpke.PrivateKey {
	t.Helper()
	key, err := fleet.ParseSealKey(bytes.Repeat([]byte{3}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// runSpec is a run of 112 weights by sign-prs at epsilon 1.
func runSpec(t testing.TB) *fleetv1.RunSpec {
	t.Helper()
	r := train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}
	return &fleetv1.RunSpec{
		Run: bytes.Repeat([]byte{7}, 16), Schema: 1, Purpose: "balance poles", LocalJson: []byte(`{}`),
		Randomizer: fleet.RandomizerMessage(r), EpsilonReport: r.Epsilon, ReportsPerDevice: 8, Dim: 112, ReportBytes: 64,
		Mode: fleetv1.Mode_MODE_LINKED,
		Keys: []*fleetv1.Key{
			{Id: 1, Use: fleetv1.Use_USE_SIGN, Public: signKey.Public().(ed25519.PublicKey), ValidFrom: start - 1000, ValidUntil: start + 1e9},
			{Id: 2, Use: fleetv1.Use_USE_SEAL, Public: sealKey(t).PublicKey().Bytes(), ValidFrom: start - 1000, ValidUntil: start + 1e9},
		},
	}
}

func signedRun(t testing.TB, s *fleetv1.RunSpec) *fleetv1.SignedSpec {
	t.Helper()
	signed, err := fleet.SignRun(rootKey, s)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func verifiedRun(t testing.TB, s *fleetv1.RunSpec) *fleet.Run {
	t.Helper()
	r, err := fleet.VerifyRun(root, []*fleetv1.SignedSpec{signedRun(t, s)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// roundSpec is the round after the one before.
func roundSpec(r *fleet.Run, before fleet.Head, theta []float64) *fleetv1.RoundSpec {
	hash := train.HashWeights(theta)
	return &fleetv1.RoundSpec{
		Run: r.ID[:], Round: before.Round + 1, Previous: before.Hash[:], Version: 4, WeightsSha256: hash[:],
		Kind: fleetv1.Kind_KIND_TRAIN, Randomizer: fleet.RandomizerMessage(r.Randomizer), Epsilon: r.Randomizer.Epsilon,
		Beacon: bytes.Repeat([]byte{9}, 32), SampleRate: .5, Opens: start, TrainBy: start + 1000, UploadFrom: start + 1000, UploadUntil: start + 5000,
		MinReports: 10, MaxReports: 100,
	}
}

// sign signs a spec with any key and no checks.
func sign(t testing.TB, context string, key ed25519.PrivateKey, id uint32, m proto.Message) *fleetv1.SignedSpec {
	t.Helper()
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return &fleetv1.SignedSpec{Spec: data, Key: id, Signature: ed25519.Sign(key, append([]byte(context+"\x00"), data...))}
}

const (
	runContext   = "discreet fleet run 1"
	roundContext = "discreet fleet round 1"
)

func wants(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: %v; want %v", what, got, want)
	}
}
