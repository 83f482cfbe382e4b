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

// Frame is what every page has.
type Frame = webpage.Frame

// Bar is a share of a whole, drawn.
type Bar = webpage.Bar

// View is one of the views below.
type View interface{ template() string }

// Write renders a page.
func Write(w io.Writer, v View) error { return all().ExecuteTemplate(w, v.template(), v) }

// SignIn asks for a token, or leads to the issuer where there is one.
type SignIn struct {
	Frame
	Issuer bool
}

// SignedIn leads to the pages. It is a page of its own because a browser that comes from
// another site keeps the session's cookie back until a page of this one asks for more.
type SignedIn struct{ Frame }

// Datasets lists those that the reader has a role for.
type Datasets struct {
	Frame
	Datasets []Dataset
}

// Dataset is what may be known of one.
type Dataset struct {
	Name, About, Role                           string
	Budget                                      Bar
	Unit, Adjacency, Approval, Publish, Methods string
	Largest                                     string
	Facts                                       string
	Still                                       []Still
}

// Still says whether one more ask would fit.
type Still struct {
	Epsilon, Delta string
	Fits           bool
}

// OneDataset is the page of a dataset, with the form of a question.
type OneDataset struct {
	Frame
	Dataset                  Dataset
	MayAsk, Steward, Auditor bool
	Key, Question, Purpose   string
	Plan                     *Plan
	// Shares say what each analyst spent, for those who may see it.
	Shares []Share
	Asks   []Ask
	Next   string
}

// Share is what an analyst spent of their share, or, without one, of the whole budget.
type Share struct {
	Analyst string
	Charges int64
	Of      string
	Budget  Bar
}

// Plan is what a question would tell and spend.
type Plan struct {
	Sentence                string
	Refusal                 string
	NoAnswer, NeedsApproval bool
	Notes                   []string
	Plot                    template.HTML
}

// Ask is one ask.
type Ask struct {
	ID, Dataset, Analyst, State, Reason, Asked, Ended string
	Epsilon, Delta, Purpose, Question                 string
}

// OneAsk is the page of an ask.
type OneAsk struct {
	Frame
	Ask                              Ask
	Words                            []string // what it asks, for who decides
	Plan                             *Plan
	MayDecide, MayWithdraw, Released bool
	Holds                            bool
	Findings                         []string
}

// Notices are the steward's.
type Notices struct {
	Frame
	Name    string
	Failed  *int64 // nil where the ledger cannot say
	Most    int64
	Notices []Notice
	Next    string
}

// Notice is one of them.
type Notice struct{ Time, Ask, Text string }

// Audit is a part of the audit log.
type Audit struct {
	Frame
	Name  string
	Lines []Line
	Next  string
}

// Line is a line of it.
type Line struct {
	Seq                           int64
	Time, Who, Address, Ask, What string
}

// Sorry says that a page cannot be shown.
type Sorry struct{ Frame }

func (SignIn) template() string     { return "signin" }
func (SignedIn) template() string   { return "signedin" }
func (Datasets) template() string   { return "datasets" }
func (OneDataset) template() string { return "dataset" }
func (OneAsk) template() string     { return "ask" }
func (Notices) template() string    { return "notices" }
func (Audit) template() string      { return "audit" }
func (Sorry) template() string      { return "sorry" }
