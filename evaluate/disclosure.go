package evaluate

import (
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
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

// MechanismUse says how often a mechanism ran.
type MechanismUse struct {
	Kind string `json:"kind"`
	Runs int64  `json:"runs"`
}

func newDisclosure(p *Plan) *Disclosure {
	q := p.public.Privacy
	d := &Disclosure{
		Definition:     "(epsilon, delta)-differential privacy",
		Model:          "central: the curator holds the records and is trusted with them; recipients of the release are not",
		Actors:         "The curator holds the records and runs this program. Analysts write configurations, which are public, and see releases. Recipients see releases, now or later, with any other knowledge and any computing power that does not break AES or SHA-256; they may be analysts, and may work together.",
		Series:         "One release, for one configuration. Nothing here says what else was, or will be, released from the same persons.",
		DataDomain:     "trajectories: for each person one or more sequences of observations, actions and rewards; any content is covered, because contributions are clipped to public bounds",
		Unit:           unitWords(p.public),
		Unprotected:    unprotected(p.public),
		Mechanisms:     mechanisms(p.event),
		Composition:    fmt.Sprintf("Within the release: by the %s accountant, over the whole event, whose parts were fixed before any noise was drawn. With other releases: not composed, because no ledger was charged.", p.accounted.by),
		PostProcessing: "Everything else in the release (intervals, values by state, errors) is computed from the noisy results and from public facts, and costs nothing.",
		Preparation:    "Records are read and checked, cut to the public caps on decisions and trajectories, and mapped to features by a public map.",
		Tuning:         "None on the data: the method and its parameters were fixed by the configuration before the data was opened. If somebody chose them by looking at the data, the guarantee does not cover what that choice reveals.",
		FloatingPoint:  "Contributions are clipped, rounded to a public lattice and summed as integers; the noise is an integer from an exact sampler. Floating point begins after the noise.",
		Randomness:     "a cryptographic stream keyed by the operating system",
		Timing:         "The samplers are not constant-time, and the time of a run depends on the size of the data. The guarantee does not cover an observer who can time the run or share its machine.",
		Security:       "The records stay where the curator keeps them: this program writes no copy of them, and its messages never quote their values. The curator decides who may read them.",
	}
	for _, text := range []*string{&d.Series, &d.DataDomain} {
		*text = q.Unit.Words(*text)
	}
	if q.Budget.Delta == 0 {
		d.Definition = "pure epsilon-differential privacy"
	}
	if _, ok := p.event.(dp.PermuteAndFlip); ok {
		d.PostProcessing = "None: the release names the policy that was drawn, and repeats public facts."
		d.FloatingPoint = "Scores are clipped, rounded to a public lattice and summed as integers; random choices of probability exp(-x) with rational x are sampled exactly. No noisy number is computed."
	}
	if q.Noise == mechanism.Fast {
		d.FloatingPoint = "Noise was drawn in floating-point numbers: attacks on the gaps between them are not excluded."
	}
	if p.event == (dp.ApproximateDP{}) {
		d.PostProcessing = "The release does not depend on the data."
		d.FloatingPoint = "No noise was drawn: the release does not depend on the data."
	}
	return d
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
	if p.By == nil || !p.By.Fixed {
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
	if p.By != nil && p.By.Fixed {
		groups = []string{p.unit().Words("which group each person is in, and the number of persons in each group")}
	}
	return append(groups, []string{
		p.unit().Words(number),
		"the public parameters: policies, ranges, caps, discount, epsilon and delta",
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
