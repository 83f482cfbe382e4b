package store_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/fleet/store"
)

var run = store.RunID{7}

// place is where a store can live.
type place struct {
	location string
	now      func() time.Time // nil: the real one
}

func lite(t testing.TB) place { return place{location: filepath.Join(t.TempDir(), "fleet.db")} }

func open(t testing.TB, p place) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), p.location, store.Options{Now: p.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// begun is a store with a run and its first round open.
func begun(t testing.TB, p place) *store.Store {
	t.Helper()
	s := open(t, p)
	if err := s.CreateRun(t.Context(), store.Run{ID: run, Settings: "{}"}, store.Signed{Spec: []byte("spec"), Signature: []byte("s")}, store.Policy{Weights: []byte("w0"), Optimizer: "o0"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenRound(t.Context(), run, next); err != nil {
		t.Fatal(err)
	}
	return s
}

func next(now int64, r store.Run, last *store.Round) (store.Round, error) {
	out := store.Round{ID: 1, Kind: 1, Version: r.Version, Signed: store.Signed{Spec: []byte("round"), Key: 1, Signature: []byte("s")}, UploadFrom: now, UploadUntil: now + 60_000}
	if last != nil {
		out.ID = last.ID + 1
	}
	return out, nil
}

func nullifier(n uint64) (out [32]byte) {
	return sha256.Sum256(binary.BigEndian.AppendUint64(nil, n))
}

// lead takes the lease, closes the round and applies it.
func lead(t testing.TB, s *store.Store, id uint64, r store.Result) {
	t.Helper()
	fence, err := s.Lease(t.Context(), run, time.Minute)
	if err != nil || fence == 0 {
		t.Fatalf("no lease: %v", err)
	}
	if closing, err := s.CloseRound(t.Context(), run, id, 0, true); err != nil || !closing {
		t.Fatalf("not closing: %v", err)
	}
	if err := s.Apply(t.Context(), run, id, fence, store.StateApplied, r); err != nil {
		t.Fatal(err)
	}
	if err := s.Yield(t.Context(), run, fence); err != nil {
		t.Fatal(err)
	}
}

func hash(s string) store.Hash { return sha256.Sum256([]byte(s)) }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func eachTest(t *testing.T, fresh func(testing.TB) place) {
	for name, test := range map[string]func(*testing.T, place){
		"a round's life": aLife, "totals": totals, "fence": aFence, "one body of many": oneBody, "close races commits": closeRaces,
		"codes": codes, "revocation": revocation, "revoked and forgotten": forgotten, "many certificates": many, "model of commits": model, "permits": permits, "numbers of permits": numbers, "backups": backups,
	} {
		t.Run(name, func(t *testing.T) { test(t, fresh(t)) })
	}
}

func TestOnSQLite(t *testing.T) { eachTest(t, lite) }
