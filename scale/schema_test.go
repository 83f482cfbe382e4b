package scale

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// follows holds a document against a schema of docs/schema.
func follows(t *testing.T, schema string, document []byte) error {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("../docs/schema/" + schema)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// TestTasksAndPartialsFollowTheirSchemas: what a run writes does, its check included, and
// nothing with a member more or fewer, or with a hash that is none.
func TestTasksAndPartialsFollowTheirSchemas(t *testing.T) {
	s := newStage(t, byPlace("group: fixed, persons: {0: 60, 1: 60}")...)
	d := s.driver(t)
	var headers [][]byte
	d.Engine = broken{do: func(_ Round, parts []Partial) ([]Partial, error) {
		merged, err := Merge(parts...)
		if err != nil {
			return nil, err
		}
		for _, p := range append(parts, merged) {
			text, err := json.Marshal(p.header)
			if err != nil {
				return nil, err
			}
			headers = append(headers, text)
		}
		return parts, nil
	}}
	if _, err := d.Evaluate(t.Context()); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(d.Dir, "task-*.json"))
	if err != nil || len(paths) != 2 {
		t.Fatalf("tasks %q, %v; want 2", paths, err)
	}
	all := map[string][][]byte{"part.v1.json": headers}
	for _, path := range paths {
		text, err := bounded(path, mostTask)
		if err != nil {
			t.Fatal(err)
		}
		all["task.v1.json"] = append(all["task.v1.json"], text)
	}
	for schema, documents := range all {
		for _, text := range documents {
			if err := follows(t, schema, text); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		last := documents[len(documents)-1]
		var members map[string]json.RawMessage
		if err := json.Unmarshal(last, &members); err != nil {
			t.Fatal(err)
		}
		for name, was := range members {
			delete(members, name)
			if text, err := json.Marshal(members); err != nil || (follows(t, schema, text) == nil) != (name == "sizes") {
				t.Errorf("%s without %s passes, %v", schema, name, err)
			}
			members[name] = was
		}
		for old, other := range map[string]string{`{"`: `{"more":1,"`, `"run":"`: `"run":"G`, `"round":`: `"round":-`} {
			if follows(t, schema, []byte(strings.Replace(string(last), old, other, 1))) == nil {
				t.Errorf("%s passes with %s", schema, other)
			}
		}
	}
}
