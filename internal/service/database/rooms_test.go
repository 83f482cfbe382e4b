package database_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// A directory that takes nothing is told of within a second, and so is one that takes again; what
// was written to find out does not stay.
func TestRooms(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	if err := errors.Join(os.Mkdir(good, 0o700), os.Mkdir(bad, 0o700)); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r := database.NewRooms(good, bad, good)
		check := func(want error) {
			t.Helper()
			if err := r.Check(t.Context()); !errors.Is(err, want) {
				t.Errorf("%v; want %v", err, want)
			}
		}
		check(nil)
		if err := os.Remove(bad); err != nil {
			t.Fatal(err)
		}
		check(nil) // it was looked at a moment ago
		time.Sleep(time.Second)
		check(database.ErrRoom)
		if err := os.Mkdir(bad, 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		check(nil)
	})
	for _, d := range []string{good, bad} {
		left, err := os.ReadDir(d)
		if err != nil || len(left) != 0 {
			t.Errorf("%s holds %v, %v", d, left, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := database.NewRooms(good).Check(ctx); err != nil && !errors.Is(err, database.ErrRoom) {
		t.Error(err)
	}
}
