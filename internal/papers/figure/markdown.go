package figure

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/discreet-rl/discreet/internal/atomicfile"
)

// markdown is the page of a paper that is kept with the sources: what was run, pictures
// with a verdict for each sentence, what does not hold, and the long table last.
const markdown = `# {{.Title}}

Made by ` + "`discreet reproduce {{.Paper}} --resume docs/results/trials --page docs/results/papers`" + ` from the stored trials; do not edit. Persons are
simulated and the noise is seeded: these are no releases. Of {{.All}} claims {{.Holding}} hold; a claim is one sentence of the paper, or one of
ours, read in one way on one panel.

| picture | item | trials of each point | of |
|---|---|---|---|
{{range .Items}}| [{{.Title}}](#{{.Name}}) | ` + "`{{.Name}}`" + ` | {{if .Each}}{{.Each}}{{if .Quick}}, quick mode{{end}}{{else}}exact{{end}} | {{if .Whole}}{{.Whole}}{{else}}{{.Each}}{{end}} |
{{end}}{{range .Missing}}| {{.Title}} | ` + "`{{.Name}}`" + ` | fewer than 2, so not drawn | |
{{end}}
{{range .Items}}<a id="{{.Name}}"></a>

## {{.Title}}

![{{.Title}}]({{$.Paper}}-{{.Name}}.svg)

{{.Caption}}{{if .Whole}} **Here {{.Each}} trials of each point in place of {{.Whole}}.**{{end}}
{{if .Sentences}}
| sentence | holds |
|---|---|
{{range .Sentences}}| {{cell .Claim}} | {{.Verdict}} |
{{end}}{{end}}
{{end}}## What does not hold

{{range .Failing}}- {{.Claim}} {{.Count}}{{with .Of}}**{{number .Ours 3}}{{if .StdErr}} ({{number .StdErr 1}}){{end}}**{{if .PaperValue}}, paper {{number (value .PaperValue) 3}}{{end}}: {{measured .Note}} (` + "`{{.ID}}`" + `){{end}}
{{else}}Every claim holds.
{{end}}
## What the paper leaves open, and what was taken

{{range .Abstract}}{{.}}

{{end}}## Every claim

| claim | holds | paper | ours (standard error) | what was measured | id |
|---|---|---|---|---|---|
{{range .Claims}}| {{cell .Claim}} | {{if .Holds}}yes{{else}}**no**{{end}} | {{if .PaperValue}}{{number (value .PaperValue) 3}}{{end}} | {{number .Ours 3}}{{if .StdErr}} ({{number .StdErr 1}}){{end}} | {{cell .Note}} | ` + "`{{.ID}}`" + ` |
{{end}}`

var markdownFuncs = template.FuncMap{
	"cell":   func(s string) string { return strings.ReplaceAll(s, "|", `\|`) },
	"number": func(x float64, digits int) string { return fmt.Sprintf("%.*g", digits, x) },
	"value":  func(x *float64) float64 { return *x },
	"measured": func(note string) string {
		first, _, _ := strings.Cut(note, ";")
		return strings.TrimSuffix(first, ".")
	},
}

type markdownItem struct {
	Name, Title, Caption string
	Each, Whole          int
	Quick                bool
	Sentences            []sentence
}

// sentence is a claim in all its readings on one item.
type sentence struct {
	Claim       string
	holds, read int
}

// Verdict counts the readings that hold.
func (s sentence) Verdict() string {
	switch {
	case s.read == 1 && s.holds == 1:
		return "yes"
	case s.read == 1:
		return "**no**"
	}
	return fmt.Sprintf("%d of %d readings", s.holds, s.read)
}

// sentences joins the claims that say the same, in the order of the first.
func sentences(claims []Claim) []sentence {
	var out []sentence
	at := map[string]int{}
	for _, c := range claims {
		i, ok := at[c.Claim]
		if !ok {
			i = len(out)
			at[c.Claim] = i
			out = append(out, sentence{Claim: c.Claim})
		}
		out[i].read++
		if c.Holds {
			out[i].holds++
		}
	}
	return out
}

// failure is a sentence some readings of which do not hold, over all items; Of is the
// first of these.
type failure struct {
	sentence
	Of Claim
}

// Count tells how many readings do not hold where there are several.
func (f failure) Count() string {
	if f.read == 1 {
		return ""
	}
	return fmt.Sprintf("%d of %d readings do not hold, of which the first: ", f.read-f.holds, f.read)
}

func failures(claims []Claim) []failure {
	var out []failure
	for _, s := range sentences(claims) {
		if s.holds == s.read {
			continue
		}
		first := slices.IndexFunc(claims, func(c Claim) bool { return c.Claim == s.Claim && !c.Holds })
		out = append(out, failure{s, claims[first]})
	}
	return out
}

// writeMarkdown writes PAPER.md and PAPER-ITEM.svg for each item that is drawn.
func writeMarkdown(dir string, s Study, all []finished) error {
	data := struct {
		Paper, Title string
		Abstract     []string
		All, Holding int
		Items        []markdownItem
		Missing      []Item
		Claims       []Claim
		Failing      []failure
	}{Paper: s.Paper, Title: s.Title, Abstract: s.Abstract}
	drawn := map[string]bool{}
	for _, f := range all {
		drawn[f.Name] = true
		data.Items = append(data.Items, markdownItem{
			Name: f.Name, Title: f.Title, Caption: f.Caption, Each: f.each, Whole: f.whole, Quick: f.quick, Sentences: sentences(f.claims),
		})
		data.Claims = append(data.Claims, f.claims...)
		picture := filepath.Join(dir, s.Paper+"-"+f.Name+".svg")
		if err := atomicfile.Write(picture, 0o644, func(w io.Writer) error { return draw(w, f.Item, f.table) }); err != nil {
			return err
		}
	}
	for _, c := range data.Claims {
		if c.Holds {
			data.Holding++
		}
	}
	data.Failing = failures(data.Claims)
	for _, item := range s.Items {
		if !drawn[item.Name] {
			data.Missing = append(data.Missing, item)
		}
	}
	data.All = len(data.Claims)
	if data.All == 0 {
		return errors.New("no item has two trials of each point yet; there is nothing to draw")
	}
	t, err := template.New("page").Funcs(markdownFuncs).Parse(markdown)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, s.Paper+".md"), 0o644, func(w io.Writer) error { return t.Execute(w, data) })
}
