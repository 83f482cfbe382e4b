package corpus

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/train"
)

var version = flag.String("write", "", "make the files of this version in testdata, from a clean clone of the commit that is checked out")

// TestWrite makes the files of a version, once.
func TestWrite(t *testing.T) {
	if *version == "" {
		return
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "internal/corpus/testdata", *version)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s is there already (%v): files are only ever added", dir, err)
	}
	place := where + *version
	if err := os.CopyFS(filepath.Join(place, "inputs"), os.DirFS("testdata/inputs")); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(place)
	w := &writer{t: t, dir: place, program: build(t, root)}
	w.releases()
	w.ledger()
	w.shards()
	w.training()
	w.service()
	w.fleet()
	found := facts{}
	for path, read := range readers(t, place) {
		found[path] = read(t)
	}
	w.write("facts.json", pretty(t, found))
	if err := os.CopyFS(dir, os.DirFS(place)); err != nil {
		t.Fatal(err)
	}
}

// where files are made: a contract names its data by a whole path.
const where = "/tmp/discreet-corpus-"

// build is the program of a clean clone, which knows its commit.
func build(t *testing.T, root string) string {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "clone")
	program := filepath.Join(t.TempDir(), "discreet")
	for _, c := range []struct {
		dir  string
		args []string
	}{
		{root, []string{"git", "clone", "--quiet", "--shared", root, clone}},
		{clone, []string{"go", "build", "-trimpath", "-buildvcs=true", "-o", program, "./cmd/discreet"}},
	} {
		command := exec.Command(c.args[0], c.args[1:]...)
		command.Dir = c.dir
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", strings.Join(c.args, " "), err, out)
		}
	}
	return program
}

type writer struct {
	t            *testing.T
	dir, program string
}

func (w *writer) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

func (w *writer) write(path string, text []byte) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(path)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(path), text, 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// discreet runs the program and returns its standard output.
func (w *writer) discreet(args ...string) []byte {
	w.t.Helper()
	c := exec.Command(w.program, args...)
	c.Dir, c.Env = w.dir, append(os.Environ(), "DISCREET_RUN_KEY="+runKey)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		w.t.Fatalf("discreet %s: %v: %s", strings.Join(args, " "), err, &errs)
	}
	return out.Bytes()
}

// apart are questions that are asked with more than the file.
var apart = map[string]bool{"charged": true, "steward": true, "shards": true, "policy": true}

func (w *writer) releases() {
	for _, name := range named(w.t, w.path("inputs/questions"), ".yaml") {
		if !apart[name] {
			w.write("releases/"+name+".json", w.discreet("evaluate", "inputs/questions/"+name+".yaml", "--json"))
		}
	}
}

// ledger begins a budget under a contract, gives shares, and charges a release that is
// signed, by itself and in an envelope.
func (w *writer) ledger() {
	if err := os.Mkdir(w.path("ledger"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	const store = "ledger/budget.db"
	w.discreet("ledger", "init", store, "--dataset", "bandit", "--epsilon", "3", "--delta", "1e-5", "--adjacency", "replace_one")
	w.discreet("ledger", "budget", store, "--epsilon", "1.5", "--delta", "5e-6", "--analyst", "ada")
	w.discreet("ledger", "contract", store, "inputs/questions/steward.yaml")
	private := filepath.Join(w.t.TempDir(), "key.pem")
	w.discreet("ledger", "keygen", private)
	public, err := os.ReadFile(strings.TrimSuffix(private, ".pem") + ".pub.pem")
	if err != nil {
		w.t.Fatal(err)
	}
	w.write("ledger/key.pub.pem", public)
	out := w.t.TempDir()
	w.discreet("evaluate", "inputs/questions/charged.yaml", "--key", "corpus-1", "--sign-key", private, "--set", "ledger.path="+w.path(store), "--set", "output.dir="+out,
		"--set", "contract.methods=[dp-is, dp-wis]", "--set", "contract.failed_checks=2")
	for _, name := range []string{"release.json", "release.dsse.json"} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			w.t.Fatal(err)
		}
		w.write("releases/charged"+strings.TrimPrefix(name, "release"), text)
	}
	w.discreet("ledger", "budget", store, "--epsilon", "4", "--delta", "1e-5", "--reason", "a second year")
	w.discreet("ledger", "export", store, "-o", "ledger/entries.ndjson")
	w.discreet("ledger", "backup", store, "ledger/backup")
	w.write("ledger/contract.json", w.discreet("ledger", "contract", store))
	w.write("ledger/show.json", w.discreet("ledger", "show", store, "--json"))
}

// shards makes shards and a run over them that has ended, and answers a task by hand for each.
func (w *writer) shards() {
	w.discreet("shard", "inputs/questions/visits.csv", "-o", "shards", "--shards", "2")
	w.write("releases/shards.json", w.discreet("evaluate", "inputs/questions/shards.yaml", "--shards", shardsOf, "--run", w.path("run"), "--json"))
	if err := os.Mkdir(w.path("partials"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.discreet("partial", "run/task-0002.json", "shards/s0.parquet", "-o", "partials/0.part")
	w.discreet("partial", "run/task-0002.json", "shards/s1.parquet", "-o", "partials/1.part")
}

func (w *writer) training() {
	out := w.t.TempDir()
	w.discreet("train", "inputs/train.yaml", "--set", "output.dir="+out)
	for _, name := range []string{"policy.json", "train.json"} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			w.t.Fatal(err)
		}
		w.write("training/"+name, text)
	}
}

// call is one call of the curator's service, as JSON.
type call struct {
	Method   string          `json:"method"`
	Request  json.RawMessage `json:"request"`
	Response json.RawMessage `json:"response"`
}

var listening = regexp.MustCompile(`listening (http://\S+)`)

// service asks the curator's service once, and keeps what went over the wire, its store and its audit log.
func (w *writer) service() {
	const name = "curator"
	if err := os.CopyFS(w.path(name), os.DirFS("testdata/inputs")); err != nil {
		w.t.Fatal(err)
	}
	config := w.path(name, "serve.yaml")
	steward := w.path(name, "questions/steward.yaml")
	text, err := os.ReadFile(steward)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(steward, append(text, "ledger: {path: ../budget.db, dataset: bandit}\n"...), 0o644); err != nil {
		w.t.Fatal(err)
	}
	tokens := map[string]string{}
	for _, who := range []string{"ann", "stella"} {
		tokens[who] = strings.TrimSpace(string(w.discreet("serve", "token", "create", config, who)))
	}
	c := exec.Command(w.program, "serve", config)
	c.Dir = w.path(name)
	told, err := c.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	defer c.Process.Kill()
	url := ""
	for lines := bufio.NewScanner(told); url == "" && lines.Scan(); {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			url = m[1]
		}
	}
	go io.Copy(io.Discard, told)
	var calls []call
	ask := func(who, service, method string, request map[string]any) map[string]any {
		w.t.Helper()
		body, err := json.Marshal(request)
		if err != nil {
			w.t.Fatal(err)
		}
		r, err := http.NewRequest(http.MethodPost, url+"/discreet.curator.v1."+service+"/"+method, bytes.NewReader(body))
		if err != nil {
			w.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+tokens[who])
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			w.t.Fatal(err)
		}
		defer answer.Body.Close()
		got, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			w.t.Fatalf("%s: %s: %s: %v", method, answer.Status, got, err)
		}
		calls = append(calls, call{service + "." + method, body, got})
		var m map[string]any
		if err := json.Unmarshal(got, &m); err != nil {
			w.t.Fatal(err)
		}
		return m
	}
	question := "target: {kind: uniform, actions: 4}\nmethod: {name: dp-wis, max_weight: 4}\nprivacy: {epsilon: 0.8, delta: 1e-6}\n"
	ask("ann", "CuratorService", "ListDatasets", map[string]any{})
	ask("ann", "CuratorService", "GetDataset", map[string]any{"dataset": "bandit"})
	ask("ann", "CuratorService", "Plan", map[string]any{"dataset": "bandit", "question": question})
	asked := ask("ann", "CuratorService", "Ask", map[string]any{"dataset": "bandit", "question": question, "purpose": "the corpus of files", "key": "corpus-of-files-1"})
	id := asked["ask"].(map[string]any)["id"]
	ask("stella", "StewardService", "SetShare", map[string]any{"dataset": "bandit", "analyst": "ann", "share": map[string]any{"epsilon": 2, "delta": 1e-5}})
	ask("stella", "StewardService", "Decide", map[string]any{"id": id, "approve": true})
	for until := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		before := len(calls)
		state := ask("ann", "CuratorService", "GetAsk", map[string]any{"id": id})["ask"].(map[string]any)["state"]
		if state == "STATE_RELEASED" {
			break
		}
		if calls = calls[:before]; time.Now().After(until) {
			w.t.Fatalf("the ask is %v after a minute", state)
		}
	}
	ask("ann", "CuratorService", "GetRelease", map[string]any{"id": id})
	ask("ann", "CuratorService", "ListAsks", map[string]any{"dataset": "bandit"})
	ask("ann", "CuratorService", "GetBudget", map[string]any{"dataset": "bandit"})
	ask("stella", "StewardService", "ListNotices", map[string]any{"dataset": "bandit"})
	ask("stella", "StewardService", "ListAudit", map[string]any{"dataset": "bandit"})
	w.write("service/calls.json", pretty(w.t, calls))
	if err := c.Process.Signal(os.Interrupt); err != nil {
		w.t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		w.t.Fatal(err)
	}
	w.write("service/audit.txt", w.discreet("serve", "audit", config))
	for _, file := range []string{"curator.db", "budget.db", "tokens"} {
		text, err := os.ReadFile(w.path(name, file))
		if err != nil {
			w.t.Fatal(err)
		}
		w.write("service/"+file, text)
	}
	if err := os.RemoveAll(w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

// The keys of the fleet: seeds of 32 equal bytes, which the reader has too.
func seed(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

const opens = int64(1_800_000_000_000) // of the fleet's round, in milliseconds

// fleet writes what a server announces, and one device's report.
func (w *writer) fleet() {
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	rootKey, signKey := ed25519.NewKeyFromSeed(seed(1)), ed25519.NewKeyFromSeed(seed(2))
	sealKey, err := fleet.ParseSealKey(seed(3))
	must(err)
	randomizer := train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}
	first, err := fleet.SignRun(rootKey, &fleetv1.RunSpec{
		Run: seed(7)[:16], Schema: 1, Purpose: "balance poles", LocalJson: []byte(`{}`), Randomizer: fleet.RandomizerMessage(randomizer), EpsilonReport: 1,
		ReportsPerDevice: 8, Dim: 112, ReportBytes: 64, Mode: fleetv1.Mode_MODE_LINKED,
		Keys: []*fleetv1.Key{
			{Id: 1, Use: fleetv1.Use_USE_SIGN, Public: signKey.Public().(ed25519.PublicKey), ValidFrom: opens - 1000, ValidUntil: opens + 1e9},
			{Id: 2, Use: fleetv1.Use_USE_SEAL, Public: sealKey.PublicKey().Bytes(), ValidFrom: opens - 1000, ValidUntil: opens + 1e9},
		},
	})
	must(err)
	run, err := fleet.VerifyRun(rootKey.Public().(ed25519.PublicKey), []*fleetv1.SignedSpec{first})
	must(err)
	before, weights := run.Head(), make([]float64, 112)
	hash := train.HashWeights(weights)
	signed, err := fleet.SignRound(run, before, 1, signKey, &fleetv1.RoundSpec{
		Run: run.ID[:], Round: 1, Previous: before.Hash[:], WeightsSha256: hash[:], Kind: fleetv1.Kind_KIND_TRAIN,
		Randomizer: fleet.RandomizerMessage(randomizer), Epsilon: 1, Beacon: seed(9), SampleRate: 0.5,
		Opens: opens, TrainBy: opens + 60_000, UploadFrom: opens + 60_000, UploadUntil: opens + 120_000, MinReports: 1, MaxReports: 100,
	})
	must(err)
	round, err := run.VerifyRound(before, signed)
	must(err)
	source, err := noise.NewSource()
	must(err)
	learned := make([]float64, 112)
	learned[3] = 1
	body, err := round.Codec().Encode(nil, learned, round.Seed(fleet.Nullifier([32]byte{}, run.ID, round.Number)), receipt.None(), source)
	must(err)
	key, err := run.SealKey(time.UnixMilli(opens))
	must(err)
	sealed, err := round.Seal(body, key)
	must(err)
	for name, m := range map[string]proto.Message{
		"get_run_request": &fleetv1.GetRunRequest{Run: run.ID[:]}, "get_run": &fleetv1.GetRunResponse{Specs: []*fleetv1.SignedSpec{first}, Now: opens},
		"get_round_request": &fleetv1.GetRoundRequest{Run: run.ID[:], Weights: true},
		"get_round":         &fleetv1.GetRoundResponse{Specs: []*fleetv1.SignedSpec{signed}, Weights: fleet.EncodeWeights(weights), Now: opens},
		"upload":            round.Request(sealed, key, nil),
	} {
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		must(err)
		w.write("fleet/"+name+".binpb", data)
	}
}

func pretty(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}
