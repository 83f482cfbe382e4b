package corpus

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/internal/report"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/internal/yamlfile"
	"github.com/discreet-rl/discreet/serve"
)

// refused are files that versions after the one that wrote them do not take, by decision: path in testdata to reason.
var refused = map[string]string{}

// TestEveryVersionIsRead reads the files of every version, and wants what was read when they were written.
func TestEveryVersionIsRead(t *testing.T) {
	dirs, err := filepath.Glob("testdata/*/facts.json")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("%d versions are in testdata (%v)", len(dirs), err)
	}
	for _, path := range dirs {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var facts map[string]any
			if err := json.Unmarshal(text, &facts); err != nil {
				t.Fatal(err)
			}
			for name, read := range readers(t, dir) {
				if reason := refused[filepath.Base(dir)+"/"+name]; reason != "" {
					delete(facts, name)
					continue
				}
				t.Run(name, func(t *testing.T) {
					var got any
					text, err := json.Marshal(read(t))
					if err == nil {
						err = json.Unmarshal(text, &got)
					}
					if err != nil {
						t.Fatal(err)
					}
					if want, ok := facts[name]; !ok || !reflect.DeepEqual(got, want) {
						t.Errorf("reads as %v; when it was written, as %v", got, want)
					}
				})
				delete(facts, name)
			}
			for name := range facts {
				t.Errorf("%s is in facts.json and nothing reads it", name)
			}
		})
	}
}

// TestTheFirstVersionHoldsWhatItHeld states by hand what is in some of its files.
func TestTheFirstVersionHoldsWhatItHeld(t *testing.T) {
	const dir = "testdata/0.1.0-pre"
	read, kinds := readers(t, dir), map[string]int{}
	for name := range read {
		kinds[strings.Split(name, "/")[0]]++
	}
	for kind, n := range map[string]int{"releases": 35, "questions": 36, "policies": 5, "events": 22, "ledger": 4, "shards": 2, "training": 1, "service": 3, "fleet": 1, "settings": 4} {
		if kinds[kind] != n {
			t.Errorf("%d files of the kind %s; want %d", kinds[kind], kind, n)
		}
	}
	charged := read["releases/charged"](t).(facts)
	if p := charged["privacy"].(facts); charged["method"] != "dp-wis" || charged["signed"] != true || p["epsilon"] != 1.0 || p["delta"] != 1e-5 || charged["ledger"].(facts)["seq"] != int64(3) {
		t.Errorf("the charged release is %v; want dp-wis at (1, 1e-5), signed, paid by entry 3", charged)
	}
	for name, want := range map[string]float64{"pure_dp": .2, "gaussian": 4.38, "gdp": .926} {
		if got := read["events/"+name](t).(facts)["epsilon"]; got != want {
			t.Errorf("the event %s costs epsilon %v; want %v", name, got, want)
		}
	}
	if got := read["shards/run"](t).(facts)["again"]; got != true {
		t.Error("a run in shards that had ended does not give its release again")
	}
}

// facts are what a reader finds in a file, to be compared as JSON.
type facts = map[string]any

// readers are what reads the files of a version, by the name of what is read.
func readers(t *testing.T, dir string) map[string]func(*testing.T) any {
	t.Helper()
	all := map[string]func(*testing.T) any{}
	for _, name := range named(t, filepath.Join(dir, "releases"), ".json") {
		all["releases/"+name] = func(t *testing.T) any { return release(t, filepath.Join(dir, "releases", name+".json"), dir) }
	}
	for _, name := range named(t, filepath.Join(dir, "inputs/questions"), ".yaml") {
		all["questions/"+name] = func(t *testing.T) any { return question(t, filepath.Join(dir, "inputs/questions", name+".yaml")) }
	}
	for kind, file := range map[string]string{"softmax": "features.json", "softmax of inputs": "inputs.json", "soft-greedy": "greedy.json", "tree": "tree.json", "table": "table.csv"} {
		all["policies/"+kind] = func(t *testing.T) any { return target(t, dir, kind, file) }
	}
	var events []struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(contents(t, dir, "inputs/events/all.json"), &events); err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		all["events/"+e.ID] = func(t *testing.T) any { return event(t, dir, i) }
	}
	all["ledger/budget.db"] = func(t *testing.T) any { return store(t, dir) }
	all["ledger/entries.ndjson"] = func(t *testing.T) any { return export(t, dir) }
	all["ledger/backup"] = func(t *testing.T) any { return restored(t, dir) }
	all["ledger/contract.json"] = func(t *testing.T) any { return contract(t, dir) }
	all["shards/run"] = func(t *testing.T) any { return shards(t, dir) }
	all["shards/partials"] = func(t *testing.T) any { return partials(t, dir) }
	all["training/policy.json"] = func(t *testing.T) any { return trained(t, dir) }
	all["service/calls.json"] = func(t *testing.T) any { return calls(t, dir) }
	all["service/curator.db"] = func(t *testing.T) any { return service(t, dir) }
	all["service/budget.db"] = func(t *testing.T) any { return summary(t, copied(t, dir, "service/budget.db")) }
	all["fleet/messages"] = func(t *testing.T) any { return messages(t, dir) }
	all["settings/train.yaml"] = func(t *testing.T) any {
		c, err := discreet.LoadTraining(filepath.Join(dir, "inputs/train.yaml"))
		check(t, err)
		r, err := c.Recipe()
		check(t, err)
		return r
	}
	all["settings/serve.yaml"] = func(t *testing.T) any {
		c, err := serve.Load(filepath.Join(dir, "inputs/serve.yaml"))
		check(t, err)
		d := c.Datasets["bandit"]
		return facts{"listen": c.Listen, "datasets": len(c.Datasets), "people": d.People, "budget": d.Budget}
	}
	all["settings/fleet.yaml"] = func(t *testing.T) any {
		return object(t, run(t, "fleet", "plan", filepath.Join(dir, "inputs/fleet.yaml"), "--json"), "epsilon_report", "epsilon_device", "reports_per_device")
	}
	all["settings/agent.yaml"] = func(t *testing.T) any {
		a, err := yamlfile.LoadFleetAgent(filepath.Join(dir, "inputs/agent.yaml"), nil)
		check(t, err)
		return facts{"server": a.Server, "epsilon": a.Epsilon, "purpose": a.Consent.Purpose, "randomizer": a.Consent.Randomizer}
	}
	return all
}

func release(t *testing.T, path, dir string) any {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	var signer ed25519.PublicKey
	if strings.HasPrefix(filepath.Base(path), "charged") {
		signer, err = signature.LoadPublic(filepath.Join(dir, "ledger/key.pub.pem"))
		check(t, err)
	}
	v, err := discreet.Verify(text, signer)
	check(t, err)
	r := v.Release
	if err := report.Write(new(bytes.Buffer), r); err != nil {
		t.Error(err)
	}
	f := facts{"method": r.Method, "signed": v.SignedBy != "", "envelope": v.Envelope, "values": r.Values, "answers": len(r.Answers)}
	for _, a := range r.Answers {
		switch {
		case a.Estimate != nil && r.JointConfidence == 0: // which 0.1.0 wrote by itself
			f["estimate"], f["answers"] = facts{"value": a.Estimate.Value, "interval": a.Estimate.Interval}, 0
		case a.Estimate != nil:
			f["answer "+a.Name] = facts{"value": a.Estimate.Value, "interval": a.Estimate.Interval}
		}
	}
	if p := r.Privacy; p != nil {
		f["privacy"] = facts{"epsilon": p.Epsilon, "delta": p.Delta, "adjacency": p.Adjacency, "unit": p.Unit, "within": v.Epsilon.Upper <= p.Epsilon*(1+1e-9)}
	}
	if l := r.Ledger; l != nil {
		f["ledger"] = facts{"dataset": l.Dataset, "seq": l.Seq, "analyst": l.Analyst, "key": l.Key}
	}
	return f
}

func question(t *testing.T, path string) any {
	t.Helper()
	c, err := discreet.Load(path)
	check(t, err)
	f := facts{"method": c.Method.Name, "persons": c.Problem.Persons, "epsilon": c.Privacy.Epsilon, "horizon": c.Problem.Horizon}
	hash, err := c.Hash()
	check(t, err)
	f["hash"] = hash // a charge that waits for its release is found by it
	if c.Contract == nil && !c.Privacy.None {
		p, err := discreet.Plan(c)
		check(t, err)
		f["adjacency"] = p.Privacy.Adjacency
	}
	return f
}
