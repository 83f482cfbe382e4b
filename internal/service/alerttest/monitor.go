package alerttest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Monitor evaluates rules.
type Monitor struct {
	t   testing.TB
	in  io.Writer
	out *bufio.Reader
	now time.Time
}

// Target is scraped.
type Target struct {
	// Job is the name in up{job="..."}, and URL what has /metrics.
	Job, URL string
	Client   *http.Client
}

// Alert is one that fires.
type Alert struct {
	Alert  string
	Labels map[string]string
}

// scrape is what the monitor is sent.
type scrape struct {
	At                  int64
	Job, Instance, Text string
	Up                  bool
}

// Start builds a monitor of a file of rules and starts it. Where it cannot be built the test is
// skipped, or fails if the environment variable CI is "true".
func Start(t testing.TB, rules string) *Monitor {
	t.Helper()
	here, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "github.com/discreet-rl/discreet/internal/service/alerttest").Output()
	if err != nil {
		t.Fatalf("where the monitor's source is: %v", err)
	}
	return start(t, filepath.Join(strings.TrimSpace(string(here)), "testdata", "monitor"), rules)
}

func start(t testing.TB, source, rules string) *Monitor {
	t.Helper()
	program := filepath.Join(t.TempDir(), "monitor")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir, build.Env = source, append(os.Environ(), "GOFLAGS=-trimpath -buildvcs=false", "GOWORK=off")
	if text, err := build.CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the monitor cannot be built: %v: %s", err, text)
		}
		t.Skipf("NOT TESTED BY PROMETHEUS: the monitor cannot be built: %v: %s", err, text)
	}
	rules, err := filepath.Abs(rules)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, rules)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Errorf("the monitor: %v", err)
		}
	})
	return &Monitor{t: t, in: in, out: bufio.NewReaderSize(out, 1<<20), now: time.Now()}
}

// Step scrapes the targets, as it were d after the last step, and returns the alerts that fire then.
func (m *Monitor) Step(d time.Duration, targets ...Target) (alerts []Alert, err error) {
	m.now = m.now.Add(d)
	all := make([]scrape, len(targets))
	for i, target := range targets {
		all[i] = scrape{At: m.now.UnixMilli(), Job: target.Job, Instance: fmt.Sprint(i)}
		all[i].Text, err = read(target)
		all[i].Up = err == nil
	}
	line, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	if _, err := m.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	answer, err := m.out.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	return alerts, json.Unmarshal(answer, &alerts)
}

// Steps makes n of them, and returns the names of the alerts that fire after the last.
func (m *Monitor) Steps(n int, d time.Duration, targets ...Target) (names []string) {
	m.t.Helper()
	for range n {
		alerts, err := m.Step(d, targets...)
		if err != nil {
			m.t.Fatal(err)
		}
		names = nil
		for _, a := range alerts {
			names = append(names, a.Alert)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// read is a scrape.
func read(t Target) (string, error) {
	r, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(t.URL, "/")+"/metrics", nil)
	if err != nil {
		return "", err
	}
	answer, err := t.Client.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("/metrics answers %d", answer.StatusCode)
	}
	return string(text), err
}
