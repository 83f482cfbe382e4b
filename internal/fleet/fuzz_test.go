package fleet_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
)

// resigned signs whatever bytes as a spec, for a signature would keep the fuzzer out.
func resigned(context string, key ed25519.PrivateKey, id uint32, spec []byte) *fleetv1.SignedSpec {
	return &fleetv1.SignedSpec{Spec: spec, Key: id, Signature: ed25519.Sign(key, append([]byte(context+"\x00"), spec...))}
}

func FuzzRun(f *testing.F) {
	spec, _ := hex.DecodeString(goldenRun)
	f.Add(spec)
	f.Fuzz(func(t *testing.T, spec []byte) {
		run, err := fleet.VerifyRun(root, []*fleetv1.SignedSpec{resigned(runContext, rootKey, 0, spec)})
		if err != nil {
			return
		}
		// What is taken is what an owner can be shown: every field stands in the run.
		var m fleetv1.RunSpec
		if err := proto.Unmarshal(spec, &m); err != nil {
			t.Fatal(err)
		}
		if !run.Randomizer.Private() || run.Randomizer.Epsilon != m.GetEpsilonReport() || !(run.Randomizer.Epsilon > 0) ||
			run.Codec(fleetv1.Kind_KIND_TRAIN).Size() >= run.ReportBytes || run.Reports < 1 || len(run.Keys) != len(m.GetKeys()) {
			t.Errorf("taken: %+v of %v", run, &m)
		}
	})
}

func FuzzRound(f *testing.F) {
	spec, _ := hex.DecodeString(goldenRound)
	f.Add(spec)
	run := verifiedRun(f, runSpec(f))
	f.Fuzz(func(t *testing.T, spec []byte) {
		round, err := run.VerifyRound(run.Head(), resigned(roundContext, signKey, 1, spec))
		if err != nil {
			return
		}
		var m fleetv1.RoundSpec
		if err := proto.Unmarshal(spec, &m); err != nil {
			t.Fatal(err)
		}
		if round.Number != 1 || m.GetEpsilon() != 1 || !(round.SampleRate > 0 && round.SampleRate <= 1) || round.UploadUntil.Before(round.TrainBy) {
			t.Errorf("taken: %+v of %v", round, &m)
		}
	})
}

func FuzzWeights(f *testing.F) {
	f.Add(fleet.EncodeWeights([]float64{0, 1, -3e9}))
	f.Fuzz(func(t *testing.T, data []byte) {
		theta, err := fleet.DecodeWeights(data)
		if err == nil && !bytes.Equal(fleet.EncodeWeights(theta), data) {
			t.Errorf("%x is read as %v", data, theta)
		}
	})
}

func FuzzLearning(f *testing.F) {
	f.Add([]byte(`{"environment":"cart-pole","local":{"Method":"policy-gradient"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := fleet.ParseLearning(data)
		if err != nil {
			return
		}
		again, err := l.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fleet.ParseLearning(again); err != nil {
			t.Errorf("%s is written as %s: %v", data, again, err)
		}
	})
}

func FuzzReport(f *testing.F) {
	sealed, _ := hex.DecodeString(goldenSealed)
	f.Add(sealed)
	_, round := verifiedRound(f)
	key := sealKey(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if body, err := round.Unseal(data, key); err == nil && len(body) != round.Codec().Size() {
			t.Errorf("a body of %d bytes", len(body))
		}
	})
}
