package golden

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// document is a release as JSON, whose parts are named by dotted paths.
type document struct{ root any }

func (d *document) get(path string) any {
	v := d.root
	for _, part := range strings.Split(path, ".") {
		if list, ok := v.([]any); ok {
			i, _ := strconv.Atoi(part)
			v = list[i]
			continue
		}
		v = v.(map[string]any)[part]
	}
	return v
}

func (d *document) number(path string) float64 { return d.get(path).(float64) }

func (d *document) set(path string, to any) {
	at := strings.LastIndex(path, ".")
	holder, last := d.root, path
	if at >= 0 {
		holder, last = d.get(path[:at]), path[at+1:]
	}
	if list, ok := holder.([]any); ok {
		i, _ := strconv.Atoi(last)
		list[i] = to
		return
	}
	holder.(map[string]any)[last] = to
}

func (d *document) scale(path string) { d.set(path, d.number(path)*1.01) }

// normal sets the interval that follows from value and errors within [low, high].
func (d *document) normal(low, high float64) {
	half := 1.959963984540054 * math.Hypot(d.number("answers.0.estimate.std_sampling"), d.number("answers.0.estimate.std_privacy"))
	v := d.number("answers.0.estimate.value")
	d.set("answers.0.estimate.interval", []any{max(low, v-half), min(high, v+half)})
}

// TestVerifyTells changes releases in one or several places, as somebody would who
// knows how they hang together, and wants the contradiction that is left to be named.
func TestVerifyTells(t *testing.T) {
	dir := writeData(t)
	questions := map[string]question{}
	for _, q := range append(private(), references()...) {
		questions[q.name] = q
	}
	ctx := context.Background()
	l, err := ledger.Create(ctx, filepath.Join(dir, "budget.db"), ledger.Config{
		Dataset: "visits", Adjacency: dp.ReplaceOne, Rule: account.GaussianDP, Budget: dp.Budget{Epsilon: 30, Delta: 1e-2}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	most := 6.92052949009144 // the largest return of the log visits
	for name, c := range map[string]struct {
		question, adjacency string
		charged             bool
		change              func(d *document)
		want                string
	}{
		"interval":           {"dp-dr-actions", "replace_one", false, func(d *document) { d.scale("answers.0.estimate.interval.0") }, "estimate.interval[0]"},
		"interval of a mean": {"dp-is-complete", "replace_one", false, func(d *document) { d.scale("answers.0.estimate.interval.0") }, "estimate.interval[0]"},
		"less noise than the event has, with its interval": {"dp-is-complete", "replace_one", false, func(d *document) {
			d.set("answers.0.estimate.std_privacy", d.number("answers.0.estimate.std_privacy")/100)
			d.normal(0, most)
		}, "estimate."},
		"more noise than the event has, with its interval": {"dp-is-complete", "add_remove_one", false, func(d *document) {
			d.set("answers.0.estimate.value", 0.5)
			d.set("answers.0.estimate.std_privacy", 50.0)
			d.normal(0, most)
		}, "std_privacy is 50; the noise makes at most"},
		"sampling error beyond the clip, with its interval": {"dp-is-complete", "replace_one", false, func(d *document) {
			d.set("answers.0.estimate.std_sampling", 50.0)
			d.normal(0, most)
		}, "std_sampling is 50"},
		"weights for probabilities by cell": {"dp-wis-cells", "replace_one", false, func(d *document) { d.set("public.policies_by_cell.0.0", 2.5) }, "policies_by_cell[0] is not what"},
		"another policy by cell":            {"dp-wis-cells", "replace_one", false, func(d *document) { d.set("public.target", "constant: action 0"); d.set("public.actions", 1.0) }, "policies_by_cell[0] is not what"},
		"value beyond the range":            {"dp-is-complete", "replace_one", false, func(d *document) { d.set("answers.0.estimate.value", 15) }, "outside the public range"},
		"value of other sums":               {"dp-wis", "replace_one", false, func(d *document) { d.scale("answers.0.diagnostics.sums.x") }, "answers[0]."},
		"no sums":                           {"dp-wis", "replace_one", false, func(d *document) { d.set("answers.0.diagnostics.sums", nil) }, "diagnostics.sums is missing"},
		"persons of the sums":               {"dp-wis", "replace_one", false, func(d *document) { d.scale("answers.0.diagnostics.sums.count") }, "which is public"},
		"value of another baseline":         {"dp-dr", "replace_one", false, func(d *document) { d.scale("answers.0.diagnostics.baseline.value") }, "estimate."},
		"no baseline":                       {"dp-dr-value", "replace_one", false, func(d *document) { delete(d.get("answers.0.diagnostics").(map[string]any), "baseline") }, "diagnostics.baseline"},
		"clip":                              {"dp-dr-complete", "add_remove_one", false, func(d *document) { d.scale("answers.0.diagnostics.clip.max") }, "none of the ranges"},
		"cap":                               {"dp-wis-auto", "replace_one", false, func(d *document) { d.scale("answers.0.diagnostics.max_weight") }, "none of the caps"},
		"noise of overlap":                  {"dp-dr-state", "replace_one", false, func(d *document) { d.scale("answers.0.diagnostics.overlap.effective_sample_size_std") }, "overlap.effective_sample_size_std"},
		"overlap unpaid":                    {"dp-dr", "replace_one", false, func(d *document) { d.set("answers.0.diagnostics.overlap", map[string]any{"mean_weight": 1}) }, "exactly where it was paid for"},
		"values beyond the range": {"dp-refine", "replace_one", false, func(d *document) {
			d.set("theta.0", -5.0)
			d.set("values.0", -5.0)
		}, "theta[0] is -5, outside"},
		"values and weights": {"gpope", "replace_one", false, func(d *document) { d.scale("values.0") }, "values[0]"},
		"expected error":     {"dp-wis", "replace_one", false, func(d *document) { d.scale("expected.std_privacy") }, "expected.std_privacy"},
		"accounted":          {"dp-wis", "replace_one", false, func(d *document) { d.scale("privacy.accounted.lower") }, "privacy.accounted.lower"},
		"notes":              {"dp-wis", "replace_one", false, func(d *document) { d.set("notes", []any{}) }, "notes holds 0 elements"},
		"fast noise":         {"gpope-fast", "replace_one", false, func(d *document) { d.set("privacy.noise", "exact") }, "disclosure.floating_point"},
		"mechanisms":         {"dp-wis", "replace_one", false, func(d *document) { d.set("disclosure.mechanisms.0.runs", 3.0) }, "disclosure.mechanisms[0].runs is 3"},
		"disclosure":         {"dp-wis", "replace_one", false, func(d *document) { delete(d.root.(map[string]any), "disclosure") }, "disclosure is missing"},
		"target":             {"dp-wis", "replace_one", false, func(d *document) { d.set("public.target", "whatever they do") }, "no policy of this program"},
		"target off-policy":  {"dp-wis", "replace_one", false, func(d *document) { d.set("public.target", "the policy that made the data") }, "on_policy is false"},
		"behaviour":          {"dp-wis", "replace_one", false, func(d *document) { d.set("public.behavior.source", "guess") }, "public.behavior"},
		"weights": {"is", "replace_one", false, func(d *document) {
			d.set("answers.0.diagnostics.weights.largest_weight", d.get("answers.0.diagnostics.weights.mean_weight"))
		}, "no 60 weights have mean"},
		"effective sample size": {"is", "replace_one", false, func(d *document) { d.set("answers.0.diagnostics.weights.effective_sample_size", 59.0) }, "notes"},
		"head":                  {"dp-wis", "replace_one", true, func(d *document) { d.set("ledger.head.seq", d.number("ledger.seq")+1) }, "ledger.head"},
		"shares":                {"dp-wis", "replace_one", true, func(d *document) { d.scale("ledger.shares.left") }, "ledger.shares"},
		"budget":                {"dp-wis", "replace_one", true, func(d *document) { d.set("ledger.budget.epsilon", 3000.0) }, "disclosure.composition"},
		"series": {"dp-wis", "replace_one", true, func(d *document) {
			d.set("disclosure.series", d.get("disclosure.series").(string)+" Or not.")
		}, "disclosure.series"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := parse(t, dir, questions[c.question].config(c.adjacency))
			if c.charged {
				cfg.Ledger = &config.Ledger{Path: "budget.db"}
			}
			text := evaluated(t, cfg).JSON
			if v, err := discreet.Verify(text, nil); err != nil || !v.Replanned {
				t.Fatalf("as it is: %v", err)
			}
			d := &document{}
			if err := json.Unmarshal(text, &d.root); err != nil {
				t.Fatal(err)
			}
			c.change(d)
			changed, err := json.Marshal(d.root)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := discreet.Verify(changed, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
			// Of a release of another version nothing can be said of what its plan was,
			// and the reader is told so.
			if c.charged || !slices.Contains([]string{"expected error", "interval"}, name) {
				return
			}
			d.set("disclosure.code_version", "another")
			if changed, err = json.Marshal(d.root); err != nil {
				t.Fatal(err)
			}
			v, err := discreet.Verify(changed, nil)
			if err != nil || v.Replanned || !strings.Contains(strings.Join(v.Notes, "\n"), c.want) {
				t.Errorf("of another version: %v, %q; want a note with %q", err, v.Notes, c.want)
			}
		})
	}
}

// contradicted is a number of an estimate, as Verify names it, with what it should be.
var contradicted = regexp.MustCompile(`(estimate\.\w+)(?:\[(\d)\])? is \S+; what the release says of itself makes it ([-\d.e+]+)`)

// TestVerifyTellsAForgerOfNoise: somebody claims less noise, and then mends every number
// that Verify says does not follow, until what is left is the noise itself.
func TestVerifyTellsAForgerOfNoise(t *testing.T) {
	dir := writeData(t)
	for _, q := range private() {
		if q.name != "dp-is-complete" {
			continue
		}
		d := &document{}
		if err := json.Unmarshal(evaluated(t, parse(t, dir, q.config("replace_one"))).JSON, &d.root); err != nil {
			t.Fatal(err)
		}
		d.set("answers.0.estimate.std_privacy", d.number("answers.0.estimate.std_privacy")/100)
		for range 10 {
			text, err := json.Marshal(d.root)
			if err != nil {
				t.Fatal(err)
			}
			_, err = discreet.Verify(text, nil)
			if err == nil {
				t.Fatal("a hundredth of the noise passes once the other numbers agree with it")
			}
			found := contradicted.FindStringSubmatch(err.Error())
			if found == nil {
				t.Fatalf("%v; want a number of the estimate", err)
			}
			if found[1] == "estimate.std_privacy" {
				return
			}
			path := "answers.0." + found[1]
			if found[2] != "" {
				path += "." + found[2]
			}
			right, err := strconv.ParseFloat(found[3], 64)
			if err != nil {
				t.Fatal(err)
			}
			d.set(path, right)
		}
		t.Fatal("ten numbers were mended and the noise was not named")
	}
	t.Fatal("the question is not there")
}
