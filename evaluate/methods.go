package evaluate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Method describes an estimator to a user.
type Method struct {
	Name string `json:"name"`
	// Private tells whether its release carries a guarantee.
	Private bool `json:"private"`
	// Releases says what comes out, and Assumes what must hold.
	Releases string `json:"releases"`
	Assumes  string `json:"assumes"`
	// Parameters names what the configuration may set, with defaults.
	Parameters []string `json:"parameters,omitempty"`

	// Need lists the columns that it reads beyond ids, rewards and flags.
	Need trajectory.Parts `json:"-"`
	// NeedFeatures tells whether a feature map must be given.
	NeedFeatures bool `json:"-"`
	// NeedOutcome tells whether an outcome must be given ([Public.Outcome]).
	NeedOutcome bool `json:"-"`
	// Learns tells whether it makes a policy, for which the target stands.
	Learns bool `json:"-"`
	// NeedArms tells whether [Public.By] must be given, whose groups are the arms.
	NeedArms bool `json:"-"`
	// Summary says in a sentence, to readers of a release, what the method does. It is empty
	// if another method makes the release.
	Summary string `json:"-"`

	decode func(params map[string]any) (Estimator, error)
	// several and groups tell whether it answers for several policies and for several groups.
	several, groups bool
	// parts tells whether persons may be spread over processes ([Plan.InParts]); if not, whole
	// may say why, and what to do.
	parts bool
	whole string
}

// Methods lists every estimator, private ones first.
func Methods() []Method {
	const (
		overlaps = "diagnostics: share of the budget for the effective sample size and overlap (0: none)"
		states   = "On-policy; one trajectory a person; tabular or aggregated features."

		hides    = " Noise hides each person’s contribution."
		doesIS   = "Each person’s return is weighted by how much more likely the person’s decisions are under the target policy than under the policy that made them; the answer is the mean over persons."
		doesPDIS = "Each reward is weighted by how much more likely the decisions up to it are under the target policy than under the policy that made them; the answer is the mean over persons of the sum of weighted rewards."
		doesWIS  = "Each person’s return is weighted by how much more likely the person’s decisions are under the target policy than under the policy that made them; the answer is the weighted mean."
		doesLSW  = "Least squares fits one value per state to the returns that followed it, with public weights of the states."
		doesLSL  = "Penalised least squares fits one value per state to the returns that followed it, with states weighted by how often they are visited."
		doesLSTD = "Least squares makes the value of each state agree with the reward that follows and the value of the next state."
	)
	var (
		capped    = "max_weight: public cap on a person's weight (a public rule; on-policy 1)"
		clipped   = fmt.Sprintf("clip: auto, where a private histogram narrows the range, or public (%v; on-policy public)", defaultMeanClip)
		clipPaid  = fmt.Sprintf("clip_share: share of the budget for clip auto (%v)", defaultClipShare)
		confounds = "confounding: factor by which hidden confounding may change the odds of a logged action, off-policy (1: none)"
		guesses   = "guess: {effective: share, missing: share}, off-policy: a public guess about weights capped at 64, namely the effective sample size divided by the number of persons, and 1 minus the mean weight; the expected half width uses it (none)"
		constants = fmt.Sprintf("constants: exact or balle16 (%v)", defaultConstants)
	)
	return []Method{
		{Name: "auto", Private: true, Releases: "value function with features, else value of the policy",
			Assumes:    "The assumptions of the chosen method; `discreet plan` names the method and the reason.",
			Parameters: []string{"max_weight: public cap on importance weights, for the chosen method (its default)", guesses}, several: true, groups: true, decode: decodeAs[Auto]},
		{Name: "dp-is", Private: true, Releases: "value of the policy, 95% interval",
			Assumes:    "Public bounds on returns; off-policy correct logged probabilities. The interval holds the value, whatever is clipped or was never logged.",
			Parameters: []string{capped, clipped, clipPaid, overlaps, confounds, guesses},
			Summary:    doesIS + hides, several: true, groups: true, parts: true, decode: decodeAs[DPIS]},
		{Name: "dp-pdis", Private: true, Releases: "value of the policy, 95% interval",
			Assumes:    "As dp-is; rewards are weighted by the ratios up to their decision. The data must say how episodes end. Best for long episodes.",
			Parameters: []string{capped, clipped, clipPaid, overlaps, confounds, guesses},
			Summary:    doesPDIS + hides, several: true, groups: true, parts: true, decode: decodeAs[DPPDIS]},
		{Name: "dp-wis", Private: true, Releases: "value of the policy, 95% interval",
			Assumes:    "As dp-is, with the weighted mean as the value. Best where weights vary.",
			Parameters: []string{capped, clipped, clipPaid, overlaps, confounds, guesses},
			Summary:    doesWIS + hides, several: true, groups: true, parts: true, decode: decodeAs[DPWIS]},
		{Name: "dp-dr", Private: true, Releases: "value of the policy, 95% interval",
			Assumes: "As dp-is, with a private or public baseline for what the data do not show. The interval holds the value, whatever is clipped or was never logged; a baseline does not narrow it.",
			Parameters: []string{"baseline: auto, public, none, value, action, state or model, the model of dp-fqe (auto)",
				"constant, action_values, state_values: a public baseline (none)",
				fmt.Sprintf("baseline_share: share of the budget for a private baseline (%v; value: %v)", defaultTableShare, defaultValueShare),
				capped,
				fmt.Sprintf("clip: auto, where a private histogram narrows the range, or public (%v)", defaultDRClip), clipPaid, overlaps, guesses},
			Summary: "Rewards and losses are weighted by how much more likely the decisions are under the target policy; for the share of the target policy that the data do not show, a noisy or public guess of the value is used. Noise hides each person’s contribution to the sums.", groups: true, parts: true, decode: decodeAs[DPDR]},
		{Name: "dp-fqe", Private: true, Releases: "value of the policy, 95% interval of its own, values by state or weights of features",
			Assumes: "Features over numbered states that alone determine the value, or features of bounded norm in which values are linear. The value is the prediction of a model; the interval comes from importance sampling and holds the value even if the model is wrong. Form action needs the target's probability of every action in every state. Best for long episodes and targets far from the logged policy.", NeedFeatures: true,
			Parameters: []string{"form: auto, action, state or pooled (auto: a public rule); linear or linear-state for any features (auto: linear-state if they are not numbered states)",
				fmt.Sprintf("max_ratio: public cap on the ratio of one decision in forms state, pooled and linear-state (%v; on-policy 1)", defaultMaxRatio),
				fmt.Sprintf("start_share: share of the budget for the mean over first states (%v)", defaultStartShare),
				"interval: bounds, or none, which gives the public range (bounds)",
				fmt.Sprintf("interval_share: share of the budget for the interval (%v)", defaultIntervalShare),
				"max_weight: public cap on a person's weight in the interval (a public rule; on-policy 1)"}, Need: trajectory.Action,
			Summary: "A model is computed from noisy counts of what followed each decision, or from noisy second moments of features, and the value of the policy in the model is the answer. The interval does not come from the model, but from noisy weighted rewards and losses.", parts: true, decode: decodeAs[DPFQE]},
		{Name: "dp-lsw", Private: true, Releases: "value function",
			Assumes: states + " Best if every state is visited by many persons.", NeedFeatures: true,
			Parameters: []string{"weights: public weight of each state (1)", constants},
			Summary:    doesLSW + hides, parts: true, decode: decodeAs[DPLSW]},
		{Name: "dp-lsl", Private: true, Releases: "value function",
			Assumes: states + " Best for few persons or rarely visited states.", NeedFeatures: true,
			Parameters: []string{"weights: public weight of each state (1)", "lambda: penalty (a public rule)", constants},
			Summary:    doesLSL + hides, parts: true, decode: decodeAs[DPLSL]},
		{Name: "dp-refine", Private: true, Releases: "value function, standard deviations",
			Assumes: "Public bounds on returns, or features of bounded norm. On- and off-policy, any number of trajectories a person. Best where few episodes are cut off.", NeedFeatures: true,
			Parameters: []string{
				"form: monte_carlo, regression or lstd (monte_carlo with tabular or aggregated features, else regression)",
				fmt.Sprintf("rounds: private rounds after the counts (%v)", defaultRounds),
				fmt.Sprintf("max_weight: public cap, off-policy, on a residual in units of the range of returns (%v; on-policy 1)", defaultMaxWeight),
				fmt.Sprintf("spread, deviation: public guesses for the expected error, in units of the range of returns (%v, %v)", defaultSpread, defaultDeviation)},
			Summary: "Noisy counts and averages give a first value function; rounds of noisy, clipped residuals correct it. Noise hides each person’s contribution to every step.", parts: true, decode: decodeAs[DPRefine]},
		{Name: "gpope", Private: true, Releases: "value function",
			Assumes: "Any features, on- or off-policy. No error bar: compare with the constant.", NeedFeatures: true,
			Parameters: []string{"batch: persons per step; 1 is Algorithm 1 of the paper (a public rule)", "sampling: poisson, uniform or everyone (poisson)",
				"iterations, clip, step_theta, step_w: sizes (a public rule)", "schedule: constant, polynomial or diminishing (constant)", "exponent, lambda_min: of the schedule",
				"momentum (0)", "average, project: true or false (true; batch 1: false)", "start: of theta (mid-range; batch 1: 0)", "visits: public probability of each feature",
				"weighting: trajectory or transition (trajectory)", "length: typical trajectory, for transition", "accountant: xie19 to reproduce the paper"},
			Summary: "Many small gradient steps reduce the disagreement between the values and what happened; each person’s contribution to a step is clipped and hidden by noise.", whole: "gpope takes persons by chance, one step after the other; use dp-refine, which makes a few sums, or read the data in one process", decode: decodeAs[GPOPE]},
		{Name: "dp-distribution", Private: true, Releases: "distribution function of the return with a band, quantiles and means of tails with joint 95% intervals",
			Assumes: "Public bounds on returns; off-policy correct logged probabilities. The limits hold whatever is clipped or was never logged. Best on-policy, or for policies close to the logged one.",
			Parameters: []string{fmt.Sprintf("bins: number of equal bins of the range of a return (%d)", defaultReturnBins), "ends: list of the points at which the function is wanted, in place of bins (none)",
				"discrete: true if every return is one of ends (false)", "quantiles: list of shares ([0.1, 0.5, 0.9])", "lower_tails, upper_tails: lists of shares of the lowest and the highest returns, whose means are answers (none)", capped},
			Summary: "Each person’s weight, which tells how much more likely the person’s decisions are under the target policy, counts in the bin of the person’s return. The distribution follows from the sums of weights in the bins." + hides, parts: true, decode: decodeAs[DPDistribution]},
		{Name: "dp-experiment", Private: true, NeedArms: true, Releases: "mean of each arm of a randomised experiment, differences from the control with joint 95% intervals, lifts, a check of the allocation",
			Assumes: "by, whose groups are the arms; target logged; arms drawn independently of outcomes. Features, if any, are one covariate from before the experiment. Limits hold whatever is missing.",
			Parameters: []string{"control: name of the group of by that the others are compared with (required)",
				"allocation: {name: probability} with which arms were drawn, for a check of sample-ratio mismatch and the forecast (none)",
				"differences_only: true leaves means and lifts out, which makes differences narrower (false)",
				"guess: {mean, sd, correlation}: a public guess, for the forecast, of a person's outcome, and of its correlation with the covariate (middle of the range; a bound; half)"},
			Summary: "Each person counts in the sums of their arm, from which mean outcomes and their differences follow." + hides, groups: true, parts: true, decode: decodeAs[DPExperiment]},
		{Name: "dp-learn", Private: true, Releases: "a learned policy, and 90% intervals of what it is worth more than the logged one and than every constant action",
			Assumes: "A target of kind learned; correct logged probabilities, or cells to estimate them in; one decision an episode, or numbered states. Best in randomised trials. With data.outcome censoring independent of the time within arm and part of the rule.", NeedFeatures: true, Learns: true,
			Parameters: []string{"rule: tree, or linear: the action of the largest score, linear in the covariates (tree)", fmt.Sprintf("depth: of the tree, 1 to %d (%d); numbered states have a table", mostDepth, defaultDepth),
				fmt.Sprintf("bins: equal parts of the range of a covariate at whose ends a tree may split (%d)", defaultRuleBins), "share: share of persons who are learned from (one half, or a quarter where that is enough)", capped,
				"budget: largest share of persons who may get another action than 0, of one decision (none)", "monotone: {column: up or down}: as the column rises the number of the action must not fall, or rise (none)",
				"stationary: true for the same action in a state at all decisions (false)",
				"never: [{action, column, above, at_most}]: actions that must not be taken where a column is above one number and at most another (none)"},
			Summary: "Half of the persons, drawn by a secret lot, are learned from: a rule is drawn, with larger probability the larger the weighted outcomes of who was treated by it, or follows from noisy sums of these. The other half judges the policy: its differences from the logged one and from every constant action are noisy sums of weighted outcomes or, of times, follow from noisy counts.",
			whole:   "dp-learn draws by lot who is learned from; read the data in one process", decode: decodeAs[DPLearn]},
		{Name: "dp-survival", Private: true, NeedOutcome: true, Releases: "survival curves with bands, restricted mean or difference with 95% interval, by arm",
			Assumes: "data.outcome; censoring independent of the time to the event within each arm, or under the target policy; without that, or where the design says too little of weights, limits.",
			Parameters: []string{"until: time to which means are restricted, the end of a bin (the last)", "control: name of the group of by that the others are compared with (none)",
				"max_weight: public cap on weights under a target policy (the largest that the design allows; of limits a public rule)",
				"guess: {events: share, dropout: share}: a public guess, for the forecast, of the shares of persons who would have an event by the last bin were nobody censored, and who would be censored were there no events (half, half)"},
			Summary: "Each person counts once: by arm, by the time at which they left, and by whether they left with an event. Curves and means follow from these counts." + hides, several: true, groups: true, parts: true, decode: decodeAs[DPSurvival]},
		{Name: "constant", Private: true, Releases: "a number fixed in advance",
			Assumes:    "Nothing; it never looks at the data.",
			Parameters: []string{"value: the number (middle of the public range)"},
			Summary:    "The answer was fixed before any data was read.", whole: "constant looks at no data; run it without shards", decode: decodeAs[Constant]},
		{Name: "is", Releases: "value of the policy, standard error", Assumes: "privacy: none",
			Summary: doesIS, decode: decodeAs[IS]},
		{Name: "pdis", Releases: "value of the policy, standard error", Assumes: "privacy: none",
			Summary: doesPDIS, decode: decodeAs[PDIS]},
		{Name: "wis", Releases: "value of the policy, standard error", Assumes: "privacy: none",
			Summary: doesWIS, decode: decodeAs[WIS]},
		{Name: "dr", Releases: "value of the policy, standard error",
			Assumes:    "privacy: none; one-row episodes, or features for a value function.",
			Parameters: []string{fmt.Sprintf("prior: number of rows of the overall mean that are added to the mean of an action (%v)", defaultPrior)}, Need: trajectory.Action,
			Summary: "A model predicts the value of each action and is corrected by the weighted error of its predictions; the answer is the mean over persons.", decode: decodeAs[DR]},
		{Name: "distribution", Releases: "distribution function of the return, quantiles, means of tails", Assumes: "privacy: none",
			Parameters: []string{"as dp-distribution has them"}, Summary: "The distribution function is the weighted share of returns up to a point.", decode: decodeAs[ReturnDistribution]},
		{Name: "survival", NeedOutcome: true, Releases: "survival curves, restricted mean or difference, by arm", Assumes: "privacy: none; data.outcome.",
			Parameters: []string{"until: time to which means are restricted, the end of a bin (the last)", "control: name of the group of by that the others are compared with (none)", "max_weight: as dp-survival has it", "guess: as dp-survival has it; not used"},
			Summary:    "The curves are those of Kaplan and Meier, and of Aalen and Johansen for causes that compete.", several: true, groups: true, decode: decodeAs[KaplanMeier]},
		{Name: "lsw", Releases: "value function", Assumes: "privacy: none; on-policy; tabular or aggregated features.", NeedFeatures: true,
			Parameters: []string{"weights: weight of each state (1)"},
			Summary:    doesLSW, decode: decodeAs[LSW]},
		{Name: "lsl", Releases: "value function", Assumes: "privacy: none; on-policy; tabular or aggregated features.", NeedFeatures: true,
			Parameters: []string{"weights: weight of each state (1)", fmt.Sprintf("lambda: penalty (%v)", defaultLambda)},
			Summary:    doesLSL, decode: decodeAs[LSL]},
		{Name: "lstd", Releases: "value function", Assumes: "privacy: none; any features; off-policy by importance ratios.", NeedFeatures: true,
			Parameters: []string{"weighting: transition or trajectory (transition)"},
			Summary:    doesLSTD, decode: decodeAs[LSTD]},
		{Name: "wis-lstd", Releases: "value function", Assumes: "privacy: none; any features.", NeedFeatures: true,
			Parameters: []string{"lambda: trace (0)", "weighting: transition or trajectory (transition)", "ridge (0)"},
			Summary:    "Least squares makes the value of each state agree with the reward that follows and the value of the next state, with self-normalised weights.", decode: decodeAs[WISLSTD]},
		{Name: "gtd2", Releases: "value function", Assumes: "privacy: none; any features.", NeedFeatures: true,
			Parameters: []string{fmt.Sprintf("steps (%d)", defaultSteps), "step_theta, step_w", "weighting (transition)", "length", "seed"},
			Summary:    "Many small gradient steps reduce the disagreement between the values and what happened.", decode: decodeAs[GTD2]},
	}
}

// eachGroup tells whether it makes a release of each group, in place of comparing them as arms.
func (m Method) eachGroup() bool { return m.groups && !m.NeedArms && !m.NeedOutcome }

// MethodNamed finds a method.
func MethodNamed(name string) (Method, error) {
	var names []string
	for _, m := range Methods() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Method{}, fmt.Errorf("%w: method.name is %q; want one of %s", ErrMethod, name, strings.Join(names, ", "))
}

// methodsWith lists the names of the methods that have a property.
func methodsWith(has func(Method) bool) []string {
	var names []string
	for _, m := range Methods() {
		if has(m) {
			names = append(names, m.Name)
		}
	}
	return names
}

// New makes the estimator of a name with parameters as a configuration gives
// them. A parameter that the method does not have is an error.
func New(name string, params map[string]any) (Estimator, error) {
	m, err := MethodNamed(name)
	if err != nil {
		return nil, err
	}
	e, err := m.decode(params)
	if err != nil {
		return nil, fmt.Errorf("%w: method %s: %v%s; it has %s", ErrMethod, name, err, takers(err, params), m.parameters())
	}
	return e, nil
}

// takers says which methods have the parameter that another does not.
func takers(err error, params map[string]any) string {
	for name, v := range params {
		if err.Error() != unknownParameter(strconv.Quote(name)).Error() {
			continue
		}
		var names []string
		for _, m := range Methods() {
			if _, err := m.decode(map[string]any{name: v}); err == nil {
				names = append(names, m.Name)
			}
		}
		if len(names) > 0 {
			return ", which is one of " + strings.Join(names, ", ")
		}
	}
	return ""
}

// unknownParameter takes a name in quotes.
func unknownParameter(quoted string) error { return fmt.Errorf("unknown parameter %s", quoted) }

func (m Method) parameters() string {
	if len(m.Parameters) == 0 {
		return "no parameters"
	}
	return "the parameters " + strings.Join(m.Parameters, "; ")
}

func decodeAs[E Estimator](params map[string]any) (Estimator, error) {
	var e E
	if len(params) == 0 {
		return e, nil
	}
	text, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return nil, parameterError(err)
	}
	return e, nil
}

// parameterError turns the decoder's words about Go into words about parameters.
func parameterError(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s is a %s; want a %s", wrong.Field, wrong.Value, kindWord(wrong.Type.Kind()))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return unknownParameter(name)
	}
	return err
}

func kindWord(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "word"
	case reflect.Slice:
		return "list"
	case reflect.Bool:
		return "true or false"
	}
	return "number"
}
