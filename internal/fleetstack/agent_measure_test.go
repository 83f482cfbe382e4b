//go:build slow && measure && linux

package fleetstack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
)

// TestWhatADeviceHolds measures discreet-agent beside `discreet fleet agent`: the size of the program, its peak memory in a
// run of three rounds, and the processor time that it takes to start.
func TestWhatADeviceHolds(t *testing.T) {
	k := poles()
	k.schedule = fmt.Sprintf(`{"rounds":%d,"train_seconds":6,"upload_seconds":4,"sample_rate":1,"min_reports":1,"max_reports":100}`, rounds)
	dir := t.TempDir()
	programs := map[string][]string{"discreet": {"fleet", "agent"}, "discreet-agent": nil}
	for name := range programs {
		build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", filepath.Join(dir, name), "../../cmd/"+name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	s := newStack(t, k)
	codes, err := s.operator.CreateCodes(t.Context(), &fleetv1.CreateCodesRequest{Count: uint32(len(programs)), ValidFor: 60_000})
	if err != nil {
		t.Fatal(err)
	}
	var running []*exec.Cmd
	for name, args := range programs {
		file := filepath.Join(dir, name+".yaml")
		text := fmt.Sprintf(`
server: %s
authority: %s
root: %s
state: %s
code: %s
epsilon: 12
consent: {purpose: balance poles, randomizer: {mechanism: privunit, epsilon: 4}, reports: %d, weights: %d}
learner: {environment: {name: cart-pole, gravity: [9.8]}}
`, s.url, filepath.Join(s.keys, "ca.pem"), filepath.Join(s.keys, "root.pub"), filepath.Join(dir, name+".state"), codes.GetCodes()[len(running)], rounds, len(s.theta))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, name), append(args, file)...)
		log, err := os.Create(filepath.Join(dir, name+".log"))
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		cmd.Stderr = log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		name := filepath.Base(cmd.Path)
		if err := cmd.Wait(); err != nil {
			text, _ := os.ReadFile(filepath.Join(dir, name+".log"))
			t.Errorf("%s: %v: %s", name, err, text)
			continue
		}
		info, err := os.Stat(cmd.Path)
		if err != nil {
			t.Fatal(err)
		}
		of := cmd.ProcessState
		const starts = 20
		var spent time.Duration
		for range starts {
			c := exec.Command(cmd.Path, "-version")
			if name == "discreet" {
				c = exec.Command(cmd.Path, "version")
			}
			if err := c.Run(); err != nil {
				t.Fatal(err)
			}
			spent += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		}
		t.Logf("%s: %.1f MB, %.1f MiB at most, %v of a processor for %d rounds, %v to start", name, float64(info.Size())/1e6,
			float64(of.SysUsage().(*syscall.Rusage).Maxrss)/1024, (of.UserTime() + of.SystemTime()).Round(time.Millisecond), rounds, (spent / starts).Round(100*time.Microsecond))
	}
}
