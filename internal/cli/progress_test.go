package cli

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/vbauerster/mpb/v8"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// TestProgressEndsBeforeItsBar: reading that ends early, by a fault, a signal or as shards are
// made, does not wait for the rest of the bar.
func TestProgressEndsBeforeItsBar(t *testing.T) {
	p := &progress{bars: mpb.New(mpb.WithOutput(io.Discard), mpb.WithAutoRefresh()), file: -1}
	ended := make(chan struct{})
	go func() {
		p.update(trajectory.Progress{Index: 0, Files: 2, Bytes: 3, Size: 10})
		p.update(trajectory.Progress{Index: 1, Files: 2, Bytes: 1, Size: 2})
		p.done()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("it waits for a bar that nobody fills")
	}
}

// TestOnlyATerminalIsOne: progress is not drawn into the null device, which is a device of
// characters too.
func TestOnlyATerminalIsOne(t *testing.T) {
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if terminal(f) {
		t.Errorf("%s is taken for a terminal", os.DevNull)
	}
}
