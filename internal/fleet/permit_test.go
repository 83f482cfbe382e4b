package fleet_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/train"
)

// TestAPermitIsOfOneDevice, one run and one key: any flipped bit is refused, and so is what was signed for another.
func TestAPermitIsOfOneDevice(t *testing.T) {
	run := verifiedRun(t, runSpec(t))
	pseudonym, request := [32]byte{1}, fleet.Hash{2}
	good, err := run.SignPermit(1, signKey, pseudonym, fleet.Permit{Round: 3, Number: 4, Request: request})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := run.VerifyPermit(pseudonym, good); err != nil || p != (fleet.Permit{Round: 3, Number: 4, Request: request}) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, change := range []func(*fleetv1.SignedSpec) []byte{func(g *fleetv1.SignedSpec) []byte { return g.Spec }, func(g *fleetv1.SignedSpec) []byte { return g.Signature }} {
		for i := range 8 * len(change(good)) {
			g := proto.CloneOf(good)
			change(g)[i/8] ^= 1 << (i % 8)
			if p, err := run.VerifyPermit(pseudonym, g); !errors.Is(err, fleet.ErrSpec) {
				t.Fatalf("bit %d: %+v, %v", i, p, err)
			}
		}
	}
	if p, err := run.VerifyPermit([32]byte{2}, good); !errors.Is(err, fleet.ErrSpec) {
		t.Errorf("of another device: %+v, %v", p, err)
	}
	other, err := run.SignPermit(9, signKey, pseudonym, fleet.Permit{Round: 3, Number: 4, Request: request})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := run.VerifyPermit(pseudonym, other); !errors.Is(err, fleet.ErrSpec) {
		t.Errorf("by a key that the run does not have: %+v, %v", p, err)
	}
	for name, m := range map[string]*fleetv1.Permit{
		"another run": {Run: make([]byte, 16), Round: 3, Number: 4, Request: request[:]}, "number 0": {Run: run.ID[:], Round: 3, Request: request[:]},
		"half a request": {Run: run.ID[:], Round: 3, Number: 4, Request: request[:16]},
	} {
		place := fleet.Place(pseudonym, m.Number)
		m.Place = place[:]
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		g := &fleetv1.SignedSpec{Spec: data, Key: 1, Signature: ed25519.Sign(signKey, append([]byte("discreet fleet permit 1\x00"), data...))}
		if p, err := run.VerifyPermit(pseudonym, g); !errors.Is(err, fleet.ErrSpec) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// The names of permits, by Python's hmac: hmac.new(bytes(range(32)), context + run + struct.pack("<Q", n), "sha256").
func TestPlacesOfPermits(t *testing.T) {
	var pseudonym [32]byte
	for i := range pseudonym {
		pseudonym[i] = byte(i)
	}
	all := fleet.Place(pseudonym, 7)
	here := fleet.PlaceInRun(pseudonym, train.RunID{1, 2}, 7)
	if got := hex.EncodeToString(all[:]); got != placeGolden {
		t.Errorf("over all runs %s; want %s", got, placeGolden)
	}
	if got := hex.EncodeToString(here[:]); got != hereGolden {
		t.Errorf("in a run %s; want %s", got, hereGolden)
	}
}

func TestRunsThatAskForPermits(t *testing.T) {
	for client, want := range map[string]bool{"": false, "1.0.9": false, "x": false, fleet.PermitClient: true, "1.10.0": true, "2.0.0": true} {
		if got := (&fleet.Run{MinClient: client}).HasPermits(); got != want {
			t.Errorf("min_client %q: %v", client, got)
		}
	}
}

const (
	placeGolden = "47419c541ba12fb5b9a7c2df973d4c51b7d9b7196a1605329355ec15e2bc1893"
	hereGolden  = "0b8db828658e0efb26f8742cdce511862fde264a277a4635b8e08f4031b88080"
)
