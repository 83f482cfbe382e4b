package policy_test

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// The models in testdata/exported were fitted by scikit-learn and written by
// examples/policies/export.py; what they should predict is what predict_proba
// said (examples/policies/fixtures.py writes both).
func TestExportedPoliciesPredictWhatTheirLibraryPredicts(t *testing.T) {
	soft := func(r io.Reader, name string) (policy.Policy, error) { return policy.ReadSoftmax(r, name) }
	for name, read := range map[string]func(io.Reader, string) (policy.Policy, error){
		"binary.json": soft, "multinomial.json": soft, "linear.json": soft, "tree.json": policy.ReadTree,
		"forest.json": policy.ReadTree, "boosted.json": policy.ReadTree, "boosted_binary.json": policy.ReadTree, "binned.json": policy.ReadTree,
		"table.csv": func(r io.Reader, name string) (policy.Policy, error) { return policy.ReadTable(r, name, "obs_state") },
	} {
		path := "testdata/exported/" + name
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		p, err := read(f, path)
		if err != nil {
			t.Error(err)
			continue
		}
		want := expected(t, path+".expected.json")
		rows := len(want.Obs)
		d := &trajectory.Dataset{Columns: want.Columns, Action: make([]int32, rows), Reward: make([]float64, rows)}
		for _, obs := range want.Obs {
			d.Obs = append(d.Obs, obs...)
		}
		b := must(p.Bind(d))
		for row := range rows {
			got := make([]float64, len(want.Probs[row]))
			if !b.Distribution(got, row) {
				t.Fatalf("%s: row %d: no distribution", name, row)
			}
			for a := range got {
				d.Action[row] = int32(a)
				if q, ok := b.Prob(row); !ok || q != got[a] || q > p.MaxProb() {
					t.Errorf("%s: row %d: Prob of action %d is %v, %v; the distribution has %v, at most %v", name, row, a, q, ok, got[a], p.MaxProb())
				}
			}
			if diff := cmp.Diff(want.Probs[row], got, cmpopts.EquateApprox(1e-9, 1e-12)); diff != "" {
				t.Errorf("%s: row %d: (-library +ours)\n%s", name, row, diff)
			}
		}
	}
}

type exported struct {
	Columns []string    `json:"columns"`
	Obs     [][]float64 `json:"obs"`
	Probs   [][]float64 `json:"probs"`
}

func expected(t *testing.T, path string) exported {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var e exported
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	if len(e.Obs) < 5 || len(e.Obs) != len(e.Probs) {
		t.Fatalf("%s: %d observations, %d distributions", path, len(e.Obs), len(e.Probs))
	}
	return e
}

// The schema takes what the exporters write and refuses what the readers refuse
// for its form alone.
func TestPolicyFilesFollowTheirSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/schema/policy.v1.json")
	if err != nil {
		t.Fatal(err)
	}
	check := func(text string) error {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(value)
	}
	for _, name := range []string{"binary.json", "multinomial.json", "linear.json", "tree.json", "forest.json", "boosted.json", "boosted_binary.json", "binned.json"} {
		text, err := os.ReadFile("testdata/exported/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(string(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{
		`{"inputs": ["x"], "weights": [[1]]}`,
		`{"weights": [[1], [2]]}`,
		`{"inputs": ["x"], "features": {"kind": "tabular"}, "weights": [[1], [2]]}`,
		`{"kind": "tree", "inputs": ["x"], "nodes": [{"probs": [1, 0]}]}`,
		`{"kind": "tree", "inputs": ["x"], "precision": "float64", "trees": [{"action": 0, "nodes": [{"probs": [1, 0]}]}]}`,
		`{"kind": "tree", "inputs": ["x"], "precision": "float64", "scores": [0, 1], "trees": [{"action": 0, "nodes": [{"probs": [1, 0]}]}]}`,
		`{"inputs": ["x"], "weights": [[1], [2]], "bias": [0, 1]}`,
	} {
		if check(text) == nil {
			t.Errorf("the schema takes %s", text)
		}
	}
}
