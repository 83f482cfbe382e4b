package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestATranscriptByItsCommands: a device takes part in a round, its operator publishes what came of it, and anybody checks that. Exit code 4 says that
// nothing wrong was found and that not all could be recomputed, 1 that something does not hold.
func TestATranscriptByItsCommands(t *testing.T) {
	path := startFleet(t, false)
	dir := filepath.Dir(path)
	at := func(name string) string { return filepath.Join(dir, name) }
	keys := at("keys")
	var created struct {
		Run     string
		Consent json.RawMessage
	}
	if err := json.Unmarshal([]byte(fleetRuns(t, 0, "fleet", "create", path, "--root", filepath.Join(keys, "root.key"), "--json")), &created); err != nil {
		t.Fatal(err)
	}
	code := strings.TrimSpace(fleetRuns(t, 0, "fleet", "enrol", path))
	url := regexp.MustCompile(`server: (\S+)`).FindStringSubmatch(textOf(t, path))[1]
	agent := at("agent.yaml")
	text := fmt.Sprintf("server: %s\nauthority: keys/ca.pem\nroot: keys/root.pub\nstate: device\nmachine: mine\ncode: %s\nepsilon: 8\npoll_seconds: 0.02\nconsent: %s\nlearner: {environment: {name: cart-pole, gravity: [9.8]}}\n", url, code, created.Consent)
	if err := os.WriteFile(agent, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	fleetRuns(t, 0, "fleet", "round", "open", path, "--max", "1", "--train", "6s", "--upload", "4s")
	type result struct {
		code int
		text string
	}
	ended := make(chan result, 1)
	go func() {
		var told bytes.Buffer
		code := Main([]string{"fleet", "agent", agent}, nil, io.Discard, &told)
		ended <- result{code, told.String()}
	}()
	tick, late := time.NewTicker(50*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for applied := false; !applied; applied = strings.Contains(fleetRuns(t, 0, "fleet", "status", path), "applied    1 reports") {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("no report came")
		}
	}
	fleetRuns(t, 0, "fleet", "round", "end", path)
	if r := <-ended; r.code != 0 || !strings.Contains(r.text, "this device has spent epsilon 1 of 8") {
		t.Fatalf("the agent ends with %d: %s", r.code, r.text)
	}

	// A state is of one machine.
	move := func(code int, args ...string) string {
		t.Helper()
		return fleetRuns(t, code, append(append([]string{"fleet", "agent"}, args...), agent, "--set", "machine=another")...)
	}
	if text := move(3); !strings.Contains(text, "fleet agent move") {
		t.Errorf("on another machine: %s", text)
	}
	if text := move(0, "move"); !strings.Contains(text, "remove every other copy") {
		t.Errorf("moved: %s", text)
	}
	fleetRuns(t, 3, "fleet", "agent", agent)
	fleetRuns(t, 2, "fleet", "agent", "move", agent, "--set", "state=nowhere")

	public, short, long := filepath.Join(keys, "root.pub"), at("short.ndjson"), at("long.ndjson")
	has := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("no %q in\n%s", w, text)
			}
		}
	}
	has(fleetRuns(t, 0, "fleet", "transcript", path, "-o", short), "1 rounds are in ", ", 0 of them with all their reports")
	has(fleetRuns(t, 0, "fleet", "transcript", path, "-o", long, "--reports"), ", 1 of them with all their reports")
	fleetRuns(t, 2, "fleet", "transcript", path)
	has(fleetRuns(t, 4, "fleet", "verify", short, "--root", public), "rounds    1, signed and in order, with 1 reports", "versions 0 to 1 follow", "1 drew 1 permits: epsilon 1 each at most", "NOT checked: the sums", "has ended")
	fleetRuns(t, 1, "fleet", "verify", short, "--root", public, "--strict")
	weights := at("weights.ndjson")
	has(fleetRuns(t, 0, "fleet", "verify", long, "--root", public, "-o", weights, "--json"), `"valid": true`, `"not_checked": []`, `"epsilon": 0.99`)
	if n := strings.Count(textOf(t, weights), "\n"); n != 2 {
		t.Errorf("%d versions were written", n)
	}
	whole := textOf(t, long)
	for name, changed := range map[string]string{"a report is changed": strings.Replace(whole, `"body":"`, `"body":"AA`, 1), "cut off": whole[:strings.LastIndex(whole, `{"end"`)], "cut in a line": whole[:len(whole)-20]} {
		if err := os.WriteFile(at("changed.ndjson"), []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if text := fleetRuns(t, 1, "fleet", "verify", at("changed.ndjson"), "--root", public); !strings.Contains(text, "does not hold") {
			t.Errorf("%s: %s", name, text)
		}
	}
	fleetRuns(t, 1, "fleet", "verify", long, "--root", filepath.Join(keys, "sign-1.pub"))
	// The store is backed up while the server runs, and restored where there is none.
	has(fleetRuns(t, 0, "fleet", "backup", path, at("backup")), "backup    ")
	fleetRuns(t, 2, "fleet", "backup", path, at("backup"))
	has(fleetRuns(t, 0, "fleet", "restore", path, at("backup"), "--set", "store=other.db"), "restored  the store is that of 20", "count as spent", "all runs have ended", "revoke again")
	has(fleetRuns(t, 0, "fleet", "restore", path, at("backup")), "nothing is missing")
	fleetRuns(t, 2, "fleet", "restore", path, at("device"), "--set", "store=third.db")
	fleetRuns(t, 2, "fleet", "verify", long)
	fleetRuns(t, 2, "fleet", "verify", public, "--root", public)
	fleetRuns(t, 2, "fleet", "verify", at("nothing"), "--root", public)
}
