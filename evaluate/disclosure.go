package evaluate

import (
	"fmt"
	"strings"

	"github.com/discreet-rl/discreet/dp"
)

// Disclosure answers, in words, what a reviewer asks beyond epsilon: the fields
// of tier 3 of the OpenDP Differential Privacy Deployments Registry (Nanayakkara,
// Ghazi, Vadhan 2025) and the points of NIST SP 800-226 (2025). Everything in it
// is known before the data is opened.
type Disclosure struct {
	// Definition is the flavour of differential privacy, and Model who is trusted
	// with the data.
	Definition string `json:"definition"`
	Model      string `json:"model"`
	// Actors says who sees what, and who is assumed to be against whom.
	Actors string `json:"actors"`
	// Series says whether further releases follow from the same data, and how
	// analysts share a budget.
	Series string `json:"series"`
	// DataDomain is what a record may be, Unit whose record it is.
	DataDomain string `json:"data_domain"`
	Unit       string `json:"unit"`
	// Unprotected lists what the guarantee does not cover.
	Unprotected []string `json:"unprotected"`
	// Mechanisms counts the noisy computations by kind, from the event.
	Mechanisms []MechanismUse `json:"mechanisms"`
	// Composition says how they were added up, and how this release is with others.
	Composition    string `json:"composition"`
	PostProcessing string `json:"post_processing"`
	// Preparation says what was done to the data before, Tuning how parameters
	// were chosen.
	Preparation string `json:"preparation"`
	Tuning      string `json:"tuning"`
	// FloatingPoint, Randomness and Timing are the measures against attacks on the
	// implementation.
	FloatingPoint string `json:"floating_point"`
	Randomness    string `json:"randomness"`
	Timing        string `json:"timing"`
	// Security is what guards the records themselves.
	Security string `json:"security"`
	// Justification is why these parameters and this design: the words of whoever
	// asked for the release; empty when they gave none.
	Justification string `json:"justification,omitempty"`
	// CodeVersion names the program and ConfigHash the configuration that made the
	// release; empty where the caller does not know them.
	CodeVersion string `json:"code_version,omitempty"`
	ConfigHash  string `json:"config_hash,omitempty"`
}

// MechanismUse says how often a mechanism ran: how many times noise was drawn for a sum,
// a vector or a function of them, or a candidate was drawn.
type MechanismUse struct {
	Kind string `json:"kind"`
	Runs int64  `json:"runs"`
}

// newDisclosure describes a release of a plan; seeded says that its noise came from a seed.
func newDisclosure(p *Plan, seeded bool) *Disclosure {
	q := p.public.Privacy
	d := &Disclosure{
		Definition:     "(epsilon, delta)-differential privacy",
		Model:          "central: the curator holds the records and is trusted with them; recipients of the release are not",
		Actors:         "The curator holds the records and runs this program. Analysts write configurations, which are public, and see releases. Recipients see releases, now or later, with any other knowledge and any computing power that does not break AES or SHA-256; they may be analysts, and may work together.",
		Series:         "One release, for one configuration. Nothing here says what else was, or will be, released from the same persons.",
		DataDomain:     domain(p),
		Unit:           unitWords(p.public),
		Unprotected:    unprotected(p.public),
		Mechanisms:     mechanisms(p.noises()),
		Composition:    fmt.Sprintf("Within the release: by the %s accountant, over the whole event, whose parts were fixed before any noise was drawn. With other releases: not composed, because no ledger was charged.", p.accounted.by),
		PostProcessing: "Everything else in the release (intervals, values by state, errors) is computed from the noisy results and from public facts, and costs nothing.",
		Preparation:    "Records are read and checked, cut to the public caps on decisions and trajectories, and mapped to features by a public map.",
		Tuning:         "None on the data: the method and its parameters were fixed by the configuration before the data was opened. If somebody chose them by looking at the data, the guarantee does not cover what that choice reveals.",
		FloatingPoint:  "Contributions are clipped, rounded to a public lattice and summed as integers; the noise is an integer from an exact sampler. Floating point begins after the noise.",
		Randomness:     "a cryptographic stream keyed by the operating system",
		Timing:         "The samplers are not constant-time, and the time of a run depends on the size of the data. The guarantee does not cover an observer who can time the run or share its machine.",
		Security:       security(p),
	}
	if p.public.Outcome != nil && !p.learns {
		d.PostProcessing = "Everything else in the release (curves, limits, means, medians) is computed from the noisy counts and from public facts, and costs nothing."
		d.Preparation = "Records are read and checked, and each person is counted once: by arm, by the bin of time in which they left, and by what they left for."
		d.FloatingPoint = "A person adds 1 to one count; the noise is an integer, or on a public lattice, from an exact sampler. Floating point begins after the noise."
	}
	for _, text := range []*string{&d.Series, &d.DataDomain} {
		*text = q.Unit.Words(*text)
	}
	if seeded {
		d.Randomness = "a seed, for tests: whoever knows it can remove the noise, so that this release protects nobody"
	}
	if q.Budget.Delta == 0 {
		d.Definition = "pure epsilon-differential privacy"
	}
	if _, ok := p.event.(dp.PermuteAndFlip); ok {
		d.PostProcessing = "None: the release names the policy that was drawn, and repeats public facts."
		d.FloatingPoint = "Scores are clipped, rounded to a public lattice and summed as integers; random choices of probability exp(-x) with rational x are sampled exactly. No noisy number is computed."
	}
	if _, ok := p.event.(dp.SmoothGaussian); ok {
		d.FloatingPoint = "Sums are of integers. The value and the bound on its local sensitivity are computed from them in floating point, with bounds on the rounding errors that are added to the noise; the value is rounded to a public lattice and the noise is an integer from an exact sampler."
	}
	if q.Fast {
		d.FloatingPoint = "Noise was drawn in floating-point numbers: attacks on the gaps between them are not excluded."
	}
	if p.event == (dp.ApproximateDP{}) {
		d.PostProcessing = "The release does not depend on the data."
		d.FloatingPoint = "No noise was drawn: the release does not depend on the data."
	}
	return d
}

// noises is the event as noise is drawn for it.
func (p *Plan) noises() dp.Event {
	if p.drawn != nil {
		return p.drawn
	}
	return p.event
}

// domain says which records the guarantee covers. What becomes of invalid ones the caller
// says in the label on_violation.
func domain(plan *Plan) string {
	p := plan.public
	form, bounds := "trajectories: for each person one or more sequences of observations, actions and rewards; ", "contributions are clipped to public bounds"
	if p.Outcome != nil {
		form, bounds = "outcomes: for each person a time, what ended it, and an arm, or the trajectory that says so; ", "a person adds 1 to one count at most"
		if plan.learns {
			bounds = "contributions are clipped to public bounds, and a person who judges adds 1 to one count"
		}
		if p.weighted() && !plan.learns {
			form, bounds = "outcomes: for each person a time, what ended it, and decisions, or the trajectory that says so; ", "a person adds at most 1 to one sum of each policy"
		}
	}
	words, told := p.Labels["on_violation"].(string)
	switch {
	case !told:
		return form + "whatever they contain, " + bounds + ". What was done to records before this program saw them is not known here."
	case strings.Contains(words, failsTheRun):
		return form + "only valid ones are covered: a record that is invalid in a way that makes the run fail (public.on_violation) is outside the guarantee, which does not hide whether there is one. " + strings.ToUpper(bounds[:1]) + bounds[1:] + "."
	}
	return form + "whatever their values: " + bounds + ", and a value that cannot be used is repaired, or its episode left out, by a rule that depends on the record of that person alone (public.on_violation). A file of another form than its columns promise, ids that cannot be told apart and another number of persons than was stated make the run fail, and the guarantee does not hide that."
}

// failsTheRun is what the label on_violation says of records that are not repaired.
const failsTheRun = "makes the run fail"

// security says where rows can be while a run reads them. Whether they were on disk
// depends on the data, so that this is what the plan allows and not what a run did.
func security(p *Plan) string {
	var places []string
	if p.slim {
		places = append(places, "rows of large data that are not sorted are in temporary files without names, which are gone when the data are read")
	}
	if p.public.unit().String() == Person.String() && p.InParts() == nil {
		places = append(places, "rows of data in shards are in the files of the shards, and while these are made in a private directory")
	}
	kept := "this program holds them in memory and writes no copy of them"
	if places != nil {
		kept = "this program holds them in memory and writes copies of them in these cases alone: " + strings.Join(places, "; ") +
			" (which of these was the case depends on the data, and is not stated). Removed files are not overwritten"
	}
	return "The records stay where the curator keeps them: " + kept + ". Its messages name files, rows and columns and quote no values; of a file without a header the first row counts as names of columns. The curator decides who may read them."
}

func unitWords(p Public) string {
	switch u := p.unit(); u {
	case Episode, Row:
		between := "by one " + u.String() + ", exchanged for another" + p.sameGroup()
		if p.Privacy.Adjacency == dp.AddRemoveOne {
			between = "by the presence of one " + u.String()
		}
		return fmt.Sprintf("%s: neighbouring datasets differ %s, at most %d decisions; the owner of k of them is protected with k times epsilon only", u, between, p.Horizon)
	}
	owns := "all of a person's trajectories"
	if p.Episodes > 0 {
		owns += fmt.Sprintf(" (at most %d count)", p.Episodes)
	}
	owns += fmt.Sprintf(", at most %d decisions in all", p.Horizon)
	if p.Privacy.Adjacency == dp.AddRemoveOne {
		return "person: neighbouring datasets differ by the presence of one person with " + owns
	}
	return "person: neighbouring datasets differ by one person, exchanged for another" + p.sameGroup() + ", with " + owns
}

// sameGroup says for whom a person may be exchanged where groups are fixed.
func (p Public) sameGroup() string {
	if !p.groups().Fixed {
		return ""
	}
	return " of the same group"
}

func unprotected(p Public) []string {
	number := "the number of persons"
	if p.Privacy.Adjacency == dp.AddRemoveOne {
		number = "the public lower bound on the number of persons"
	}
	var groups []string
	if p.groups().Fixed {
		groups = []string{p.unit().Words("which group each person is in, and the number of persons in each group")}
	}
	if words, _ := p.Labels["on_violation"].(string); strings.Contains(words, failsTheRun) {
		groups = append(groups, "whether a record is invalid: one that is makes the run fail (public.on_violation)")
	}
	parameters := "the public parameters: policies, ranges, caps, discount, epsilon and delta"
	if p.Outcome != nil {
		parameters = "the public parameters: bins of time, causes, arms, epsilon and delta"
	}
	return append(groups, []string{
		p.unit().Words(number),
		parameters,
		"that the release was made, when, and how long it took",
		p.unit().Words("groups of related persons: k of them together are protected with k times epsilon only"),
		"facts about people in general, whether or not they are in the data",
		"what the curator sees: notices, validation results and error messages",
	}...)
}

// mechanisms counts the leaves of an event by kind, in order of appearance. What
// is sampled counts as what is run on the sample.
func mechanisms(e dp.Event) []MechanismUse {
	uses := []MechanismUse{}
	countLeaves(e, 1, func(kind string, n int64) {
		for i := range uses {
			if uses[i].Kind == kind {
				uses[i].Runs += n
				return
			}
		}
		uses = append(uses, MechanismUse{kind, n})
	})
	return uses
}

func countLeaves(e dp.Event, times int64, count func(kind string, n int64)) {
	switch e := e.(type) {
	case dp.Composed:
		for _, child := range e.Events {
			countLeaves(child, times, count)
		}
	case dp.SelfComposed:
		// 2^53, the largest count that every reader of JSON keeps, stands for more.
		countLeaves(e.Event, min(e.Count, 1<<53/times)*times, count)
	case dp.PoissonSampled:
		countLeaves(e.Event, times, count)
	case dp.SampledWithoutReplacement:
		countLeaves(e.Event, times, count)
	case dp.ApproximateDP:
		if e != (dp.ApproximateDP{}) {
			count(e.Kind(), times)
		}
	default:
		count(e.Kind(), times)
	}
}
