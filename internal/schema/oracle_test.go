package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/schema"
)

// another is another implementation of JSON Schema.
func another(t *testing.T, n schema.Name) *jsonschema.Schema {
	t.Helper()
	text, err := schema.Text(n)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("file:///schema.json", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("file:///schema.json")
}

// furthest lists the causes that lie furthest inside the document, as Check writes them.
func furthest(e *jsonschema.ValidationError) (at int, words []string) {
	if e.Causes == nil {
		if k, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
			slices.Sort(k.Properties) // they come in any order
		}
		text := e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		return len(e.InstanceLocation), []string{"/" + strings.Join(e.InstanceLocation, "/") + ": " + fault.Quoted(text, 300)}
	}
	for _, c := range e.Causes {
		deep, more := furthest(c)
		if deep > at {
			at, words = deep, nil
		}
		if deep == at {
			words = append(words, more...)
		}
	}
	return at, words
}

// changed calls visit for each place of a document and each value to put there; nil takes the place away.
func changed(v any, put func(any), visit func()) {
	for _, w := range []any{nil, true, "", "x", "linear", json.Number("-1"), json.Number("0"), json.Number("0.5"), json.Number("1.0"), json.Number("3"), []any{}, []any{json.Number("1"), "x"}, map[string]any{}, map[string]any{"kind": "composed"}} {
		put(w)
		visit()
	}
	put(v)
	switch v := v.(type) {
	case map[string]any:
		v["unknown"] = "member"
		visit()
		delete(v, "unknown")
		for _, name := range slices.Sorted(maps.Keys(v)) {
			value := v[name]
			delete(v, name)
			visit()
			v[name] = value
			changed(value, func(w any) { v[name] = w }, visit)
		}
	case []any:
		put(append(slices.Clone(v), "more"))
		visit()
		put(v)
		for i, value := range v[:min(len(v), 3)] {
			changed(value, func(w any) { v[i] = w }, visit)
		}
	}
}

// TestAnotherImplementationAgrees on releases and events, and on what they become by one change: whether they follow
// their schema, and on one of the causes that lie furthest inside where not.
func TestAnotherImplementationAgrees(t *testing.T) {
	releases, err := filepath.Glob("../golden/testdata/releases/*.json")
	if err != nil || len(releases) < 100 {
		t.Fatalf("%d releases, %v", len(releases), err)
	}
	documents := []struct {
		of   schema.Name
		text string
	}{{schema.Event, `{"kind":"composed","events":[{"kind":"tree_aggregation","noise_multiplier":3,"steps":100,"restarts":2,"participations":1},{"kind":"privacy_loss","losses":[0,1],"masses":[0.5,0.5],"infinity":0}]}`}}
	for i := 0; i < len(releases); i += 110 {
		text, err := os.ReadFile(releases[i])
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, struct {
			of   schema.Name
			text string
		}{schema.Release, string(text)})
	}
	refused, accepted := 0, 0
	for _, d := range documents {
		oracle := another(t, d.of)
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(d.text))
		if err != nil {
			t.Fatal(err)
		}
		changed(v, func(w any) { v = w }, func() {
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			got := schema.Check(d.of, text)
			var want *jsonschema.ValidationError
			if !errors.As(oracle.Validate(v), &want) {
				accepted++
				if got != nil {
					t.Errorf("%s: %v; the other accepts it", text, got)
				}
				return
			}
			refused++
			_, causes := furthest(want)
			_, cause, _ := strings.Cut(fmt.Sprint(got), string(d.of)+": ")
			if !errors.Is(got, schema.ErrInvalid) || !slices.Contains(causes, cause) {
				t.Errorf("%v; want one of %q", got, causes)
			}
		})
	}
	if refused < 1000 || accepted < 20 {
		t.Errorf("%d documents were refused and %d accepted: too few to compare", refused, accepted)
	}
}
