package figure_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/papers/figure"
)

// trialsOf is a study of n trials of one point; trial k has the number k.
func trialsOf(n int, run *atomic.Int64, each func(ctx context.Context, k int) error) figure.Study {
	s := study(0, run, never)
	s.Items[0].Claims = nil
	s.Items[0].Jobs = func(bool) []figure.Job {
		var jobs []figure.Job
		for k := 1; k <= n; k++ {
			jobs = append(jobs, figure.Job{Key: fmt.Sprintf("trial=%d", k), Trial: k, Cost: 1, Run: func(ctx context.Context) ([]figure.Sample, error) {
				run.Add(1)
				return []figure.Sample{{Panel: "p", Series: "s", X: 10, Y: float64(k) + 1e-12}, {Panel: "by trial", Series: "s", X: float64(k), Y: 1}}, each(ctx, k)
			}})
		}
		return jobs
	}
	return s
}

func quiet(context.Context, int) error { return nil }

func resume(t *testing.T, s figure.Study, o figure.Options) *figure.Result {
	t.Helper()
	r, err := figure.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A store alone, without a directory of results, takes one short line a trial
// with its seed and commit; a second run adds nothing.
func TestStoresHoldOneLineATrial(t *testing.T) {
	run := new(atomic.Int64)
	o := figure.Options{Store: filepath.Join(t.TempDir(), "deep", "test.ndjson"), Commit: "abc"}
	for range 2 {
		if r := resume(t, trialsOf(3, run, quiet), o); r.Trials["numbers"] != 3 || r.Left != 0 {
			t.Errorf("trials %v, left %d; want 3 and 0", r.Trials, r.Left)
		}
	}
	text := read(t, o.Store)
	if lines := strings.Count(text, "\n"); lines != 2+3 || run.Load() != 3 {
		t.Errorf("%d lines and %d runs; want a header, a layout, and 3 of each:\n%s", lines, run.Load(), text)
	}
	for k := 1; k <= 3; k++ {
		if want := fmt.Sprintf(`"key":"trial=%d","trial":%d,`, k, k); !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if !strings.Contains(text, `"commit":"abc"`) || !strings.Contains(text, `"y":[2,1]}`) {
		t.Errorf("no commit, or more digits than seven:\n%s", text)
	}
}

// What a kill left of the last line is cut off, wherever it broke, and only that
// trial is run again.
func TestTornLinesAreRecovered(t *testing.T) {
	o := figure.Options{Store: filepath.Join(t.TempDir(), "test.ndjson"), Workers: 1}
	run := new(atomic.Int64)
	resume(t, trialsOf(3, run, quiet), o)
	whole := read(t, o.Store)
	last := strings.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for _, cut := range []int{last + 1, last + 30, len(whole) - 1} {
		run.Store(0)
		if err := os.WriteFile(o.Store, []byte(whole[:cut]), 0o644); err != nil {
			t.Fatal(err)
		}
		resume(t, trialsOf(3, run, quiet), o)
		if got := read(t, o.Store); got != whole || run.Load() != 1 {
			t.Errorf("cut at %d: %d trials run again, store\n%s; want 1 and\n%s", cut, run.Load(), got, whole)
		}
	}
	// A line that is broken elsewhere is no torn one.
	if err := os.WriteFile(o.Store, []byte(whole[:last]+"{\n"+whole[last:]), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := figure.Run(context.Background(), trialsOf(3, run, quiet), o); !errors.Is(err, figure.ErrDir) || !strings.Contains(err.Error(), "test.ndjson:5") {
		t.Errorf("broken line: %v; want ErrDir with its number", err)
	}
}

// A store that another program puts a file in place of, as git does, or removes, ends
// the run: trials would go to a file without a name.
func TestAReplacedStoreEndsTheRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be replaced there")
	}
	for name, replace := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", []byte(`{"store":"discreet/trials/v2","paper":"test"}`+"\n"), 0o644); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
	} {
		run := new(atomic.Int64)
		o := figure.Options{Store: filepath.Join(t.TempDir(), "test.ndjson"), Workers: 1}
		s := trialsOf(3, run, func(_ context.Context, k int) error {
			if k == 2 {
				return replace(o.Store)
			}
			return nil
		})
		if _, err := figure.Run(context.Background(), s, o); !errors.Is(err, figure.ErrDir) || !strings.Contains(err.Error(), o.Store) {
			t.Errorf("%s: %v; want ErrDir with its name", name, err)
		}
	}
}

// Trials of other settings, of another version and of code whose probe says
// something else are refused, and made again where that is asked for.
func TestStaleTrialsAreNotMixed(t *testing.T) {
	for name, change := range map[string]func(s *figure.Study){
		"settings": func(s *figure.Study) { s.Items[0].Settings = map[string]float64{"clip": 0.2} },
		"version":  func(s *figure.Study) { s.Version++ },
		"code": func(s *figure.Study) {
			s.Items[0].Probe = func(context.Context) ([]figure.Sample, error) { return []figure.Sample{{Y: 1.001}}, nil }
		},
		"item": func(s *figure.Study) { s.Items[0].Name = "other" },
	} {
		o := figure.Options{Store: filepath.Join(t.TempDir(), "test.ndjson")}
		run := new(atomic.Int64)
		s := trialsOf(3, run, quiet)
		s.Items[0].Settings = map[string]float64{"clip": 0.1}
		s.Items[0].Probe = func(context.Context) ([]figure.Sample, error) { return []figure.Sample{{Y: 1}}, nil }
		resume(t, s, o)
		before := read(t, o.Store)
		s.Items[0].Probe = func(context.Context) ([]figure.Sample, error) { return []figure.Sample{{Y: 1 + 1e-9}}, nil }
		resume(t, s, o) // another processor
		change(&s)
		_, err := figure.Run(context.Background(), s, o)
		if !errors.Is(err, figure.ErrStale) || !strings.Contains(err.Error(), "3 trials") || read(t, o.Store) != before {
			t.Errorf("%s: %v; want ErrStale, and the store as it was", name, err)
		}
		run.Store(0)
		o.Recompute = true
		resume(t, s, o)
		o.Recompute = false
		resume(t, s, o)
		if lines := strings.Count(read(t, o.Store), `"y":`); run.Load() != 3 || lines != 3 {
			t.Errorf("%s: %d runs, %d trials in the store; want 3 and 3", name, run.Load(), lines)
		}
	}
}

// Stores of two machines are joined line by line; a trial that both made is
// counted once, and may not have two results.
func TestStoresAreJoined(t *testing.T) {
	dir := t.TempDir()
	run := new(atomic.Int64)
	a, b := figure.Options{Store: filepath.Join(dir, "a"), Commit: "a", Workers: 1}, figure.Options{Store: filepath.Join(dir, "b"), Commit: "b", Workers: 1}
	resume(t, trialsOf(2, run, quiet), a)
	resume(t, trialsOf(3, run, quiet), b)
	both := read(t, b.Store) + read(t, a.Store)
	o := figure.Options{Store: filepath.Join(dir, "both"), Dir: dir}
	if err := os.WriteFile(o.Store, []byte(both), 0o644); err != nil {
		t.Fatal(err)
	}
	run.Store(0)
	resume(t, trialsOf(3, run, quiet), o)
	if got, want := read(t, dir, "numbers.csv"), "by trial,s,1,1,0,0,1\nby trial,s,2,1,0,0,1\nby trial,s,3,1,0,0,1\np,s,10,2,0.5773502691896258,1,3\n"; run.Load() != 0 || !strings.HasSuffix(got, want) {
		t.Errorf("%d runs; CSV\n%s; want none, and\n%s", run.Load(), got, want)
	}
	if err := os.WriteFile(o.Store, []byte(strings.Replace(both, `"y":[2,1]`, `"y":[7,1]`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := figure.Run(context.Background(), trialsOf(3, run, quiet), o); !errors.Is(err, figure.ErrDir) {
		t.Errorf("two results of one trial: %v; want ErrDir", err)
	}
}

// A run ends at its budget: the trial that waits for longer is given up, what
// finished is stored, and the next run makes the rest.
func TestRunsEndAtTheirBudget(t *testing.T) {
	o := figure.Options{Store: filepath.Join(t.TempDir(), "test.ndjson"), Workers: 1, Budget: 200 * time.Millisecond}
	run := new(atomic.Int64)
	s := trialsOf(4, run, func(ctx context.Context, k int) error {
		if k == 3 {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	})
	begin := time.Now()
	left := resume(t, s, o).Left
	if took := time.Since(begin); took > 15*time.Second {
		t.Errorf("a budget of %v took %v", o.Budget, took)
	}
	if left < 2 || left > 4 {
		t.Errorf("left %d; want the third and the fourth", left)
	}
	o.Budget = 0
	run.Store(0)
	if r := resume(t, trialsOf(4, run, quiet), o); r.Left != 0 || r.Trials["numbers"] != 4 || run.Load() != int64(left) {
		t.Errorf("left %d, trials %v, %d runs; want 0, 4 and %d", r.Left, r.Trials, run.Load(), left)
	}
}

// While one run has the store open, another one, of this process or of another,
// is told so and writes nothing; after the first was killed it goes on.
func TestOneProcessAtATimeHasAStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.ndjson")
	if os.Getenv("FIGURE_STORE") != "" { // the other process
		path = os.Getenv("FIGURE_STORE")
	}
	run := new(atomic.Int64)
	if os.Getenv("FIGURE_STORE") != "" {
		resume(t, trialsOf(3, run, func(ctx context.Context, k int) error {
			if k == 2 {
				fmt.Println("second trial begins")
				select {} // until it is killed
			}
			return nil
		}), figure.Options{Store: path, Workers: 1})
		return
	}
	other := exec.Command(os.Args[0], "-test.run=^TestOneProcessAtATimeHasAStore$", "-test.timeout=120s")
	other.Env = append(os.Environ(), "FIGURE_STORE="+path)
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscanln(out, new(string), new(string), new(string)); err != nil {
		t.Errorf("the other process: %v", err)
	}
	before := read(t, path)
	if _, err := figure.Run(context.Background(), trialsOf(3, run, quiet), figure.Options{Store: path}); !errors.Is(err, figure.ErrBusy) {
		t.Errorf("second run: %v; want ErrBusy", err)
	}
	if read(t, path) != before || run.Load() != 0 {
		t.Error("a refused run ran trials, or wrote")
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // killed
	if r := resume(t, trialsOf(3, run, quiet), figure.Options{Store: path}); r.Trials["numbers"] != 3 || run.Load() != 2 {
		t.Errorf("after the kill: trials %v, %d runs; want 3 and 2", r.Trials, run.Load())
	}
}
