package report_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/overview"
	"github.com/discreet-rl/discreet/internal/report"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

func renderLook(t testing.TB, l report.Look) string {
	t.Helper()
	var b strings.Builder
	if err := report.WriteLook(&b, l); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// looks are pages of every kind: all well, faults of each form, nothing, numbers
// at the ends of what there is.
func looks(text string) map[string]report.Look {
	spread := overview.Spread{Min: 0, Median: 1, Mean: 1.5, Max: 3, Bins: []int{5, 0, 2, 1}}
	whole := &overview.Report{
		Persons: 8, Episodes: 9, Rows: 20, EpisodesPerPerson: spread, Lengths: spread,
		Rewards: overview.Bounded{Spread: spread, Range: &evaluate.Range{Min: -1, Max: 2}, Outside: 1}, Returns: overview.Bounded{Spread: spread},
		Actions: []int{12, 8}, Words: []string{text, ""}, Steps: []overview.Step{{Step: 0, Episodes: 9, Actions: []int{9, 0}}, {Step: 1, Episodes: 4, Actions: []int{1, 3}}},
		Propensity: &overview.Propensity{Spread: spread}, Weights: &overview.Weights{Spread: spread, Cap: 2, EffectiveSize: 3.5, Zero: 5}, Warnings: []string{text, text},
	}
	one := &trajectory.InputError{File: text, Row: 3, Column: text, What: text, Remedy: text, Kind: trajectory.ErrValue}
	extreme := *whole
	extreme.Rewards = overview.Bounded{Spread: overview.Spread{Min: -math.MaxFloat64, Max: math.MaxFloat64, Bins: make([]int, 24)}, Range: &evaluate.Range{Max: 1}}
	extreme.Returns = overview.Bounded{Spread: overview.Spread{Min: 2, Median: 2, Mean: 2, Max: 2, Bins: []int{7}}}
	extreme.Rewards.Bins[0], extreme.Rewards.Bins[23] = 1, math.MaxInt32
	return map[string]report.Look{
		"well":    {Of: text, Rule: text, Unit: evaluate.Person, Summary: file.Summary{Files: 1, Persons: 8, Whole: true, Notices: []string{text}, Repaired: trajectory.Repaired{Rewards: 2, Episodes: 3, First: []*trajectory.InputError{one}, Kinds: []trajectory.FaultKind{{Column: text, What: text, Faults: 4}}}}, Overview: whole, NotUsed: []string{text}},
		"faults":  {Of: text, Found: errors.Join(&trajectory.FaultsError{First: []*trajectory.InputError{one, one}, Kinds: []trajectory.FaultKind{{Column: text, What: text, Faults: 7}}, Total: 7}, errors.New(text)), Summary: file.Summary{Whole: true}},
		"fault":   {Of: text, Found: one},
		"wrapped": {Of: text, Found: fmt.Errorf("target: %w: %w", one, errors.New(text))},
		"nothing": {Of: text},
		"extreme": {Of: text, Overview: &extreme},
	}
}

// The page says whose it is, draws what there is inside its charts, loads nothing
// and runs nothing.
func TestLookIsForTheCuratorAlone(t *testing.T) {
	for name, l := range looks("plain") {
		page := renderLook(t, l)
		root := mustParse(t, page)
		if h := root.find("h1", ""); len(h) != 1 || h[0].text != "For the curator alone: not private, do not share" || root.find("title", "")[0].text != h[0].text {
			t.Errorf("%s: headed %v", name, h)
		}
		if !strings.Contains(page, `default-src 'none'`) {
			t.Errorf("%s: the page has no policy against loading", name)
		}
		for _, bad := range []string{"http://", "https://", "url(", "@import", "NaN", "Inf", "%!"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s: the page holds %q", name, bad)
			}
		}
		checkInert(t, root)
		checkCharts(t, root)
	}
}

// A bar is as high as its count, and every count that is not zero has one.
func TestLookDrawsCounts(t *testing.T) {
	root := mustParse(t, renderLook(t, looks("plain")["well"]))
	svg := map[string]*element{}
	for _, s := range root.find("svg", "") {
		title, _, _ := strings.Cut(s.attrs["aria-label"], ":")
		svg[title] = s
	}
	for title, want := range map[string][]string{
		"Rewards":                 {"80.000", "32.000", "16.000"},
		"Weight of an episode":    {"80.000", "32.000", "16.000"},
		"decision 0":              {"80.000"},
		"decision 1":              {"20.000", "60.000"},
		"all decisions":           {"48.000", "32.000"},
		"Decisions of an episode": {"80.000", "32.000", "16.000"},
	} {
		var got []string
		for _, r := range svg[title].find("rect", "sampling") {
			got = append(got, r.attrs["height"])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: bars of %v, want %v", title, got, want)
		}
	}
	// The public range lies where its ends do: rewards are drawn from -1 to 3.
	shade := svg["Rewards"].find("rect", "range")
	if len(shade) != 1 || shade[0].attrs["width"] != "72.115%" { // 3 of 4.16, the width with its margins
		t.Errorf("%v", shade)
	}
}

// Faults have a row each, with place and remedy, and those that are not listed are
// counted.
func TestLookListsFaults(t *testing.T) {
	root := mustParse(t, renderLook(t, looks("plain")["faults"]))
	rows := root.find("table", "rows")[0].find("tr", "")
	if len(rows) != 3 || !strings.Contains(root.text, "and 5 more") || !strings.Contains(root.text, "7 × plain: plain") {
		t.Errorf("%d rows in\n%s", len(rows), root.text)
	}
	if th := rows[0].find("th", "")[0].text; th != "plain:3" {
		t.Errorf("the first fault is at %q", th)
	}
	if text := mustParse(t, renderLook(t, looks("plain")["well"])).text; !strings.Contains(text, "4 × plain: plain") || !strings.Contains(text, "plain:3") {
		t.Errorf("what is repaired is not told in\n%s", text)
	}
	if text := mustParse(t, renderLook(t, looks("plain")["wrapped"])).text; !strings.Contains(text, "target: plain:3: plain: plain; plain: plain") {
		t.Errorf("an error in words is not whole in\n%s", text)
	}
}

// What is repaired stands by its rule with its count; a rule that repaired nothing is
// not there.
func TestLookCountsRepairsByRule(t *testing.T) {
	root := mustParse(t, renderLook(t, looks("plain")["well"]))
	var got []string
	for _, tr := range root.find("table", "rows")[0].find("tr", "") {
		got = append(got, tr.find("th", "")[0].text+": "+tr.find("td", "number")[0].text)
	}
	if want := []string{"rewards outside their range: 2", "episodes with a value that cannot be used: 3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !strings.Contains(root.text, "data.on_violation: plain") {
		t.Errorf("the rule is not told in\n%s", root.text)
	}
}

// An action has its word beside its number.
func TestLookNamesActions(t *testing.T) {
	text := mustParse(t, renderLook(t, looks("placebo")["well"])).text
	for _, want := range []string{"0 placebo: 12, 1: 8", "0 placebo: 9, 1: 0"} {
		if !strings.Contains(text, want) {
			t.Errorf("not told: %s\n%s", want, text)
		}
	}
}

// Names of files and columns are only text, and nothing in them can turn the
// direction of a line or steer a terminal.
func TestLookOfHostileNames(t *testing.T) {
	harmless, hostile := looks("plain"), looks(`</title></style><script>alert(1)</script><img src=x onerror="alert(2)">' onload='x' {{.}}`)
	steering := looks("a\u202eb\u0007c\x1b[31m\u2066\u200b\u0085")
	for name := range harmless {
		var want, got []string
		mustParse(t, renderLook(t, harmless[name])).walk(func(e *element) { want = append(want, e.name) })
		root := mustParse(t, renderLook(t, hostile[name]))
		root.walk(func(e *element) { got = append(got, e.name) })
		checkInert(t, root)
		if !slices.Equal(got, want) {
			t.Errorf("%s: hostile names change the elements of the page", name)
		}
		page := renderLook(t, steering[name])
		if strings.ContainsAny(page, "\u202e\u0007\x1b\u2066\u200b\u0085") || !strings.Contains(page, "a⟨U+202E⟩b⟨U+0007⟩c⟨U+001B⟩[31m") {
			t.Errorf("%s: characters that steer are in the page", name)
		}
	}
}
