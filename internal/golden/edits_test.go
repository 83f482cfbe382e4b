package golden

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"maps"
	"math"
	"math/rand/v2"
	"os"
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
	"github.com/discreet-rl/discreet/evaluate"
)

// edit is a single change of a document: path names the place and how.
type edit struct {
	path    string
	apply   func(root any) any
	ofValue bool // to another value of the same type
}

// field is the path of what is changed.
func (e edit) field() string {
	at, _, _ := strings.Cut(strings.TrimPrefix(e.path, "."), " ")
	return at
}

// others are values that a field with few of them could have instead.
var others = map[string][]string{
	"adjacency": {"replace_one", "add_remove_one"}, "noise": {"exact", "fast"}, "unit": {"person", "episode", "row"},
	"time":     {"2020-02-02T02:02:02Z"},
	"sampling": {"paid", "public_bound", "not_private", "none", "poisson", "uniform", "everyone"}, "rule": {"basic", "gaussian", "renyi"},
	"part": {"rule", "reserve", "budget"}, "model": {"central", "local"}, "source": {"design", "logged"}, "accountant": {"pld", "rdp", "closed_form"},
	"kind": {"gaussian", "laplace", "column", "uniform"},
}

// edits lists every single edit of a document: a number scaled, halved, moved by one, negated
// or made huge, a text changed or emptied, a truth value turned, a member or an element
// removed or null, a member added.
func edits(v any, path string, name string, put func(root, v any) any) []edit {
	var out []edit
	to := func(how string, w any) {
		out = append(out, edit{path + " " + how, func(root any) any { return put(root, w) }, how != "null" && how != "added"})
	}
	if path != "" && v != nil {
		to("null", nil)
	}
	switch v := v.(type) {
	case map[string]any:
		to("added", with(v, "added", 1.0))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			without := maps.Clone(v)
			delete(without, key)
			out = append(out, edit{path + "." + key + " removed", func(root any) any { return put(root, without) }, false})
			out = append(out, edits(v[key], path+"."+key, key, func(root, w any) any { return put(root, with(v, key, w)) })...)
		}
	case []any:
		for i := range v {
			at := path + "[" + strconv.Itoa(i) + "]"
			out = append(out, edit{at + " dropped", func(root any) any { return put(root, slices.Delete(slices.Clone(v), i, i+1)) }, false})
			out = append(out, edits(v[i], at, name, func(root, w any) any {
				changed := slices.Clone(v)
				changed[i] = w
				return put(root, changed)
			})...)
		}
	case float64:
		to("plus one", v+max(1, math.Abs(v)*1e-6)) // beyond what rounding moves
		to("huge", 1e15)
		if v != 0 {
			to("negated", -v)
			to("scaled", v*1.01)
			to("halved", v/2)
		}
	case string:
		to("changed", v+"x")
		if n := len(v); n >= 8 && strings.Trim(v, "0123456789abcdef") == "" { // a hash, or an id
			to("changed at its end", v[:n-1]+string("10"[strings.IndexByte("01", v[n-1])&1]))
		}
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
// discreet.Verify, without a key and without the ledger, to refuse each or to name the
// field among those that it did not check. It tries editsTried of a release, and few of
// those that are slow to plan; all are tried under the tag measure, and then every field
// that is named must have been changed unnoticed somewhere.
func TestVerifyCatchesEdits(t *testing.T) {
	dir := writeData(t)
	w := walk{named: map[string]bool{}}
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
			w.try(t, q.name+"."+adjacency, evaluated(t, parse(t, dir, q.config(adjacency))).JSON, func(all []edit) []edit { return sample(all, tried) })
		}
	}
	t.Logf("%d of %d single edits caught", w.caught, w.total)
	for _, path := range slices.Sorted(maps.Keys(w.named)) {
		if editsTried == every && !w.named[path] {
			t.Errorf("%s is named as not checked, and no edit of it passes", path)
		}
	}
}

// TestNodesOfALearnedTreeHoldNothingElse: what is added to one is refused.
func TestNodesOfALearnedTreeHoldNothingElse(t *testing.T) {
	dir, w := writeData(t), walk{named: map[string]bool{}}
	for _, q := range private() {
		if q.name == "dp-learn-tree" {
			w.try(t, q.name, evaluated(t, parse(t, dir, q.config("replace_one"))).JSON, func(all []edit) []edit {
				return slices.DeleteFunc(all, func(e edit) bool {
					return !strings.HasPrefix(e.path, ".learned.policy.nodes[") || !strings.HasSuffix(e.path, " added")
				})
			})
		}
	}
	if w.total == 0 || w.caught < w.total {
		t.Errorf("%d of %d additions are refused", w.caught, w.total)
	}
}

// TestEveryFieldIsCheckedOrNamed changes every single field of a few releases to other
// values, among them one that was charged and signed.
func TestEveryFieldIsCheckedOrNamed(t *testing.T) {
	dir := writeData(t)
	l, err := ledger.Create(t.Context(), filepath.Join(dir, "budget.db"), ledger.Config{
		Dataset: "visits", Adjacency: dp.ReplaceOne, Rule: account.GaussianDP, Budget: dp.Budget{Epsilon: 30, Delta: 1e-2}})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	w := walk{named: map[string]bool{}}
	for _, q := range private() {
		if !slices.Contains([]string{"dp-wis", "dp-dr-state", "dp-refine-lstd", "groups-dr", "constant"}, q.name) {
			continue
		}
		cfg := parse(t, dir, q.config("replace_one"))
		if q.name == "dp-wis" {
			cfg.Ledger = &config.Ledger{Path: "budget.db", Analyst: "ann", Purpose: "a test"}
			cfg.Sign, cfg.Justification = "key.pem", "because"
		}
		w.try(t, q.name, evaluated(t, cfg).JSON, func(all []edit) []edit {
			all = slices.DeleteFunc(all, func(e edit) bool { return !e.ofValue })
			if editsTried > 1 {
				return all
			}
			return slices.DeleteFunc(slices.Clone(all), func(e edit) bool { return e.path != likeliest(all, e.field()) })
		})
	}
	t.Logf("%d of %d single edits caught", w.caught, w.total)
	if w.caught < w.total/2 || w.total < 300 {
		t.Errorf("%d of %d single edits caught", w.caught, w.total)
	}
}

// likeliest is the edit of a field that is listed last: the one most like what could be
// there.
func likeliest(all []edit, field string) string {
	out := ""
	for _, e := range all {
		if e.field() == field {
			out = e.path
		}
	}
	return out
}

// walk counts edits, and which of the fields that are named as not checked were changed
// unnoticed.
type walk struct {
	total, caught int
	named         map[string]bool
}

// try makes edits of a release, and wants each to be refused or its field to be named.
func (w *walk) try(t *testing.T, name string, text []byte, chosen func([]edit) []edit) {
	t.Helper()
	whole, err := discreet.Verify(text, nil)
	if err != nil || !whole.Replanned {
		t.Errorf("%s: as it is: %v, %q", name, err, whole.Notes)
		return
	}
	for _, path := range paths(whole.NotChecked) {
		w.named[path] = w.named[path] || false
	}
	var root any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	for _, e := range chosen(edits(root, "", "", func(_, v any) any { return v })) {
		changed, err := json.Marshal(e.apply(root))
		if err != nil {
			t.Fatal(err)
		}
		w.total++
		v, err := discreet.Verify(changed, nil)
		if err != nil {
			w.caught++
			continue
		}
		at := e.field()
		list := paths(v.NotChecked)
		if !e.ofValue { // what is no longer there is named where it was
			list = append(list, paths(whole.NotChecked)...)
		}
		i := slices.IndexFunc(list, func(path string) bool { return covers(path, at) })
		if i < 0 {
			t.Errorf("%s: %s passes, and is not named among\n%s", name, e.path, strings.Join(v.NotChecked, "\n"))
			continue
		}
		w.named[list[i]] = true
	}
}

// paths are the fields that lines of the form PATH, PATH: why name.
func paths(lines []string) []string {
	var out []string
	for _, line := range lines {
		list, _, _ := strings.Cut(line, ": ")
		out = append(out, strings.Split(list, ", ")...)
	}
	return out
}

// covers tells whether a path, in which [] is any element, names a field or what it is in.
func covers(path, field string) bool {
	form := strings.ReplaceAll(regexp.QuoteMeta(path), `\[\]`, `\[\d+\]`)
	return regexp.MustCompile("^" + form + `($|[.\[])`).MatchString(field)
}

// every is more edits than a release has.
const every = 1 << 20

// sample draws so many of the edits.
func sample(all []edit, most int) []edit {
	r := rand.New(rand.NewPCG(12, uint64(len(all))))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(len(all), most)]
}
