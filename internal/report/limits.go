package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
)

// limit is one line of what is protected, what is not, and what the error bars
// leave out.
type limit struct {
	Group   string
	Heading string
	Text    string
}

// The groups of limits, in the order of the page.
const (
	protected   = "Protected"
	unprotected = "Not protected"
	unmeasured  = "Not in the error bars"
)

// limits lists what the guarantee covers and what it does not.
func limits(r *evaluate.Release, public map[string]any) []limit {
	var out []limit
	add := func(group, heading, text string) { out = append(out, limit{group, heading, text}) }
	s := r.Privacy
	if s == nil {
		add(unprotected, "Everything", "No noise was added and nothing was accounted for.")
	} else {
		if !s.Seeded && !overBudget(s) {
			covered(s, add)
		}
		uncovered(s, public, charged(r), add)
	}
	if r.Estimate == nil || r.Estimate.Sampling != evaluate.NoSampling {
		biases(r, public, add)
	}
	return out
}

type adder func(group, heading, text string)

func covered(s *evaluate.Statement, add adder) {
	if s.Adjacency == dp.AddRemoveOne {
		add(protected, "Whether a "+unit(s)+" is in the data", "and all that the record says, within the bound above.")
	} else {
		add(protected, "What one "+unit(s)+"’s record says", "and whose it is: the record could have been anyone else’s, within the bound above.")
	}
	add(protected, "Whatever is done with the release later", "No computation on it, now or in future, with any other knowledge, weakens the bound.")
}

func uncovered(s *evaluate.Statement, public map[string]any, charged bool, add adder) {
	persons := ""
	if n, ok := count(public); ok {
		persons = " (" + newFact(n).Text + ")"
	}
	if s.Adjacency == dp.AddRemoveOne {
		if persons != "" {
			add(unprotected, "The lower bound on the number of persons"+persons, "It counts as public; the number itself is protected.")
		}
	} else {
		add(unprotected, "The number of persons"+persons, "Under replace_one it is public.")
	}
	add(unprotected, "The public parameters", "They are taken to be known without the data. If one was chosen by looking at the data, the guarantee does not cover that look.")
	if public["on_policy"] == false && s.Event != (dp.ApproximateDP{}) {
		logged := "or probabilities of the logged actions that were: "
		if public["estimated_behavior"] != nil {
			logged = ""
		}
		add(unprotected, "A target policy that was fitted on these persons", logged+"one person’s record then moves the weights of all others, which no clip bounds, and the guarantee is void. Where they come from is the word of whoever asked; nothing checks it.")
	}
	add(unprotected, "Several persons together", group(s)+" So families, wards, or others whose records depend on each other are protected less than one person is.")
	add(unprotected, "What is true of people in general", "If the release teaches that a policy works, it also teaches something about persons who are not in the data. That is its purpose.")
	other := "Costs of releases from the same data add up, and no ledger counted this one."
	if charged {
		other = "Costs of releases from the same data add up. The ledger that was charged counts only what is charged to it."
	}
	add(unprotected, "Other releases", other)
	add(unprotected, "What the curator sees", "Notices, error messages and logs of the run are made from the data without noise. They must not leave.")
	add(unprotected, "That the release was made", "and when, and how long it took; nor does the guarantee cover access to the curator’s machine or measurements on it.")
}

// group is the guarantee of two and of five persons: k epsilon, and delta times
// (e^(k eps) - 1)/(e^eps - 1) (Vadhan 2017, the sum behind Lemma 2.2).
func group(s *evaluate.Statement) string {
	pair := func(k float64) string {
		out := "ε\u00a0=\u00a0" + significant(k*s.Epsilon, 6, up)
		if s.Delta == 0 {
			return out
		}
		grown := s.Delta * math.Expm1(k*s.Epsilon) / math.Expm1(s.Epsilon) * (1 + slack)
		if !(grown < 1) {
			return "no bound by the general rule"
		}
		return out + ", δ\u00a0=\u00a0" + significant(grown, digits, up)
	}
	return fmt.Sprintf("The bound is for one person. For two together it is %s; for five, %s.", pair(2), pair(5))
}

func biases(r *evaluate.Release, public map[string]any, add adder) {
	clip, clipped := public["clip"]
	if share, sd, ok := Missing(r); ok && Unguarded(r) {
		add(unmeasured, "Missing mass", fmt.Sprintf("The mean weight is %.0f%% below 1, with a standard error of %s, of noise and of the choice of persons. By the public design nothing is missing, and by the curator’s statement (problem.records: complete) no record is lost; the interval allows for neither. It does not hold the value where one of them is false and the mean weight does not show it.", 100*share, significant(sd, digits, up)))
	} else if ok {
		text := "The interval holds the value whatever is missing: it allows there for anything in the public range."
		if e := r.Estimate; e != nil && !PlugIn(r) {
			text += " For that it is lengthened by " + significant(e.Clipping[0], digits, up) + " below and " + significant(e.Clipping[1], digits, up) + " above."
		}
		add(unmeasured, "Missing mass", missingWords(r, share)+fmt.Sprintf(" The share has a standard error of %s, of noise and of the choice of persons. ", significant(sd, digits, up))+text)
	} else if clipped {
		text, what := "Where they lie outside, the answer is moved by an amount that no error bar holds.", "outcomes so rare that the data happen not to show them"
		if _, chosen := r.Diagnostics["clip"]; chosen {
			text, what = "", "what lies outside, and for "+what
		}
		if e := r.Estimate; e != nil && e.Clipping != [2]float64{} {
			text = strings.TrimSpace(text + " For " + what + ", the interval is lengthened by " + significant(e.Clipping[0], digits, up) + " below and " +
				significant(e.Clipping[1], digits, up) + " above; the errors of sampling and of privacy leave it out.")
		}
		add(unmeasured, "Clipping", "Contributions were cut to "+newFact(clip).Text+". "+text)
	}
	add(unmeasured, "Unmeasured causes", "If the target policy is not the one that made the data: whatever moved both the decisions and their outcomes but was not recorded biases the answer, as do recorded probabilities that are wrong.")
	add(unmeasured, "Whom the data stand for", "The answer is about people like those in the data, under the conditions of that time.")
	if r.Estimate != nil || Intervals(r) > 0 {
		add(unmeasured, "The normal curve", "The interval takes the sum of many persons and the noise to be normally distributed; with few persons or rare large weights it may cover less often than it says.")
	}
}

// verification is one thing that a reader can verify from the JSON form.
type verification struct {
	What    string
	Command string
}

func checks(r *evaluate.Release) []verification {
	out := []verification{{What: fmt.Sprintf("Field schema of the JSON form must be %q.", r.Schema)}}
	if s := r.Privacy; s != nil {
		out = append(out, account(s))
		if charged(r) {
			out = append(out, verification{
				What:    fmt.Sprintf("Entry %d of the ledger paid for this release. Whoever holds the ledger can hold the release, every entry and the sum of all charges against it.", r.Ledger.Seq),
				Command: "discreet ledger verify LEDGER release.json",
			})
		}
	}
	if s := r.Signature; s != nil {
		out = append(out, verification{
			What:    "The JSON form is signed. Get the public key from the signer, not from where the release came from; its identity must be " + s.KeyID + ".",
			Command: "discreet verify release.json --public-key KEY.pub.pem",
		})
	}
	if Picked(r) != "" {
		out = append(out, verification{
			What:    "The policy (answers[0].pick.policy) is one of those in question, and the plan follows from the public facts. That it was drawn as told nobody can see in the release.",
			Command: "discreet verify release.json",
		})
	}
	if Intervals(r) > 0 {
		out = append(out, verification{
			What:    "Each interval (answers[].estimate.interval) follows from the noisy sums beside it (answers[].diagnostics.sums), and the selection from the intervals. The command makes all of them again.",
			Command: "discreet verify release.json",
		})
	}
	if e := r.Estimate; e != nil && e.StdSampling+e.StdPrivacy > 0 {
		out = append(out, verification{
			What: "The interval (field estimate.interval) is the value, plus and minus the normal quantile of its confidence times √(std_sampling² + std_privacy²), lengthened by the two numbers in estimate.clipping for what the clip may hide or the data do not vouch for, and cut to the range of a contribution where one is given.",
		})
	}
	return out
}

// account tells how to repeat the accounting.
func account(s *evaluate.Statement) verification {
	if e, ok := s.Event.(dp.SmoothGaussian); ok {
		return verification{
			What: fmt.Sprintf("Ask for the alpha that this guarantee needs. Its upper end must not exceed %v (field privacy.event.alpha).", e.Alpha),
			Command: fmt.Sprintf("discreet account smooth-sensitivity --epsilon %v --delta %v --dimension %d --beta %v",
				s.Epsilon, s.Delta, e.Dimension, e.Beta),
		}
	}
	return verification{
		What: fmt.Sprintf("Save the event above (field privacy.event) as event.json and account for it anew. The upper end of epsilon must not exceed %v (field privacy.epsilon).",
			s.Epsilon),
		Command: fmt.Sprintf("discreet account epsilon event.json --adjacency %v --delta %v", s.Adjacency, s.Delta),
	}
}
