package golden

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/evaluate"
)

// freedom is a kind of edit that nothing in a release tells, so that only a signature
// or the ledger can: why, and the edits, as the question, a slash, the path and what
// was done there.
type freedom struct {
	why   string
	edits *regexp.Regexp
}

var free = []freedom{
	{"noisy numbers: values by state, their deviations, baselines, overlap, counts",
		regexp.MustCompile(`/theta\[|/diagnostics\.(std_by_coordinate|std_privacy_by_coordinate|persons_by_coordinate|spread_of_returns|baseline|behavior\.(counts|sums)|model\.(state_values|action_values|constant|weights)|overlap\.(mean_weight|clipped_share) )`)},
	{"noisy sums that no other number shows, where a bound or the range cuts it", regexp.MustCompile(`/(answers\[\d+\]\.)?diagnostics\.sums\.`)},
	{"value or error of an estimate whose interval is the whole public range", regexp.MustCompile(`/(answers\[\d+\]\.)?estimate\.(value|std_sampling) `)},
	{"that the noise came from a seed", regexp.MustCompile(`/privacy\.seeded_for_tests removed`)},
	{"statements that nothing can check: where probabilities come from, which version made it",
		regexp.MustCompile(`/public\.behavior[. ]|/disclosure\.code_version changed`)},
	{"names and scales of columns; policy files, and how many actions they know",
		regexp.MustCompile(`/public\.(features\.(column|names|low|high|intercept|order)|target(\[\d+\])? changed|actions|targets\.policies\[\d+\]\.actions|by\.(column|groups\[\d+\]\.number))`)},
	{"how episodes end, where it bounds weights no further", regexp.MustCompile(`/public\.design\.ended`)},
	{"features that the method was given and does not use", regexp.MustCompile(`^((dp-)?dr[-a-z]*|dp-fqe-action)/public\.features`)},
	{"parameters that are the default or idle, or that show in no other fact", regexp.MustCompile(`/public\.parameters`)},
	{"how a range of returns that was given came about",
		regexp.MustCompile(`^(dp-pdis-discounts|dp-lsl-balle16|dp-refine-lstd-off|lstd-trajectory)/public\.(reward|return|discounts|gamma|horizon)`)},
	{"methods that plan and release alike", regexp.MustCompile(`/method changed to`)},
	{"the budget and the persons of a constant, which costs nothing",
		regexp.MustCompile(`^(constant|constant-given|auto-value)/(privacy\.(epsilon|delta|noise)|public\.persons)`)},
	{"the number of persons where a schedule is at its end", regexp.MustCompile(`^dp-refine-(regression|lstd).*/public\.persons`)},
	{"facts and weights of references, which nothing else follows from",
		regexp.MustCompile(`^(is|pdis|wis|dr|dr-bandit|lsw|lsl|lstd|lstd-trajectory|wis-lstd|gtd2)/(public\.(persons|episodes|horizon|reward|gamma)|diagnostics\.weights)`)},
}

// edit is a single change of a document: path names the place and how.
type edit struct {
	path  string
	apply func(root any) any
}

// others are values that a field with few of them could have instead.
var others = map[string][]string{
	"adjacency": {"replace_one", "add_remove_one"}, "noise": {"exact", "fast"}, "unit": {"person", "episode", "row"},
	"sampling": {"paid", "public_bound", "not_private", "none", "poisson", "uniform", "everyone"}, "rule": {"basic", "gaussian", "renyi"},
	"part": {"rule", "reserve", "budget"}, "model": {"central", "local"}, "source": {"design", "logged"}, "accountant": {"pld", "rdp", "closed_form"},
	"kind": {"gaussian", "laplace", "column", "uniform"},
}

// edits lists every single edit of a document: a number scaled, moved by one, negated
// or made huge, a text changed or emptied, a truth value turned, a member or an element
// removed or null, a member added.
func edits(v any, path string, name string, put func(root, v any) any) []edit {
	var out []edit
	to := func(how string, w any) {
		out = append(out, edit{path + " " + how, func(root any) any { return put(root, w) }})
	}
	if path != "" {
		to("null", nil)
	}
	switch v := v.(type) {
	case map[string]any:
		to("added", with(v, "added", 1.0))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			without := maps.Clone(v)
			delete(without, key)
			out = append(out, edit{path + "." + key + " removed", func(root any) any { return put(root, without) }})
			out = append(out, edits(v[key], path+"."+key, key, func(root, w any) any { return put(root, with(v, key, w)) })...)
		}
	case []any:
		for i := range v {
			at := path + "[" + strconv.Itoa(i) + "]"
			out = append(out, edit{at + " dropped", func(root any) any { return put(root, slices.Delete(slices.Clone(v), i, i+1)) }})
			out = append(out, edits(v[i], at, name, func(root, w any) any {
				changed := slices.Clone(v)
				changed[i] = w
				return put(root, changed)
			})...)
		}
	case float64:
		to("plus one", v+1)
		to("huge", 1e15)
		if v != 0 {
			to("scaled", v*1.01)
			to("negated", -v)
		}
	case string:
		to("changed", v+"x")
		to("emptied", "")
		for _, w := range append(others[name], methodNames(name)...) {
			if w != v {
				to("changed to "+w, w)
			}
		}
	case bool:
		to("turned", !v)
	}
	return out
}

func methodNames(field string) []string {
	var names []string
	if field == "method" {
		for _, m := range evaluate.Methods() {
			names = append(names, m.Name)
		}
	}
	return names
}

func with(m map[string]any, key string, v any) map[string]any {
	m = maps.Clone(m)
	m[key] = v
	return m
}

// slowToPlan are questions whose plan takes tenths of a second and more.
var slowToPlan = regexp.MustCompile(`^(gpope-(one|uniform|xie19)|dp-lsw|dp-lsl|auto-value)$`)

// TestVerifyCatchesEdits makes single edits of golden releases and wants
// discreet.Verify, without a key and without the ledger, to refuse each but those
// that nothing tells. It tries editsTried of a release, and few of those that are
// slow to plan; all are tried under the tag measure.
func TestVerifyCatchesEdits(t *testing.T) {
	dir := writeData(t)
	total, caught := 0, 0
	passed := make([]int, len(free))
	for _, q := range append(private(), references()...) {
		tried := editsTried
		if slowToPlan.MatchString(q.name) {
			if tried = editsOfSlow; tried == 0 {
				continue
			}
		}
		for _, adjacency := range []string{"replace_one", "add_remove_one"} {
			if q.only != "" && q.only != adjacency || q.noPrivacy && adjacency != "replace_one" {
				continue
			}
			text := evaluated(t, parse(t, dir, q.config(adjacency))).JSON
			if v, err := discreet.Verify(text, nil); err != nil {
				t.Errorf("%s.%s: as it is: %v", q.name, adjacency, err)
				continue
			} else if strings.Contains(strings.Join(v.Notes, "\n"), "would have written it differently") {
				t.Errorf("%s.%s: %q", q.name, adjacency, v.Notes)
			}
			var root any
			if err := json.Unmarshal(text, &root); err != nil {
				t.Fatal(err)
			}
			for _, e := range sample(edits(root, "", "", func(_, v any) any { return v }), tried) {
				changed, err := json.Marshal(e.apply(root))
				if err != nil {
					t.Fatal(err)
				}
				total++
				if _, err := discreet.Verify(changed, nil); err != nil {
					caught++
					continue
				}
				at := q.name + "/" + strings.TrimPrefix(e.path, ".")
				i := slices.IndexFunc(free, func(f freedom) bool { return f.edits.MatchString(at) })
				if i < 0 {
					t.Errorf("%s: nothing tells %s", adjacency, at)
					continue
				}
				passed[i]++
			}
		}
	}
	t.Logf("%d of %d single edits caught", caught, total)
	for i, n := range passed {
		t.Logf("%5d passed: %s", n, free[i].why)
		if editsTried == every && n == 0 {
			t.Errorf("no edit passes because of: %s; take it off the list", free[i].why)
		}
	}
}

// every is more edits than a release has.
const every = 1 << 20

// sample draws so many of the edits.
func sample(all []edit, most int) []edit {
	r := rand.New(rand.NewPCG(12, uint64(len(all))))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(len(all), most)]
}
