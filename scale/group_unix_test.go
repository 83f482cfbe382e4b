//go:build unix

package scale

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestACancelledCommandLeavesNothingAtWork: what the shell started in the background ends
// with it. Both hold the pipe, which ends when nobody does.
func TestACancelledCommandLeavesNothingAtWork(t *testing.T) {
	s := newStage(t)
	out := filepath.Join(s.dir, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	said := make(chan error, 1)
	go func() {
		_, err := Command{Shell: "sleep 3600 & echo on; wait", Output: w}.Round(ctx, Round{Dir: out, Path: filepath.Join(s.dir, "task"), Shards: s.shards})
		said <- errors.Join(err, w.Close())
	}()
	in := bufio.NewReader(r)
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-said; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled round: %v", err)
	}
	if err := r.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := in.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("what the command started is at work a minute later: %v", err)
	}
}
