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
		add(unprotected, "Everything", "No noise was added and no privacy cost was computed.")
	} else {
		if !s.Seeded && !overBudget(s) {
			covered(s, add)
		}
		works := "a policy works"
		if r.Survival != nil {
			works = "a treatment works"
		}
		uncovered(s, public, charged(r), works, add)
	}
	if r.Survival != nil {
		survivalBiases(r, add)
	} else if one := One(r); one == nil || one.Estimate.Sampling != evaluate.NoSampling {
		biases(r, public, add)
	}
	return out
}

type adder func(group, heading, text string)

func covered(s *evaluate.Statement, add adder) {
	if s.Adjacency == dp.AddRemoveOne {
		add(protected, "Whether a "+unit(s)+" is in the data", "and everything in the record, within the bound above.")
	} else {
		add(protected, "What one "+unit(s)+"’s record says", "and whose it is: the record could have been anyone else’s, within the bound above.")
	}
	add(protected, "Whatever is done with the release later", "No computation on it, now or in future, with any other knowledge, weakens the bound.")
}

func uncovered(s *evaluate.Statement, public map[string]any, charged bool, works string, add adder) {
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
	add(unprotected, "The public parameters", "They are assumed to be known without the data. If one was chosen by looking at the data, the guarantee does not cover what that choice reveals.")
	if public["on_policy"] == false && s.Event != (dp.ApproximateDP{}) {
		logged := "or probabilities of the logged actions that were: "
		if public["estimated_behavior"] != nil {
			logged = ""
		}
		add(unprotected, "A target policy that was fitted on these persons", logged+"one person’s record then changes the weights of all others, which no clip bounds, and the guarantee is void. Where they come from is a statement of the analyst that nothing checks.")
	}
	add(unprotected, "Several persons together", group(s)+" So families, wards, or others whose records depend on each other are protected less than one person is.")
	add(unprotected, "What is true of people in general", "If the release teaches that "+works+", it also teaches something about persons who are not in the data. That is its purpose.")
	other := "Costs of releases from the same data add up, and no ledger counted this one."
	if charged {
		other = "Costs of releases from the same data add up. The ledger that was charged counts only what is charged to it."
	}
	add(unprotected, "Other releases", other)
	add(unprotected, "What the curator sees", "Notices, error messages and logs of the run are made from the data without noise. They must stay with the curator.")
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
		add(unmeasured, "Missing mass", fmt.Sprintf("The mean weight is %.0f%% below 1, with a standard error of %s from noise and sampling. By the public design nothing is missing, and the curator states that no record is lost (problem.records: complete); the interval does not allow for missing weight. If the design or the statement is wrong and the mean weight does not show it, the interval may miss the value.", 100*share, significant(sd, digits, up)))
	} else if ok {
		text := "The interval holds the value whatever is missing: for the missing share it allows any value in the public range."
		if one := One(r); one != nil && !PlugIn(r) {
			text += " This lengthens it by " + significant(one.Estimate.Clipping[0], digits, up) + " below and " + significant(one.Estimate.Clipping[1], digits, up) + " above."
		}
		add(unmeasured, "Missing mass", missingWords(r, share)+fmt.Sprintf(" The share has a standard error of %s from noise and sampling. ", significant(sd, digits, up))+text)
	} else if clipped {
		text, what := "Contributions outside this range bias the answer by an amount that no error bar includes.", "outcomes so rare that the data happen not to contain them"
		if _, chosen := diagnosticsOf(r)["clip"]; chosen {
			text, what = "", "contributions outside it and "+what
		}
		if one := One(r); one != nil && one.Estimate.Clipping != [2]float64{} {
			e := one.Estimate
			text = strings.TrimSpace(text + " To allow for " + what + ", the interval is lengthened by " + significant(e.Clipping[0], digits, up) + " below and " +
				significant(e.Clipping[1], digits, up) + " above; the sampling and privacy errors do not include this.")
		}
		add(unmeasured, "Clipping", "Contributions were clipped to "+newFact(clip).Text+". "+text)
	}
	add(unmeasured, "Unmeasured confounding", "If the target policy is not the one that made the data, anything unrecorded that influenced both the decisions and their outcomes biases the answer, and so do wrong recorded probabilities.")
	add(unmeasured, "Whom the data represent", "The answer is about people like those in the data, under the conditions of that time.")
	if Intervals(r) > 0 {
		add(unmeasured, "The normal approximation", "The interval assumes that the sum over many persons and the noise are normally distributed; with few persons or rare large weights it may cover the value less often than stated.")
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
				What:    fmt.Sprintf("Entry %d of the ledger paid for this release. With the ledger at hand, this command checks the release, every entry and the sum of all charges.", r.Ledger.Seq),
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
			What:    "The command checks that the policy (answers[0].pick.policy) is one of those compared, and that the plan follows from the public facts. The release cannot show that the policy was drawn as stated.",
			Command: "discreet verify release.json",
		})
	}
	if r.Survival != nil {
		return append(out, survivalCheck)
	}
	if one := One(r); one != nil && one.Estimate.StdSampling+one.Estimate.StdPrivacy > 0 {
		out = append(out, verification{
			What: "The interval (field answers[0].estimate.interval) is the value, plus and minus the normal quantile of its confidence times √(std_sampling² + std_privacy²), lengthened by the two numbers in clipping for what is clipped or missing, and truncated to the range of a contribution if one is given.",
		})
	} else if one == nil && Intervals(r) > 0 {
		out = append(out, verification{
			What:    "Each interval (answers[].estimate.interval) follows from the noisy sums beside it (answers[].diagnostics.sums), and the selection from the intervals. The command recomputes all of them.",
			Command: "discreet verify release.json",
		})
	}
	return out
}

// account tells how to repeat the accounting.
func account(s *evaluate.Statement) verification {
	if e, ok := s.Event.(dp.SmoothGaussian); ok {
		return verification{
			What: fmt.Sprintf("This command computes the alpha that this guarantee needs. Its upper end must not exceed %v (field privacy.event.alpha).", e.Alpha),
			Command: fmt.Sprintf("discreet account smooth-sensitivity --epsilon %v --delta %v --dimension %d --beta %v",
				s.Epsilon, s.Delta, e.Dimension, e.Beta),
		}
	}
	return verification{
		What: fmt.Sprintf("Save the event above (field privacy.event) as event.json and compute its epsilon again. The upper end of epsilon must not exceed %v (field privacy.epsilon).",
			s.Epsilon),
		Command: fmt.Sprintf("discreet account epsilon event.json --adjacency %v --delta %v", s.Adjacency, s.Delta),
	}
}
