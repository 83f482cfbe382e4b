package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/discreet-rl/discreet/internal/schema"
)

func Example() {
	err := schema.Check(schema.Release, []byte(`{"schema":"discreet/release/v1","method":"is","privacy":"none","public":{},"expected":{"rmse_privacy":-1},"diagnostics":{}}`))
	fmt.Println(err)
	// Output: document does not follow its schema: release.v1.json: /expected/rmse_privacy: minimum: got -1, want 0
}

// TestSchemasAreThoseThatArePublished in docs/schema.
func TestSchemasAreThoseThatArePublished(t *testing.T) {
	for _, n := range []schema.Name{schema.Release, schema.Ledger, schema.Event} {
		published, err := os.ReadFile("../../docs/schema/" + string(n))
		if err != nil {
			t.Fatal(err)
		}
		if ours, err := schema.Text(n); err != nil || !bytes.Equal(ours, published) {
			t.Errorf("%s differs from docs/schema: run go generate ./internal/schema; %v", n, err)
		}
	}
}

// The schemas follow the metaschema of their draft.
func TestSchemasAreSchemas(t *testing.T) {
	for _, n := range []schema.Name{schema.Release, schema.Ledger, schema.Event} {
		text, err := schema.Text(n)
		if err != nil {
			t.Fatal(err)
		}
		var head struct {
			Draft string `json:"$schema"`
			ID    string `json:"$id"`
		}
		if err := json.Unmarshal(text, &head); err != nil {
			t.Fatalf("%s: %v", n, err)
		}
		if head.Draft != "https://json-schema.org/draft/2020-12/schema" || !strings.HasSuffix(head.ID, "/docs/schema/"+string(n)) {
			t.Errorf("%s: %+v", n, head)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if err := jsonschema.NewCompiler().MustCompile(head.Draft).Validate(doc); err != nil {
			t.Errorf("%s: %v", n, err)
		}
	}
}

const private = `{"schema":"discreet/release/v1","method":"dp-is","estimate":{"value":0.5,"interval":[0.4,0.6],"confidence":0.95,
"std_sampling":0.04,"sampling":"paid","std_privacy":0.03,"clipping":[0,0]},
"privacy":{"model":"central","unit":"person","adjacency":"replace_one","epsilon":1,"delta":1e-5,"accountant":"gaussian",
"accounted":{"lower":0.99,"upper":1},"event":{"kind":"composed","events":[{"kind":"gaussian","noise_multiplier":7.5},
{"kind":"self_composed","count":3,"event":{"kind":"laplace","noise_multiplier":2}}]},"noise":"exact","charged":false},
"public":{"gamma":1,"persons":312},"expected":{},"diagnostics":{}}`

// Each of these breaks a rule that the schema states.
func TestWhatIsRefused(t *testing.T) {
	if err := schema.Check(schema.Release, []byte(private)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, replacement, where string }{
		{`"discreet/release/v1"`, `"discreet/release/v2"`, "/schema"},
		{`"method":"dp-is",`, ``, "/"},
		{`"method"`, `"fingerprint":"x","method"`, "/"},
		{`"replace_one"`, `"add"`, "/privacy/adjacency"},
		{`"epsilon":1`, `"epsilon":0`, "/privacy/epsilon"},
		{`"epsilon":1`, `"epsilon":"1"`, "/privacy/epsilon"},
		{`"delta":1e-5`, `"delta":1`, "/privacy/delta"},
		{`"count":3`, `"count":0`, "/privacy/event/events/1/count"},
		{`"noise_multiplier":7.5`, `"noise_multiplier":-1`, "/privacy/event/events/0/noise_multiplier"},
		{`"kind":"laplace"`, `"kind":"uniform"`, "/privacy/event/events/1/event/kind"},
		{`"unit":"person"`, `"unit":"visit"`, "/privacy/unit"},
		{`"charged":false`, `"charged":true`, "/privacy/charged"},
		{`[0.4,0.6]`, `[0.4]`, "/estimate/interval"},
		{`"sampling":"paid"`, `"sampling":"guessed"`, "/estimate/sampling"},
		{`"clipping":[0,0]`, `"clipping":[0,0],"count":312`, "/estimate"},
		{`"persons":312`, `"persons":0`, "/public/persons"},
		{`"gamma":1`, `"gamma":1.5`, "/public/gamma"},
	} {
		text := strings.Replace(private, c.old, c.replacement, 1)
		if text == private {
			t.Fatalf("%s is not in the sample", c.old)
		}
		err := schema.Check(schema.Release, []byte(text))
		if !errors.Is(err, schema.ErrInvalid) || !strings.Contains(fmt.Sprint(err), ": "+c.where+": ") {
			t.Errorf("%s for %s: %v; want ErrInvalid at %s", c.replacement, c.old, err, c.where)
		}
	}
	for _, text := range []string{``, `{`, `[]`, `{} {}`, `null`} {
		if err := schema.Check(schema.Release, []byte(text)); !errors.Is(err, schema.ErrInvalid) {
			t.Errorf("%q: %v; want ErrInvalid", text, err)
		}
	}
}

// What the schemas define, they define alike.
func TestDefinitionsAgree(t *testing.T) {
	defs := map[schema.Name]map[string]any{}
	for _, n := range []schema.Name{schema.Release, schema.Ledger, schema.Event} {
		text, err := schema.Text(n)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Defs map[string]any `json:"$defs"`
		}
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		defs[n] = doc.Defs
	}
	for n, least := range map[schema.Name]int{schema.Ledger: 5, schema.Event: 4} {
		shared := 0
		for name, want := range defs[schema.Release] {
			if got, ok := defs[n][name]; ok {
				shared++
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %v in %s, %v in the release's schema", name, got, n, want)
				}
			}
		}
		if shared < least {
			t.Errorf("only %d shared definitions in %s", shared, n)
		}
	}
}

// A document from anywhere is refused, fast and in one printable line.
func TestHostileDocuments(t *testing.T) {
	long := strings.Repeat("n", 1<<20)
	many := `{"` + long + `":[` + strings.Repeat("0,", 20000) + "0]}"
	for name, text := range map[string]string{
		"a number that takes for ever": strings.Replace(private, "0.04", "1e-2000000", 1),
		"many such":                    strings.Replace(private, "[0,0]", "["+strings.Repeat("1e-999999,", 2000)+"0]", 1),
		"its digits written out":       strings.Replace(private, "0.04", "0."+strings.Repeat("0", 1<<20)+"1", 1),
		"a member that stands twice":   strings.Replace(private, `"method"`, `"method":"x","method"`, 1),
		"a name with an escape":        strings.Replace(private, `"method"`, `"\u001b[31m\nsignature   good":1,"method"`, 1),
		"a name of a megabyte":         strings.Replace(private, `"method"`, `"`+long+`":1,"method"`, 1),
		"a long path":                  strings.Replace(private, `"diagnostics":{}`, `"diagnostics":`+many+`,"x":1`, 1),
		"lines in a method":            strings.Replace(private, `"dp-is"`, `"dp-is\nsignature   good"`, 1),
	} {
		start := time.Now()
		err := schema.Check(schema.Release, []byte(text))
		if !errors.Is(err, schema.ErrInvalid) {
			t.Errorf("%s: %.200v; want ErrInvalid", name, err)
			continue
		}
		if told := err.Error(); len(told) > 2000 || strings.ContainsFunc(told, unicode.IsControl) {
			t.Errorf("%s: the error has %d bytes: %.200q", name, len(told), told)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: refused after %v", name, took)
		}
	}
}

// Events stand by themselves: a tree follows its schema, and a kind, a parameter or a member that
// package dp does not read does not.
func TestEventsFollowTheirSchema(t *testing.T) {
	for _, text := range []string{
		`{"kind":"gaussian","noise_multiplier":1.1}`,
		`{"kind":"self_composed","count":9,"event":{"kind":"poisson_sampled","rate":0.1,"event":{"kind":"laplace","noise_multiplier":2}}}`,
		`{"kind":"tree_aggregation","noise_multiplier":3,"steps":100,"restarts":2,"participations":1}`,
		`{"kind":"privacy_loss","losses":[0,1],"masses":[0.5,0.5],"infinity":0}`,
	} {
		if err := schema.Check(schema.Event, []byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		`{"kind":"gaussian"}`, `{"kind":"gaussian","noise_multiplier":0}`, `{"kind":"gaussian","noise_multiplier":1,"more":1}`, `{"kind":"cauchy","scale":1}`,
		`{"kind":"composed","events":[{"kind":"gdp","mu":-1}]}`, `{"kind":"tree_aggregation","noise_multiplier":3,"steps":0,"restarts":0,"participations":1}`,
	} {
		if err := schema.Check(schema.Event, []byte(text)); !errors.Is(err, schema.ErrInvalid) {
			t.Errorf("%s: %v; want it refused", text, err)
		}
	}
}
