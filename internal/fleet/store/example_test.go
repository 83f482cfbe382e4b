package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet/internal/fleet/store"
)

func Example() {
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(dir, "fleet.db"), store.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	run := store.RunID{1}
	signed := store.Signed{Spec: []byte("spec"), Signature: []byte("signature")}
	if err := s.CreateRun(ctx, store.Run{ID: run}, signed, store.Policy{Weights: make([]byte, 16)}); err != nil {
		panic(err)
	}
	_, err = s.OpenRound(ctx, run, func(now int64, _ store.Run, _ *store.Round) (store.Round, error) {
		return store.Round{ID: 1, Signed: signed, UploadFrom: now, UploadUntil: now + 60_000}, nil
	})
	if err != nil {
		panic(err)
	}
	out, err := s.Commit(ctx, run, 1, []store.Report{{Body: []byte("a")}, {Body: []byte("a")}, {Body: []byte("b")}}, 0)
	fmt.Println(out[0] == store.ReportAccepted, out[1] == store.ReportDuplicate, out[2] == store.ReportSpent, err)
	// Output: true true true <nil>
}
