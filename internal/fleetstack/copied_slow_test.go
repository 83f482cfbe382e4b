//go:build slow && linux

package fleetstack

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/service/servicetest"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/train"
)

var copied = flag.Int("copied", 24, "devices whose states TestCopiedStatesDoNotSpendTwice copies")

const (
	copyVariable  = "DISCREET_TEST_COPY" // URL, keys, state, file of what was sent, code
	copyReports   = 3
	copiesATime   = 8 // devices at a time
	copiedWeights = 8
)

var copySigns = train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}

// TestLiveAsACopy is the process of one copy, until it ends or is killed; as a test of its own it has nothing to do.
func TestLiveAsACopy(t *testing.T) {
	fields := strings.Split(os.Getenv(copyVariable), "\n")
	if len(fields) != 5 {
		return
	}
	keys := fields[1]
	root, err := signature.LoadPublic(filepath.Join(keys, "root.pub"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := device.Open(t.Context(), device.Config{
		Dir: fields[2], Root: root, Epsilon: copyReports, Poll: 20 * time.Millisecond, BackOff: 10 * time.Millisecond, MostBackOff: 50 * time.Millisecond,
		Consent: device.Consent{Purpose: "balance poles", Randomizer: copySigns, Reports: copyReports, Dim: copiedWeights},
	})
	if err != nil {
		t.Fatal(err)
	}
	services, err := device.Dial(fields[0], servicetest.Roots(t, filepath.Join(keys, "ca.pem")), a.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Enrol(t.Context(), services.Enrol, fields[4]); err != nil {
		t.Fatal(err)
	}
	services.Reports = noting{services.Reports, fields[3]}
	if err := a.Run(t.Context(), services, still{}); err != nil {
		t.Log(err)
	}
}

// noting writes down every report before it leaves.
type noting struct {
	fleetv1.ReportServiceClient
	file string
}

func (n noting) Upload(ctx context.Context, r *fleetv1.UploadRequest) (*fleetv1.UploadResponse, error) {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(r)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(n.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(f, "%d %x\n", r.GetRound(), sha256.Sum256(data)); err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return n.ReportServiceClient.Upload(ctx, r)
}

// still learns nothing.
type still struct{}

func (still) Prepare(*device.Run) error { return nil }

func (still) Learn(_ context.Context, w device.Work) ([]float64, error) {
	return slices.Repeat([]float64{1}, w.Len), nil
}

// TestCopiedStatesDoNotSpendTwice: devices of three reports are killed at random moments, their directories copied, and all copies go on
// at once and are killed again and again. Whatever the copies of a device send together, it is three reports at most, and one a round.
func TestCopiedStatesDoNotSpendTwice(t *testing.T) {
	k := poles()
	k.learning.Local.Network.Hidden = nil
	k.randomizer, k.reports, k.tick, k.every = copySigns, copyReports, 5*time.Millisecond, time.Microsecond
	k.schedule = `{"rounds":1000000,"train_seconds":0.15,"upload_seconds":0.25,"sample_rate":1,"min_reports":1,"max_reports":1000}`
	s := newStack(t, k)
	if len(s.theta) != copiedWeights {
		t.Fatalf("the run has %d weights", len(s.theta))
	}
	codes, err := s.operator.CreateCodes(t.Context(), &fleetv1.CreateCodesRequest{Count: uint32(*copied), ValidFor: 3_600_000})
	if err != nil {
		t.Fatal(err)
	}
	var sent, killed, stopped, whole atomic.Int64
	next := make(chan string, *copied)
	for _, code := range codes.GetCodes() {
		next <- code
	}
	close(next)
	var all sync.WaitGroup
	for range copiesATime {
		all.Go(func() {
			for code := range next {
				c := &copies{t: t, s: s, code: code, dir: t.TempDir(), killed: &killed, stopped: &stopped}
				n := c.live()
				sent.Add(int64(n))
				if n == copyReports {
					whole.Add(1)
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d devices, %d kills: the copies of a device sent %.2f reports on average of %d at most; %d sent all; %d processes were stopped by a permit", *copied, killed.Load(), float64(sent.Load())/float64(*copied), copyReports, whole.Load(), stopped.Load())
	if sent.Load() == 0 || stopped.Load() == 0 {
		t.Error("the test tests nothing")
	}
}

// copies are those of one device.
type copies struct {
	t               *testing.T
	s               *stack
	code, dir       string
	killed, stopped *atomic.Int64
}

// start begins a process on a directory.
func (c *copies) start(dir string) (*exec.Cmd, *strings.Builder) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestLiveAsACopy$", "-test.v")
	cmd.Env = append(os.Environ(), copyVariable+"="+strings.Join([]string{c.s.url, c.s.keys, dir, filepath.Join(c.dir, "sent"), c.code}, "\n"))
	out := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		c.t.Error(err)
	}
	return cmd, out
}

// kill ends a process after a time, unless it has ended.
func (c *copies) kill(cmd *exec.Cmd, after time.Duration) {
	stop := time.AfterFunc(after, func() {
		if cmd.Process.Kill() == nil {
			c.killed.Add(1)
		}
	})
	_ = cmd.Wait()
	stop.Stop()
}

// live goes through the life of a device and its copies, and returns the number of reports that they sent.
func (c *copies) live() int {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	first := filepath.Join(c.dir, "0")
	cmd, _ := c.start(first)
	c.kill(cmd, time.Duration(300+rng.IntN(1200))*time.Millisecond)
	dirs := []string{first}
	for i := range 2 {
		dir := filepath.Join(c.dir, fmt.Sprint(i+1))
		if err := os.CopyFS(dir, os.DirFS(first)); err != nil {
			c.t.Error(err)
			return 0
		}
		dirs = append(dirs, dir)
	}
	var all sync.WaitGroup
	for _, dir := range dirs {
		seed := rng.Uint64()
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 2))
			for again := range 3 {
				cmd, out := c.start(dir)
				after := time.Duration(200+rng.IntN(1000)) * time.Millisecond
				if again == 2 {
					after = 10 * time.Second
				}
				c.kill(cmd, after)
				if strings.Contains(out.String(), "another copy of this device has drawn a permit") {
					c.stopped.Add(1)
					return
				}
			}
		})
	}
	all.Wait()
	text, err := os.ReadFile(filepath.Join(c.dir, "sent"))
	if err != nil {
		return 0
	}
	reports := map[string]bool{}
	rounds := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		reports[line] = true
		rounds[strings.Fields(line)[0]] = true
	}
	if len(reports) > copyReports || len(reports) > len(rounds) {
		c.t.Errorf("the copies of a device sent %d reports in %d rounds:\n%s", len(reports), len(rounds), text)
	}
	return len(reports)
}
