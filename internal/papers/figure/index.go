package figure

import (
	"html/template"
	"io"

	"github.com/discreet-rl/discreet/internal/atomicfile"
)

const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{{.Title}}</title>
<style>
body{font:16px/1.5 Georgia,serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#111;background:#fff}
img{max-width:100%;height:auto} figure{margin:1rem 0} figcaption{max-width:48rem} p{max-width:48rem}
table{border-collapse:collapse;font-size:.9rem} th,td{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-bottom:1px solid #ccc}
td.n{white-space:nowrap;font-variant-numeric:tabular-nums}
</style></head><body>
<h1>{{.Title}}</h1>
<p><strong>These are no releases.</strong> Persons are simulated and the noise is seeded: it protects nobody, and no ledger was charged.</p>
{{range .Abstract}}<p>{{.}}</p>
{{end}}
{{range .Items}}<section id="{{.Name}}"><h2>{{.Title}}</h2>
<figure><img src="{{.Name}}.svg" alt="{{.Title}}"><figcaption>{{.Caption}} {{.Trials}} trials in all{{if .Quick}}, in quick mode{{end}}{{if .Part}}: of each point {{.Part}} trials in place of {{.Whole}}, since the run was not finished{{end}}. Numbers: <a href="{{.Name}}.csv">CSV</a>.</figcaption></figure>
{{if .Claims}}<table><thead><tr><th>The paper says</th><th>Holds</th><th>Paper</th><th>Ours (standard error)</th><th>What was measured</th></tr></thead><tbody>
{{range .Claims}}<tr id="{{.Of.ID}}"><td>{{.Of.Claim}}</td><td>{{if .Of.Holds}}yes{{else}}no{{end}}</td><td class="n">{{if .PaperValue}}{{printf "%.3g" .PaperValue}}{{else}}&ndash;{{end}}</td><td class="n">{{printf "%.3g" .Of.Ours}}{{if .Of.StdErr}} ({{printf "%.1g" .Of.StdErr}}){{end}}</td><td>{{.Of.Note}}</td></tr>
{{end}}</tbody></table>{{end}}
</section>
{{end}}</body></html>
`

type pageItem struct {
	Name, Title, Caption string
	Trials               int
	Quick                bool
	Part, Whole          int
	Claims               []pageClaim
}

type pageClaim struct {
	Of         Claim
	PaperValue any // a number, or nil
}

// writeIndex writes the page that tells of all items.
func writeIndex(path string, s Study, all []finished) error {
	t, err := template.New("index").Parse(page)
	if err != nil {
		return err
	}
	data := struct {
		Title    string
		Abstract []string
		Items    []pageItem
	}{Title: s.Title, Abstract: s.Abstract}
	for _, f := range all {
		item := pageItem{Name: f.Name, Title: f.Title, Caption: f.Caption, Trials: f.trials, Quick: f.quick, Part: f.part, Whole: f.whole}
		for _, c := range f.claims {
			p := pageClaim{Of: c}
			if c.PaperValue != nil {
				p.PaperValue = *c.PaperValue
			}
			item.Claims = append(item.Claims, p)
		}
		data.Items = append(data.Items, item)
	}
	return atomicfile.Write(path, 0o644, func(w io.Writer) error { return t.Execute(w, data) })
}
