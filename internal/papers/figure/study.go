package figure

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Sentinel errors, which every error but those of the file system wraps.
var (
	// ErrItem marks an item that the study does not have.
	ErrItem = errors.New("unknown item")
	// ErrDir marks a directory that holds something else.
	ErrDir = errors.New("directory cannot be continued")
	// ErrStale marks stored trials of other settings, or of other code.
	ErrStale = errors.New("stored trials are stale")
	// ErrBusy marks a store that another process has open.
	ErrBusy = errors.New("store of trials in use")
	// ErrJob marks a job that failed or returned no number.
	ErrJob = errors.New("trial failed")
)

func inUse(path string) error {
	return fmt.Errorf("%w: %s: another process adds trials to it; wait for its end, or name another place", ErrBusy, path)
}

// Study is the reproduction of one paper.
type Study struct {
	// Paper is the short name, as in a command line and in keys.
	Paper string
	// Version changes when a job's numbers do; older results are refused.
	Version int
	// Title and Abstract open the page; an abstract is paragraphs of plain text.
	Title    string
	Abstract []string
	Items    []Item
}

// Item is a figure, a table or a theorem of the paper.
type Item struct {
	// Name is the item's name in a command line and of its files.
	Name string
	// Title heads its section, Caption explains it, both plain text.
	Title, Caption string
	// Panels are its plots, drawn beside each other in rows of Columns; 0 puts
	// them all in one row.
	Panels  []Panel
	Columns int
	// SameY gives panels with equal Y labels one range of y.
	SameY bool
	// Jobs lists its trials. Those of a quick run may be some of the full one's:
	// equal keys must mean equal numbers.
	Jobs func(quick bool) []Job
	// Settings are what the numbers of all jobs depend on beside their keys, as a
	// value that marshals to JSON. Stored trials of other settings are stale.
	Settings any
	// Probe makes the numbers of a trial so small that every run can afford it:
	// when they change, code that matters has changed, and stored trials are
	// stale. nil leaves that to Settings and to the study's Version.
	Probe func(ctx context.Context) ([]Sample, error)
	// Claims holds sentences of the paper against the results; nil means none.
	Claims func(t *Table) []Claim
}

// Job is one trial.
type Job struct {
	// Key names everything that the numbers depend on, the seed among it. It is
	// unique in its item.
	Key string
	// Cost is the expected time, in any unit that all jobs of the study share.
	Cost float64
	// Trial numbers the trials of a point from 1; 0 for what has no trials, or
	// where they are of no use one by one. Low numbers are run first, so that a
	// full run that is not finished leaves equally many trials of every point.
	Trial int
	// Run returns the numbers. It is called once, beside other jobs.
	Run func(ctx context.Context) ([]Sample, error)
}

// CheapestJob is a probe for items whose cheapest quick job takes a moment.
func CheapestJob(jobs func(quick bool) []Job) func(ctx context.Context) ([]Sample, error) {
	return func(ctx context.Context) ([]Sample, error) {
		return slices.MinFunc(jobs(true), func(a, b Job) int { return cmp.Compare(a.Cost, b.Cost) }).Run(ctx)
	}
}

// Sample is one number of a trial: one y at an x of a series of a panel.
type Sample struct {
	Panel  string  `json:"panel"`
	Series string  `json:"series"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
}

// Bars says what error bars show.
type Bars string

// The kinds of error bars.
const (
	StandardError     Bars = "standard error"
	StandardDeviation Bars = "standard deviation"
)

// Panel is one plot.
type Panel struct {
	// Name is what samples refer to, Title heads the plot.
	Name, Title string
	// X and Y label the axes, with units.
	X, Y string
	// LogX and LogY make an axis logarithmic.
	LogX, LogY bool
	// Bars are drawn where a mean is of two trials or more: as a band around
	// curves without markers where Bands is set, else at the markers.
	Bars  Bars
	Bands bool
	// Curves are drawn, and listed, in this order; series of samples that are not
	// among them are in the CSV alone.
	Curves []Curve
}

// Curve is how a series is drawn. Colours and shapes are indices of palettes;
// equal series should look alike in every panel.
type Curve struct {
	Series string
	// Label names the curve in the legend; empty means Series does.
	Label  string
	Colour int
	// Dashed draws the line dashed, for what is not private or not sound; Dotted
	// is for a second variation of a curve.
	Dashed, Dotted bool
	// Plain leaves out the markers, for exact curves.
	Plain bool
}

// Claim is a sentence of the paper and what the trials say of it.
type Claim struct {
	ID    string `json:"id"`
	Paper string `json:"paper"`
	Claim string `json:"claim"`
	Holds bool   `json:"holds"`
	// PaperValue is the paper's number; nil where it prints none.
	PaperValue *float64 `json:"paper_value"`
	// Ours is the number measured, and StdErr its standard error; 0, null in JSON,
	// where Ours is exact or no standard error is known.
	Ours   float64 `json:"ours"`
	StdErr float64 `json:"stderr"`
	// Note says what Ours is and what it rests on.
	Note string `json:"note"`
}

// MarshalJSON implements [json.Marshaler].
func (c Claim) MarshalJSON() ([]byte, error) {
	type plain struct {
		ID         string   `json:"id"`
		Paper      string   `json:"paper"`
		Claim      string   `json:"claim"`
		Holds      bool     `json:"holds"`
		PaperValue *float64 `json:"paper_value"`
		Ours       float64  `json:"ours"`
		StdErr     *float64 `json:"stderr"`
		Note       string   `json:"note"`
	}
	p := plain{ID: c.ID, Paper: c.Paper, Claim: c.Claim, Holds: c.Holds, PaperValue: c.PaperValue, Ours: c.Ours, Note: c.Note}
	if c.StdErr != 0 {
		p.StdErr = &c.StdErr
	}
	return json.Marshal(p)
}
