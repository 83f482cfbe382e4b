package corpus

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/charging"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/cli"
	"github.com/discreet-rl/discreet/internal/fleet"

	_ "github.com/discreet-rl/discreet/serve/curatorv1" // the names of its messages
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a command of today and returns its standard output.
func run(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := cli.Main(args, nil, &out, &errs); code != 0 {
		t.Fatalf("discreet %s: exit code %d: %s", strings.Join(args, " "), code, &errs)
	}
	return out.Bytes()
}

// named are the files of a directory with an ending, without it.
func named(t *testing.T, dir, ending string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"+ending))
	check(t, err)
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ending)
	}
	return files
}

func contents(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	check(t, err)
	return text
}

// copied is a copy of a file, for readers that may change it.
func copied(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(name))
	check(t, os.WriteFile(path, contents(t, dir, name), 0o600))
	return path
}

// object is a JSON object with these of its members alone.
func object(t *testing.T, text []byte, members ...string) any {
	t.Helper()
	var all map[string]any
	check(t, json.Unmarshal(text, &all))
	f := facts{}
	for _, m := range members {
		f[m] = all[m]
	}
	return f
}

// digits rounds a number that is computed, so that machines agree on it.
func digits(x float64, n int) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', n, 64), 64)
	return y
}

// target is the value of a policy without privacy.
func target(t *testing.T, dir, kind, file string) any {
	t.Helper()
	kind, _, _ = strings.Cut(kind, " ")
	more := ""
	if kind == "table" {
		more = ", column: obs_state"
	}
	c, err := discreet.Load(filepath.Join(dir, "inputs/questions/policy.yaml"), "target={kind: "+kind+", path: ../policies/"+file+more+"}")
	check(t, err)
	r, err := discreet.Evaluate(context.Background(), c)
	check(t, err)
	return facts{"value": digits(r.Release.Answers[0].Estimate.Value, 9)}
}

// event is what one event of a list costs.
func event(t *testing.T, dir string, i int) any {
	t.Helper()
	var list []json.RawMessage
	check(t, json.Unmarshal(contents(t, dir, "inputs/events/all.json"), &list))
	path := filepath.Join(t.TempDir(), "event.json")
	one, err := json.Marshal(list[i : i+1])
	check(t, err)
	check(t, os.WriteFile(path, one, 0o600))
	var answers []struct {
		Epsilon struct{ Upper float64 }
	}
	check(t, json.Unmarshal(run(t, "account", "epsilon", path, "--adjacency", "add_remove_one", "--delta", "1e-5", "--json"), &answers))
	return facts{"epsilon": digits(answers[0].Epsilon.Upper, 3)}
}

// summary is what a store says of its dataset; its chain and accounting are computed again.
func summary(t *testing.T, path string) any {
	t.Helper()
	run(t, "ledger", "verify", path)
	return object(t, run(t, "ledger", "show", path, "--json"), "config", "budget", "spent", "charges", "pending_count", "head")
}

func store(t *testing.T, dir string) any {
	t.Helper()
	path, f := copied(t, dir, "ledger/budget.db"), facts{}
	f["summary"] = summary(t, path)
	for _, name := range []string{"charged.json", "charged.dsse.json"} {
		var v struct {
			Valid    bool
			SignedBy string `json:"signed_by"`
			Ledgers  []struct {
				PaidBy int `json:"paid_by_entry"`
			}
		}
		check(t, json.Unmarshal(run(t, "ledger", "verify", path, filepath.Join(dir, "releases", name), "--public-key", filepath.Join(dir, "ledger/key.pub.pem"), "--json"), &v))
		f[name] = facts{"valid": v.Valid, "signed_by": v.SignedBy, "paid_by_entry": v.Ledgers[0].PaidBy}
	}
	// The same question under its key is answered by the recorded release, without the data.
	again := run(t, "evaluate", filepath.Join(dir, "inputs/questions/charged.yaml"), "--key", "corpus-1", "--json", "--set", "data.path=bandit.csv", "--set", "ledger.path="+path,
		"--set", "contract={methods: [dp-is, dp-wis], failed_checks: 2}")
	f["again"] = bytes.Equal(again, contents(t, dir, "releases/charged.json"))
	return f
}

func export(t *testing.T, dir string) any {
	t.Helper()
	text := contents(t, dir, "ledger/entries.ndjson")
	first, head, err := ledger.VerifyExport(bytes.NewReader(text))
	check(t, err)
	return facts{"dataset": first.Dataset, "adjacency": first.Adjacency, "entries": bytes.Count(text, []byte("\n")), "head": head}
}

func restored(t *testing.T, dir string) any {
	t.Helper()
	path := filepath.Join(t.TempDir(), "restored.db")
	run(t, "ledger", "restore", filepath.Join(dir, "ledger/backup"), path, "--lost-nothing", "--reason", "the corpus is read")
	run(t, "ledger", "verify", path)
	return object(t, run(t, "ledger", "show", path, "--json"), "budget", "spent", "charges", "pending_count")
}

func contract(t *testing.T, dir string) any {
	t.Helper()
	l, err := ledger.Open(t.Context(), copied(t, dir, "ledger/budget.db"), "bandit")
	check(t, err)
	defer l.Close()
	c, err := l.Contract(t.Context())
	check(t, err)
	config, err := discreet.Load(filepath.Join(dir, "inputs/questions/charged.yaml"), "data.path="+where+strings.TrimPrefix(filepath.Base(dir), filepath.Base(where))+"/inputs/questions/bandit.csv", "contract={methods: [dp-is, dp-wis], failed_checks: 2}")
	check(t, err)
	check(t, charging.CheckContract(t.Context(), config, l))
	return facts{"number": c.Number, "terms": c.Terms, "hash": c.Hash}
}

const runKey = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// shardsOf are the shards as seen from the question.
const shardsOf = "../../shards/*.parquet"

// shards ends a run that had ended once more: its directory says the release, and no noise is drawn.
func shards(t *testing.T, dir string) any {
	t.Helper()
	t.Setenv("DISCREET_RUN_KEY", runKey)
	whole := t.TempDir()
	for _, part := range []string{"inputs", "shards", "run"} {
		check(t, os.CopyFS(filepath.Join(whole, part), os.DirFS(filepath.Join(dir, part))))
	}
	got := run(t, "evaluate", filepath.Join(whole, "inputs/questions/shards.yaml"), "--shards", shardsOf, "--run", filepath.Join(whole, "run"), "--json")
	var old, again evaluate.Release
	check(t, json.Unmarshal(contents(t, dir, "releases/shards.json"), &old))
	check(t, json.Unmarshal(got, &again))
	return facts{"again": reflect.DeepEqual(old.Answers, again.Answers)}
}

// partials adds partials up. Only the program that asked may answer a task, so a task of old is refused.
func partials(t *testing.T, dir string) any {
	t.Helper()
	t.Setenv("DISCREET_RUN_KEY", runKey)
	sum := filepath.Join(t.TempDir(), "sum.part")
	run(t, "merge", filepath.Join(dir, "partials/0.part"), filepath.Join(dir, "partials/1.part"), "-o", sum)
	text, err := os.ReadFile(sum)
	check(t, err)
	var errs bytes.Buffer
	code := cli.Main([]string{"partial", filepath.Join(dir, "run/task-0002.json"), filepath.Join(dir, "shards/s0.parquet"), "-o", filepath.Join(t.TempDir(), "0.part")}, nil, new(bytes.Buffer), &errs)
	return facts{"sha256": fmt.Sprintf("%x", sha256.Sum256(text)), "task": code, "by program": strings.Contains(errs.String(), "use one program for driver and workers")}
}

func trained(t *testing.T, dir string) any {
	t.Helper()
	out := filepath.Join(t.TempDir(), "episodes.csv")
	run(t, "simulate", "cart-pole", "--episodes", "3", "--seed", "1", "--policy", "softmax", "--policy-file", filepath.Join(dir, "training/policy.json"), "-o", out)
	text, err := os.ReadFile(out)
	check(t, err)
	return facts{"decisions": bytes.Count(text, []byte("\n")) - 1, "training": object(t, contents(t, dir, "training/train.json"), "schema")}
}

// calls reads every message of the curator's service by its name, strictly: an unknown member is an error.
func calls(t *testing.T, dir string) any {
	t.Helper()
	var all []struct {
		Method            string
		Request, Response json.RawMessage
	}
	check(t, json.Unmarshal(contents(t, dir, "service/calls.json"), &all))
	f := facts{}
	for _, c := range all {
		service, method, _ := strings.Cut(c.Method, ".")
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName("discreet.curator.v1." + service))
		check(t, err)
		m := d.(protoreflect.ServiceDescriptor).Methods().ByName(protoreflect.Name(method))
		if m == nil {
			t.Fatalf("%s is no longer a call", c.Method)
		}
		for side, text := range map[protoreflect.MessageDescriptor]json.RawMessage{m.Input(): c.Request, m.Output(): c.Response} {
			kind, err := protoregistry.GlobalTypes.FindMessageByName(side.FullName())
			check(t, err)
			message := kind.New().Interface()
			if err := protojson.Unmarshal(text, message); err != nil {
				t.Errorf("%s: %v", side.FullName(), err)
			}
			again, err := protojson.Marshal(message)
			check(t, err)
			var read any
			check(t, json.Unmarshal(again, &read))
			f[string(side.Name())] = read
		}
	}
	return f
}

// service reads the store of the curator's service and its audit log.
func service(t *testing.T, dir string) any {
	t.Helper()
	work := t.TempDir()
	check(t, os.CopyFS(work, os.DirFS(filepath.Join(dir, "inputs"))))
	for _, name := range []string{"curator.db", "budget.db", "tokens"} {
		check(t, os.WriteFile(filepath.Join(work, name), contents(t, dir, "service/"+name), 0o600))
	}
	config := filepath.Join(work, "serve.yaml")
	if got, want := run(t, "serve", "audit", config), contents(t, dir, "service/audit.txt"); !bytes.Equal(got, want) {
		t.Errorf("the audit log is %s; was %s", got, want)
	}
	return facts{"tokens": strings.Count(string(run(t, "serve", "token", "list", config)), "\n")}
}

// messages reads what a server of a fleet announced, and opens a device's report.
func messages(t *testing.T, dir string) any {
	t.Helper()
	read := func(name string, m proto.Message) {
		t.Helper()
		check(t, proto.UnmarshalOptions{DiscardUnknown: false}.Unmarshal(contents(t, dir, "fleet/"+name+".binpb"), m))
		if n := len(m.ProtoReflect().GetUnknown()); n > 0 {
			t.Errorf("%s: %d bytes are of unknown fields", name, n)
		}
	}
	var runs fleetv1.GetRunResponse
	var rounds fleetv1.GetRoundResponse
	var upload fleetv1.UploadRequest
	read("get_run_request", new(fleetv1.GetRunRequest))
	read("get_run", &runs)
	read("get_round_request", new(fleetv1.GetRoundRequest))
	read("get_round", &rounds)
	read("upload", &upload)
	root := ed25519.NewKeyFromSeed(seed(1)).Public().(ed25519.PublicKey)
	r, err := fleet.VerifyRun(root, runs.GetSpecs())
	check(t, err)
	check(t, fleet.Consent{Purpose: "balance poles", Randomizer: r.Randomizer, Reports: 8, Dim: 112}.Check(r))
	round, err := r.VerifyRound(r.Head(), rounds.GetSpecs()[0])
	check(t, err)
	check(t, round.Begin(time.UnixMilli(rounds.GetNow())))
	weights, err := round.Weights(rounds.GetWeights())
	check(t, err)
	key, err := fleet.ParseSealKey(seed(3))
	check(t, err)
	body, err := round.Unseal(upload.GetSealed(), key)
	check(t, err)
	direction := make([]float64, len(weights))
	check(t, round.Codec().Decode(direction, body, round.Seed(fleet.Nullifier([32]byte{}, r.ID, round.Number))))
	sum := 0.0
	for _, x := range direction {
		sum += math.Abs(x)
	}
	return facts{"run": hex.EncodeToString(r.ID[:]), "epsilon": r.Randomizer.Epsilon, "reports": r.Reports, "round": round.Number, "body": hex.EncodeToString(body), "direction": digits(sum, 9)}
}
