package fleet_test

import (
	"bytes"
	"crypto/hpke"
	"encoding/hex"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
)

func verifiedRound(t testing.TB) (*fleet.Run, *fleet.Round) {
	t.Helper()
	run := verifiedRun(t, runSpec(t))
	signed, err := fleet.SignRound(run, run.Head(), 1, signKey, roundSpec(run, run.Head(), make([]float64, 112)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.VerifyRound(run.Head(), signed)
	if err != nil {
		t.Fatal(err)
	}
	return run, r
}

func TestReportsAreOfOneSizeAndOpenForTheirRoundAlone(t *testing.T) {
	run, round := verifiedRound(t)
	to, err := run.SealKey(at(0))
	if err != nil {
		t.Fatal(err)
	}
	private := sealKey(t)
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), round.Codec().Size(), round.Codec().Size()).Draw(t, "body")
		sealed, err := round.Seal(body, to)
		if err != nil || len(sealed) != run.SealedSize() {
			t.Fatalf("%d bytes, %v; want %d", len(sealed), err, run.SealedSize())
		}
		got, err := round.Unseal(sealed, private)
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("%x, %v; want %x", got, err, body)
		}
		if other, err := round.Seal(body, to); err != nil || bytes.Equal(other, sealed) {
			t.Fatal("the same body sealed twice is the same")
		}
	})
	body := make([]byte, round.Codec().Size())
	sealed, err := round.Seal(body, to)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(sealed) {
		changed := bytes.Clone(sealed)
		changed[bit/8] ^= 1 << (bit % 8)
		if _, err := round.Unseal(changed, sealKey(t)); err == nil {
			t.Errorf("a report with bit %d flipped is opened", bit)
		}
	}
	next := roundSpec(run, round.Head(), make([]float64, 112))
	signed, err := fleet.SignRound(run, round.Head(), 1, signKey, next)
	if err != nil {
		t.Fatal(err)
	}
	later, err := run.VerifyRound(round.Head(), signed)
	if err != nil {
		t.Fatal(err)
	}
	_, err = later.Unseal(sealed, sealKey(t))
	wants(t, "in another round", err, fleet.ErrReport)
	foreign, _, err := fleet.NewSealKey()
	if err != nil {
		t.Fatal(err)
	}
	_, err = round.Unseal(sealed, foreign)
	wants(t, "by another key", err, fleet.ErrReport)
	_, err = round.Unseal(sealed[1:], sealKey(t))
	wants(t, "a byte less", err, fleet.ErrReport)
	_, err = round.Seal(body[1:], to)
	wants(t, "a short body", err, fleet.ErrReport)
}

// A report that an earlier version sealed is opened.
func TestASealedReportOfOldIsOpened(t *testing.T) {
	_, round := verifiedRound(t)
	sealed, err := hex.DecodeString(goldenSealed)
	if err != nil {
		t.Fatal(err)
	}
	body, err := round.Unseal(sealed, sealKey(t))
	if want := []byte{0x24, 0x01}; err != nil || !bytes.Equal(body, want) {
		t.Errorf("%x, %v; want %x", body, err, want)
	}
}

// The numbers were computed by hashlib and hmac of Python, from what the documentation says alone.
func TestNullifiersAndSeedsKeepTheirBytes(t *testing.T) {
	run, round := verifiedRound(t)
	n := fleet.Nullifier([32]byte(bytes.Repeat([]byte{5}, 32)), run.ID, 1)
	if got := hex.EncodeToString(n[:]); got != goldenNullifier {
		t.Errorf("nullifier %s; want %s", got, goldenNullifier)
	}
	s := round.Seed(n)
	if got := hex.EncodeToString(s[:]); got != goldenSeed {
		t.Errorf("seed %s; want %s", got, goldenSeed)
	}
	if other := fleet.Nullifier([32]byte(bytes.Repeat([]byte{5}, 32)), run.ID, 2); other == n {
		t.Error("a device has one nullifier in two rounds")
	}
}

func TestTheNewestKeyIsSealedTo(t *testing.T) {
	s := runSpec(t)
	private, public, err := fleet.NewSealKey()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := fleet.ParseSealKey(mustBytes(t, private)); err != nil || !bytes.Equal(back.PublicKey().Bytes(), public) {
		t.Errorf("a private key that was written and read is another: %v", err)
	}
	s.Keys = append(s.Keys, &fleetv1.Key{Id: 3, Use: fleetv1.Use_USE_SEAL, Public: public, ValidFrom: start + 1000, ValidUntil: start + 3000})
	run := verifiedRun(t, s)
	for offset, want := range map[time.Duration]uint32{0: 2, 999 * time.Millisecond: 2, time.Second: 3, 2999 * time.Millisecond: 3, 3 * time.Second: 2} {
		if key, err := run.SealKey(at(offset)); err != nil || key.ID != want {
			t.Errorf("after %v: key %d, %v; want %d", offset, key.ID, err, want)
		}
	}
	_, err = run.SealKey(at(1e9 * time.Millisecond))
	wants(t, "when all have ended", err, fleet.ErrSpec)
}

func mustBytes(t *testing.T, key hpke.PrivateKey) []byte {
	t.Helper()
	b, err := key.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}
