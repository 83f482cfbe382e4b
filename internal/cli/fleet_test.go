package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"net/http"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/authority"
)

// startFleet serves the example's fleet on a free port and returns its configuration, with
// the address in it. schedule false leaves the rounds to the operator.
func startFleet(t *testing.T, schedule bool) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile("../../examples/fleet-network/fleet.yaml")
	if err != nil {
		t.Fatal(err)
	}
	changed := "limits: {seconds_between_requests: 0.001}\n" + strings.NewReplacer("127.0.0.1:8443", "127.0.0.1:0", "127.0.0.1:8080", "127.0.0.1:0").Replace(string(text))
	if !schedule {
		changed = changed[:strings.Index(changed, "schedule:")]
	}
	path := filepath.Join(dir, "fleet.yaml")
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	fleetRuns(t, 0, "fleet", "keys", path)
	ctx, cancel := context.WithCancel(context.Background())
	log, w := io.Pipe()
	root := newRoot()
	root.SetArgs([]string{"fleet", "serve", path})
	root.SetErr(w)
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx); w.Close() }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	lines := bufio.NewScanner(log)
	warned := false
	for lines.Scan() {
		warned = warned || strings.Contains(lines.Text(), "root.key is within this server's reach")
		if m := regexp.MustCompile(`"listen":"([^"]+)"`).FindStringSubmatch(lines.Text()); m != nil {
			go io.Copy(io.Discard, log)
			if err := os.WriteFile(path, []byte("server: https://"+m[1]+"\n"+changed), 0o600); err != nil {
				t.Fatal(err)
			}
			if !warned {
				t.Error("root.key lies with the server's keys, and the log does not say so")
			}
			return path
		}
	}
	t.Fatalf("the server did not begin: %v", <-ended)
	return ""
}

func fleetRuns(t *testing.T, wantCode int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := Main(args, nil, &out, &errs); code != wantCode {
		t.Fatalf("discreet %s: exit code %d; want %d: %s%s", strings.Join(args, " "), code, wantCode, &out, &errs)
	}
	return out.String() + errs.String()
}

// TestAFleetByItsCommands: an operator makes keys and a run, opens, looks, closes,
// revokes, rotates, exports, and is told what is wrong.
func TestAFleetByItsCommands(t *testing.T) {
	path := startFleet(t, false)
	keys := filepath.Join(filepath.Dir(path), "keys")
	has := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !regexp.MustCompile(w).MatchString(text) {
				t.Errorf("no %q in\n%s", w, text)
			}
		}
	}
	has(fleetRuns(t, 2, "fleet", "keys", path), "holds keys already")
	has(fleetRuns(t, 2, "fleet", "status", path), "not in the store")
	root := filepath.Join(keys, "root.key")
	has(fleetRuns(t, 0, "fleet", "create", path, "--root", root), `^run [0-9a-f]{32}\n8 reports a device at most, each sign-prs at epsilon 1: epsilon 8 a device, delta 0, local, replace_one\nconsent: \{"local_sha256":"[0-9a-f]{64}","purpose":"Carts learn to balance a pole.","randomizer":\{"mechanism":"sign-prs","epsilon":0.99+[0-9]*\},"reports":8,"weights":8\}\n$`)
	has(fleetRuns(t, 0, "fleet", "status", path), "version 0\n$")
	has(fleetRuns(t, 2, "fleet", "round", "open", path), "0 reports|1 to 0 reports")
	has(fleetRuns(t, 0, "fleet", "round", "open", path, "--max", "10", "--train", "0s", "--upload", "1h"), `round 1  train     open       until 20`)
	has(fleetRuns(t, 2, "fleet", "round", "open", path, "--max", "10"), "round 1 is open")
	has(fleetRuns(t, 2, "fleet", "round", "open", path, "--kind", "play"), "want train or evaluate")

	// Codes are good for a certificate, which is revoked by its file.
	codes := strings.Fields(fleetRuns(t, 0, "fleet", "enrol", path, "--codes", "2"))
	if len(codes) != 2 || codes[0] == codes[1] {
		t.Fatalf("codes are %q", codes)
	}
	key, err := authority.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	csr, err := authority.Request(key)
	if err != nil {
		t.Fatal(err)
	}
	tls, err := service.ClientTLS(filepath.Join(keys, "ca.pem"), "", "")
	if err != nil {
		t.Fatal(err)
	}
	url := regexp.MustCompile(`server: (\S+)`).FindStringSubmatch(textOf(t, path))[1]
	answer, err := fleetv1.NewEnrolServiceClient(&http.Client{Transport: &http.Transport{TLSClientConfig: tls}}, url).Enrol(t.Context(), &fleetv1.EnrolRequest{Csr: csr, Code: codes[1]})
	if err != nil {
		t.Fatal(err)
	}
	certificate := filepath.Join(filepath.Dir(path), "device.pem")
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: answer.GetChain()[0]}), 0o600); err != nil {
		t.Fatal(err)
	}
	has(fleetRuns(t, 0, "fleet", "revoke", path, "--certificate", certificate), "^revoked\n$")
	has(fleetRuns(t, 2, "fleet", "revoke", path, "--certificate", filepath.Join(keys, "operator.pem")), "not in the store")
	has(fleetRuns(t, 2, "fleet", "revoke", path, "--certificate", path), "no certificate in PEM")
	has(fleetRuns(t, 0, "fleet", "revoke", path, "--code", codes[1]), "^revoked\n$")
	has(fleetRuns(t, 2, "fleet", "revoke", path, "--code", "never"), "the code: not in the store")
	has(fleetRuns(t, 2, "fleet", "revoke", path), "either --code or --certificate")

	has(fleetRuns(t, 0, "fleet", "rotate", path, "--root", root), "^revision 1 of the run, with 4 keys\n$")
	rootElsewhere(t, path)
	has(fleetRuns(t, 0, "fleet", "round", "close", path, "--round", "1"), `round 1  train     (closing|abandoned)`)
	has(fleetRuns(t, 2, "fleet", "round", "close", path, "--round", "7"), "round 7: not in the store|not in the store")
	policy := filepath.Join(filepath.Dir(path), "policy.json")
	has(fleetRuns(t, 0, "fleet", "policy", path, "-o", policy), "^version 0, of round 0, is in ")
	has(fleetRuns(t, 2, "fleet", "policy", path, "-o", policy+"2", "--version-number", "3"), "version 3 of the weights: not in the store")
	episodes := filepath.Join(filepath.Dir(path), "episodes.csv")
	fleetRuns(t, 0, "simulate", "cart-pole", "--episodes", "2", "--seed", "1", "--policy", "softmax", "--policy-file", policy, "-o", episodes)
	var status struct {
		Run   string
		Ended bool
	}
	if err := json.Unmarshal([]byte(fleetRuns(t, 0, "fleet", "round", "end", path, "--json")), &status); err != nil || len(status.Run) != 32 || !status.Ended {
		t.Errorf("in the end %+v, %v", status, err)
	}
	has(fleetRuns(t, 2, "fleet", "round", "open", path, "--max", "10"), "the run has ended")
}

// TestOperatorsOfSeveralRuns name one, and nothing is done to another.
func TestOperatorsOfSeveralRuns(t *testing.T) {
	path := startFleet(t, false)
	root := filepath.Join(filepath.Dir(path), "keys", "root.key")
	var runs [2]string
	for i := range runs {
		runs[i] = regexp.MustCompile("[0-9a-f]{32}").FindString(fleetRuns(t, 0, "fleet", "create", path, "--root", root))
	}
	policy := filepath.Join(filepath.Dir(path), "policy.json")
	commands := [][]string{
		{"status"}, {"round", "open", "--max", "10", "--train", "0s", "--upload", "1h"}, {"round", "close", "--round", "1"},
		{"policy", "-o", policy}, {"rotate", "--root", root}, {"round", "end"},
	}
	for _, c := range commands {
		args := append(append([]string{"fleet"}, c...), path)
		text := fleetRuns(t, 2, args...)
		if !strings.Contains(text, "there are 2 runs; name one") || !strings.Contains(text, runs[0]) || !strings.Contains(text, runs[1]) {
			t.Errorf("%v says %s", c, text)
		}
		fleetRuns(t, 2, append(args, "--run", "12")...)
		fleetRuns(t, 0, append(args, "--run", runs[1])...)
	}
	for i, want := range []string{", version 0\n", ", version 0, ended\nround 1  train     abandoned  0 reports\n"} {
		if text := fleetRuns(t, 0, "fleet", "status", path, "--run", runs[i]); text != "run "+runs[i]+want {
			t.Errorf("run %d: %s", i, text)
		}
	}
}

// rootElsewhere: an operator who has neither the root's key nor the servers' makes the next keys of
// the only run known, and a second run, by what travels in files; and certificates are renewed.
func rootElsewhere(t *testing.T, path string) {
	keys, dir := filepath.Join(filepath.Dir(path), "keys"), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(at("keys"), 0o700); err != nil {
		t.Fatal(err)
	}
	copied := func() {
		for _, pattern := range []string{"ca.pem", "operator.*", "root.pub", "s*-*.pub"} {
			paths, err := filepath.Glob(filepath.Join(keys, pattern))
			if err != nil || len(paths) == 0 {
				t.Fatal(paths, err)
			}
			for _, p := range paths {
				if err := os.WriteFile(at("keys/"+filepath.Base(p)), []byte(textOf(t, p)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	copied()
	if err := os.WriteFile(at("fleet.yaml"), []byte(textOf(t, path)), 0o600); err != nil {
		t.Fatal(err)
	}
	root := at("root.key")
	if err := os.WriteFile(root, []byte(textOf(t, filepath.Join(keys, "root.key"))), 0o600); err != nil {
		t.Fatal(err)
	}
	fleetRuns(t, 2, "fleet", "rotate", at("fleet.yaml"))
	fleetRuns(t, 2, "fleet", "rotate", at("fleet.yaml"), "--root", root, "--request", at("x"))
	if text := fleetRuns(t, 2, "fleet", "rotate", at("fleet.yaml"), "--request", at("x")); !strings.Contains(text, "fleet keys --next") {
		t.Errorf("no keys to announce: %s", text)
	}
	if text := fleetRuns(t, 0, "fleet", "keys", path, "--next"); !strings.HasPrefix(text, "sign-5 and seal-6 are in ") {
		t.Errorf("the next keys: %s", text)
	}
	copied()
	fleetRuns(t, 0, "fleet", "rotate", at("fleet.yaml"), "--request", at("request.json"))
	fleetRuns(t, 2, "fleet", "rotate", at("fleet.yaml"), "--signed", at("request.json")) // nobody signed it
	if text := fleetRuns(t, 0, "fleet", "sign", at("request.json"), "--root", root, "-o", at("signed.json")); !strings.Contains(text, `revision 2: "Carts learn to balance a pole."`) || !strings.Contains(text, "key 6 seal ") || !strings.Contains(text, "epsilon 8 a device") {
		t.Errorf("what is signed: %s", text)
	}
	if text := fleetRuns(t, 0, "fleet", "rotate", at("fleet.yaml"), "--signed", at("signed.json")); text != "revision 2 of the run, with 6 keys\n" {
		t.Errorf("rotated: %s", text)
	}
	fleetRuns(t, 2, "fleet", "rotate", at("fleet.yaml"), "--signed", at("signed.json")) // it is there already

	// A run of another purpose than was signed is refused, and so is a changed request.
	fleetRuns(t, 0, "fleet", "create", at("fleet.yaml"), "--request", at("run.json"))
	changed := strings.Replace(textOf(t, at("run.json")), `"spec": "`, `"spec": "AAAA`, 1)
	if err := os.WriteFile(at("changed.json"), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	fleetRuns(t, 2, "fleet", "sign", at("changed.json"), "--root", root, "-o", at("x"))
	fleetRuns(t, 0, "fleet", "sign", at("run.json"), "--root", root, "-o", at("run-signed.json"))
	if text := fleetRuns(t, 2, "fleet", "create", at("fleet.yaml"), "--signed", at("run-signed.json"), "--set", "purpose=another"); !strings.Contains(text, "another run than the configuration says") {
		t.Errorf("another purpose: %s", text)
	}
	fleetRuns(t, 2, "fleet", "rotate", at("fleet.yaml"), "--signed", at("run-signed.json"))

	for which, file := range map[string]string{"server": "server.pem", "operator": "operator.pem"} {
		before := textOf(t, filepath.Join(keys, file))
		if text := fleetRuns(t, 0, "fleet", "keys", path, "--renew", which); !strings.Contains(text, "is good until 20") || textOf(t, filepath.Join(keys, file)) == before {
			t.Errorf("renewal of the %s: %s", which, text)
		}
	}
	fleetRuns(t, 2, "fleet", "keys", path, "--renew", "device")
	fleetRuns(t, 2, "fleet", "keys", path, "--renew", "server", "--next")
	fleetRuns(t, 2, "fleet", "keys", at("fleet.yaml"), "--renew", "operator") // the authority's key is not here
	fleetRuns(t, 0, "fleet", "status", path)                                  // by the new certificate
}

// TestServersThatAreRefused name the key, and the exit code is that of bad input.
func TestServersThatAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.yaml")
	if err := os.WriteFile(path, []byte(textOf(t, "../../examples/fleet-network/fleet.yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	fleetRuns(t, 0, "fleet", "keys", path)
	for set, want := range map[string]string{
		"limits.queue=1000000000": "limits.queue", "limits.batch=-1": "limits.batch", "limits.request_bytes=1": "limits.request_bytes", "limits.connections=2": "limits.connections",
		"limits.connections_per_address=-3": "connections_per_address", "limits.requests_per_second_and_address=-1": "requests_per_second_and_address", "limits.grace_seconds=1e9": "grace_seconds",
		"limits.grace_seconds=.nan": "grace_seconds", "limits.seconds_between_requests=1e6": "seconds_between_requests", "certificate_days=0.001": "certificate_days", "certificate_days=1e5": "certificate_days",
	} {
		if text := fleetRuns(t, 2, "fleet", "serve", path, "--set", set); !strings.Contains(text, want) {
			t.Errorf("%s: %s", set, text)
		}
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFleetConfigurationsThatAreRefused names the key.
func TestFleetConfigurationsThatAreRefused(t *testing.T) {
	text := textOf(t, "../../examples/fleet-network/fleet.yaml")
	path := filepath.Join(t.TempDir(), "fleet.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	plan := func(code int, set ...string) string {
		args := []string{"fleet", "plan", path}
		for _, s := range set {
			args = append(args, "--set", s)
		}
		return fleetRuns(t, code, args...)
	}
	for set, want := range map[string]string{
		"training.agents=5": "training.agents belongs", "training.server.buffer=5": "training.server.buffer belongs", "purpose=''": "purpose is missing",
		"schedule.rounds=0": "rounds is 0", "schedule.max_reports=1": "5 to 1 reports", "key_days=0.01": "want an hour to ten years", "key_days=1e9": "want an hour to ten years", "min_client=new": "want three numbers", "weights=7": "keep one of them", "training.privacy.epsilon=0": "epsilon is 0",
		"training.environment.name=chess": "want cart-pole", "listn=x": "listn",
	} {
		if got := plan(2, set); !strings.Contains(got, want) {
			t.Errorf("%s: %s; want %q", set, got, want)
		}
	}
	if got := plan(0); !strings.Contains(got, "epsilon 8 at most for a device") || !strings.Contains(got, "first after 127 reports, 192 in half") || !strings.Contains(got, "830 at most, of 104 devices at least, in 5m20s") || !strings.Contains(got, "asked     7.825 reports of a device on average") || strings.Contains(got, "refused") || strings.Contains(got, "not measured") {
		t.Errorf("the plan of the example is\n%s", got)
	}
	for set, want := range map[string]string{
		"schedule.sample_rate=1":                        "refused   by create: .*40 rounds at a sample_rate of 1 ask a device for 40 reports on average, evaluations among them, and it makes 8",
		"key_days=0.05,schedule.rounds=1000":            "refused   by create: .*raise key_days",
		"training.local.steps=20":                       "success   not measured: only the policy gradient",
		"training.server.optimizer.step=0.2":            "success   not measured: only server.optimizer",
		"schedule.max_reports=5":                        "first after 127",
		"schedule.max_reports=4,schedule.min_reports=4": "not measured: rounds of 4 to 4 reports",
		"schedule.rounds=4,schedule.max_reports=10":     `(?s)success   NOT expected: the schedule trains with 40 reports at most, and half of the trials needed 192`,
		"schedule.evaluate_every=10,schedule.evaluate_reports=20,schedule.sample_rate=0.1": "refused   by create: .*4 evaluations at epsilon 1 need 33 answers each .*a single one needs 22.: about 33 devices at a rate of 1",
		"schedule.evaluate_every=10,schedule.sample_rate=0.1":                              "33 answers tell a policy that works from others",
		"schedule.min_reports=6":       "success   not measured: rounds of 6 to 20 reports",
		"training.privacy.epsilon=12":  "on a line between 1 and 2",
		"training.privacy.epsilon=100": "success   not measured: reports at epsilon",
	} {
		if got := plan(0, strings.Split(set, ",")...); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: %s; want %q", set, got, want)
		}
	}
	for epsilon, want := range map[string]string{"2": "pays for 2 of the 8 reports", "0.5": "pays for 0 of the 8", "8": "pays for 8 of the 8", "100": "pays for 8 of the 8"} {
		if got := fleetRuns(t, 0, "fleet", "plan", path, "--device-epsilon", epsilon); !strings.Contains(got, "epsilon "+epsilon+" in its life "+want) {
			t.Errorf("a device of epsilon %s: %s", epsilon, got)
		}
	}
	fleetRuns(t, 2, "fleet", "plan", path, "--device-epsilon", "-1")
	own := "purpose: x\nweights: 20\nlearner: {game: go}\ntraining:\n  privacy: {epsilon: 1}\nschedule: {rounds: 1, train_seconds: 1, upload_seconds: 1, sample_rate: 1, min_reports: 1, max_reports: 9}\n"
	if err := os.WriteFile(path, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := plan(0); !strings.Contains(got, "not measured: only cart-pole was measured") {
		t.Errorf("the plan of another learner is\n%s", got)
	}
	if got := plan(2, "weights=0"); !strings.Contains(got, "weights is 0") {
		t.Errorf("no weights: %s", got)
	}
}
