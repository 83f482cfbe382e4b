package account_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// example is one JSON block of the guide with the line of what it costs.
var example = regexp.MustCompile("(?s)```json\n(.*?)\n```\n\n(?:Under `(\\w+)`, (?:at|for epsilon (\\S+) at) delta (\\S+): (?:epsilon|`(\\w+)`) (\\S+)\\.)?\n")

// TestGuideHasARunnableExampleOfEveryKind: the page's examples cost what it says, every kind has a heading with
// one, and every field of an event is in the list above it.
func TestGuideHasARunnableExampleOfEveryKind(t *testing.T) {
	page, err := os.ReadFile("../../docs/accounting.md")
	if err != nil {
		t.Fatal(err)
	}
	headings := strings.Split(string(page), "\n##")
	for _, kind := range dp.Kinds() {
		i := slices.IndexFunc(headings, func(s string) bool { return strings.HasPrefix(s, "# "+kind+"\n") })
		if i < 0 {
			t.Errorf("no heading for %s", kind)
			continue
		}
		found := example.FindStringSubmatch(headings[i])
		if found == nil || !strings.Contains(found[1], `"kind": "`+kind+`"`) {
			t.Errorf("no example of %s below its heading", kind)
			continue
		}
		if found[6] == "" {
			t.Errorf("%s: no line says what the example costs", kind)
		}
		for _, field := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(found[1][strings.Index(found[1], `"kind": "`+kind+`"`):], -1) {
			if name := field[1]; name != "kind" && !strings.Contains(headings[i][:strings.Index(headings[i], "```")], "`"+name+"`") && strings.Count(found[1], `"kind"`) == 1 {
				t.Errorf("%s: field %s is not explained", kind, name)
			}
		}
	}
	all := example.FindAllStringSubmatch(string(page), -1)
	if len(all) < len(dp.Kinds())+2 || len(all) != strings.Count(string(page), "```json") {
		t.Fatalf("%d examples with their cost, of %d", len(all), strings.Count(string(page), "```json"))
	}
	for _, x := range all {
		got, err := guideAnswer(t, x[1], x[2], x[3], x[4], x[5])
		if err != nil || got != x[6] {
			t.Errorf("%s: %s %s, %v; the page has %s", x[1], x[5], got, err, x[6])
		}
	}
}

// guideAnswer asks what a line of the guide answers: epsilon, or the open number.
func guideAnswer(t *testing.T, text, adjacency, epsilon, delta, open string) (string, error) {
	adj, err := dp.ParseAdjacency(adjacency)
	if err != nil {
		return "", err
	}
	d, err := strconv.ParseFloat(delta, 64)
	if err != nil {
		return "", err
	}
	fresh := func() account.Accountant { return account.New(adj) }
	if open == "" {
		e, err := dp.ParseEvent([]byte(text))
		if err != nil {
			return "", err
		}
		a := fresh()
		if err := a.Compose(t.Context(), e, 1); err != nil {
			return "", err
		}
		b, err := a.Epsilon(t.Context(), d)
		return fmt.Sprintf("%.4f", b.Upper), err
	}
	e, err := strconv.ParseFloat(epsilon, 64)
	if err != nil {
		return "", err
	}
	template, err := dp.ParseTemplate([]byte(text))
	if err != nil {
		return "", err
	}
	b, err := account.CalibrateTemplate(t.Context(), template, dp.Budget{Epsilon: e, Delta: d}, fresh)
	if template.Field() == "count" {
		return fmt.Sprint(b.Lower), err
	}
	return fmt.Sprintf("%.4f", b.Upper), err
}

// TestReadmeShowsCodeThatRuns: every line of the README's program is a line of the examples.
func TestReadmeShowsCodeThatRuns(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	run, err := os.ReadFile("examples_test.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```go\n(.*?)```").FindStringSubmatch(string(page))
	if found == nil {
		t.Fatal("no program in dp/README.md")
	}
	lines := strings.Split(strings.ReplaceAll(string(run), "\t", ""), "\n")
	for _, line := range strings.Split(strings.TrimSpace(found[1]), "\n") {
		line, _, _ = strings.Cut(line, " // ")
		if !slices.Contains(lines, strings.TrimSpace(line)) {
			t.Errorf("%q is in dp/README.md and in no example", line)
		}
	}
}
