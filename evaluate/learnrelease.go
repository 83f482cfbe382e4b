package evaluate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/policy"
)

// learnedSumsName is the diagnostic that the policy follows from.
const learnedSumsName = "learning"

// certified adds to the answers of one half what was learned from the other.
func (q *learnQuestion) certified(r *Release, sums [][]float64) *Release {
	if r.Diagnostics == nil {
		r.Diagnostics = map[string]any{}
	}
	r.Diagnostics[learnedSumsName] = sums
	if r.Learned == nil {
		r.Learned = new(Learned)
	}
	r.Learned.Policy, r.Learned.Deviations, r.Learned.OverConstant = q.policy(sums), q.deviations(sums), math.Inf(1)
	if c, ok := r.Diagnostics[massesByCell].(*scalar.CellSums); ok {
		r.Learned.Differs = q.practiceByCell(sums, c)
	}
	for i, a := range r.Answers {
		lower := a.Estimate.Interval[0]
		if i == 0 {
			r.Learned.OverLogged = lower
		} else {
			r.Learned.OverConstant = min(r.Learned.OverConstant, lower)
		}
	}
	return r
}

// policy is the file of what follows from the sums.
func (q *learnQuestion) policy(sums [][]float64) PolicyFile {
	if q.scores {
		return q.linearPolicy(sums)
	}
	return PolicyFile{Schema: "discreet/policy/v1", Kind: "tree", Inputs: q.names, Precision: "float64", Nodes: q.rule(sums)}
}

// policy is what the file describes.
func (f PolicyFile) policy() (policy.Policy, error) {
	if f.Nodes != nil {
		return policy.NewTree(f.Inputs, f.Nodes, false)
	}
	text, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	return policy.ReadSoftGreedy(bytes.NewReader(text), learnedName)
}

// again makes the release of its noisy sums.
func (q learnQuestion) again(r *Release) (*Release, error) {
	var sums [][]float64
	if err := diagnostic(r, learnedSumsName, &sums); err != nil {
		return nil, err
	}
	if len(sums) != len(q.rounds) {
		return nil, fmt.Errorf("diagnostics.learning holds %d rounds; want %d", len(sums), len(q.rounds))
	}
	for round, of := range sums {
		if len(of) != q.cells(round) {
			return nil, fmt.Errorf("diagnostics.learning[%d] holds %d sums; want %d", round, len(of), q.cells(round))
		}
		if q.rounds[round] == ofDraws && !q.drawnBy(round, of) {
			return nil, fmt.Errorf("diagnostics.learning[%d] holds what is no number of a candidate", round)
		}
		for _, v := range of {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("diagnostics.learning[%d] holds what is no sum", round)
			}
		}
	}
	judged := answersAgain(q.judge)
	if q.lives != nil {
		judged = func(r *Release) (*Release, error) { return q.followedAgain(r, sums) }
	}
	if q.masses != nil {
		judged = q.ofCells(sums).again
	}
	again, err := judged(r)
	if err != nil {
		return nil, err
	}
	return q.certified(again, sums), nil
}

// chargesDraws says what a drawn rule costs.
const chargesDraws = "The rule is drawn, and the charge is epsilon and delta as a whole. In a ledger that adds up squares of mu it costs many times what Gaussian noise for the same budget does."

// decidedBefore says what certificates rest on that no data show.
const decidedBefore = "What the rule decides by must have been settled before the action was, also whether it is missing: if an action or what came of it can change that, certificates are wrong, and nothing in this release shows it."

// about is what is known beforehand.
func (q *learnQuestion) about() (summary, error) {
	p := q.judge.public
	var s summary
	var err error
	if q.lives != nil {
		s = q.aboutLives()
	} else if q.masses != nil {
		s, err = q.masses.judge.about(nil)
		delete(s.facts, "policies_by_cell")
		if i := slices.Index(s.notes, chargesLaplace); i >= 0 {
			s.notes[i] = strings.Replace(chargesLaplace, "pure epsilon", "epsilon and delta as a whole", 1)
		}
	} else if s, err = p.aboutAnswers(q.judge.answers, nil, 0, q.judge.guard.number == 0); err == nil {
		s = s.and(q.judge.guard.summary(p, nil))
	}
	if err != nil {
		return s, err
	}
	over := "a tree of covariates"
	if q.states != nil {
		over = "a table of states"
	}
	if q.blur > 0 {
		s.facts["blur"] = q.blur
	}
	if q.table != nil {
		over += ", the best in a model of what follows each action"
		s.facts["coordinates"] = q.table.Coordinates()
	} else if q.epsilons != nil {
		over += ", drawn by permute-and-flip among all there are: the larger the weighted outcomes of who was treated by a rule, the likelier it is"
		s.facts["noise_family"] = LaplaceNoise
		s.notes = append(s.notes, chargesDraws)
	} else {
		over += " that takes in each of its parts the action under which their noisy weighted outcomes are largest"
	}
	if q.masses != nil {
		over = "a table of cells, with the action whose noisy mean outcome is largest"
	}
	if q.scores {
		over = "a score of every action, linear in the covariates, by least squares of their noisy weighted outcomes; the largest says what is done"
	}
	first := fmt.Sprintf("%d persons, drawn by a lot that nobody learns, are learned from: %s. The others judge it. Both have the whole budget, since a person is in one half.", q.learnOn, over)
	s.heading = append([]string{p.words(first)}, s.heading...)
	s.notes = append([]string{"Each interval is a 90% interval: each of its ends by itself holds with 95%. The least of the lower limits over all constant actions is one for the gain over the best of them, whichever that is. Two certificates hold together with 90%.", decidedBefore}, s.notes[1:]...)
	if p.decisions() > 1 {
		s.notes = append(s.notes, "Over several decisions weights multiply, so that a certificate may show no gain although the policy has one: the expected half widths suppose that no weight is missing. "+q.learnsBy())
	}
	return s, nil
}
