package pages

import (
	"embed"
	"html/template"
	"io"

	"github.com/discreet-rl/discreet/internal/webpage"
)

//go:embed templates
var files embed.FS

var all = webpage.Parse(files, "templates/*.html")

// View is one of the views below.
type View interface{ template() string }

// Write renders a page.
func Write(w io.Writer, v View) error { return all().ExecuteTemplate(w, v.template(), v) }

// Fleet shows how the server is, its runs, and one of them.
type Fleet struct {
	webpage.Frame
	Health   Health
	Verdicts []Verdict
	Runs     []Run
	// Older is the number of runs that are not listed.
	Older int
	Run   *Details // nil where there is no run
}

// Health is how a server is.
type Health struct {
	Ready                        bool
	Version, Since, Store, Clock string
	Waiting, Applied, Abandoned  int64
}

// Verdict counts the reports of which one was said, with what it means.
type Verdict struct {
	Name, Means string
	Count       int64
}

// Run is a run in the list.
type Run struct {
	ID, Purpose, State string
	Version            uint64
	Rounds, Reports    uint64
	Shown              bool
}

// Details are those of one run.
type Details struct {
	ID, Purpose, State, Reports, Opened string
	// Plot is the learning curve, drawn; empty without evaluations.
	Plot       template.HTML
	Confidence string
	Successes  []Success
	Cohorts    []Cohort
	Spent      webpage.Bar
	Rounds     []Round
	// Of says how many rounds there are, where not all of them are listed.
	Of string
}

// Success is an evaluation.
type Success struct {
	Round                   uint64
	Version, Reports        uint64
	Share, Error, Low, High string
}

// Cohort is what those devices spent that reported in the same rounds: of one kind, all
// rounds of it alike.
type Cohort struct {
	Kind, Each      string
	Rounds, Reports uint64
}

// Round is a round of a run.
type Round struct {
	Number, Version uint64
	Kind, State     string
	Until, Reports  string
	Epsilon         string
}

// Sorry says that the page cannot be shown.
type Sorry struct{ webpage.Frame }

func (Fleet) template() string { return "fleet" }
func (Sorry) template() string { return "sorry" }
