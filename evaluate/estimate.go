package evaluate

import (
	"fmt"
	"math"
	"strings"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
)

// Overlap tells how well the logged decisions cover the target policy. It is
// released when a share of the budget was set aside for it, as the diagnostic
// "overlap".
type Overlap struct {
	// EffectiveSampleSize is (sum d)^2 / sum d^2 over the persons' weights d,
	// clipped: the number of persons whose plain mean would vary as much (Kish
	// 1965). 0 where noise hides it.
	EffectiveSampleSize float64 `json:"effective_sample_size"`
	// EffectiveSD is the standard deviation, to first order, of its noise.
	EffectiveSD float64 `json:"effective_sample_size_std"`
	// MeanWeight is the mean of the clipped weights. It is 1 where the logged
	// probabilities are right and nothing is clipped; what is missing to 1 was
	// clipped or never logged, or is allowed for as confounding.
	MeanWeight   float64 `json:"mean_weight"`
	MeanWeightSD float64 `json:"mean_weight_std"`
	// ClippedShare is the share of persons whose contribution the clip cuts.
	ClippedShare   float64 `json:"clipped_share"`
	ClippedShareSD float64 `json:"clipped_share_std"`
}

// numbers are the facts that the numerics of a private method rest on.
func (p Public) numbers() facts.Public {
	return facts.Public{
		Persons: p.Persons, Adjacency: p.Privacy.Adjacency, Noise: p.Privacy.Noise,
		Gamma: p.Gamma, Reward: facts.Range(p.Reward), Returns: facts.Range(p.Returns()), Horizon: p.Horizon,
		Features: p.Features, Target: p.Target, Guessed: p.share != nil && p.share.guessed,
	}
}

// estimated is the release of a number that was paid for.
func estimated(e *scalar.Estimate) *Release {
	r := &Release{
		Estimate: &Estimate{
			Value:       e.Value,
			Interval:    e.Interval,
			Clipping:    e.Clipping,
			Confidence:  0.95,
			StdSampling: e.StdSampling,
			Sampling:    Paid,
			StdPrivacy:  e.StdPrivacy,
		},
		Diagnostics: map[string]any{},
	}
	if e.Missing != nil {
		r.Diagnostics["missing_mass"] = map[string]float64{"share": e.Missing.Share, "share_std": e.Missing.SD}
		r.Diagnostics["sums"] = (*sums)(e.Sums)
		r.Notes = missingNotes(e)
		if m := e.Missing; m.Refuted {
			r.Diagnostics["weights_refuted"] = map[string]float64{"mean_weight": m.MeanWeight, "mean_weight_std": m.SD}
			r.first = refutedNote(m)
		}
	}
	if e.Clip != nil {
		r.Diagnostics["clip"] = Range(*e.Clip)
	}
	if e.MaxWeight != nil {
		r.Diagnostics["max_weight"] = *e.MaxWeight
	}
	if e.Overlap != nil {
		r.Diagnostics["overlap"] = (*Overlap)(e.Overlap)
	}
	if e.Baseline != nil {
		r.Diagnostics["baseline"] = baselineFacts(e.Baseline)
	}
	return r
}

// sums are the noisy sums of estimates from below and above, in shares of the range
// that fact clip tells: x of rewards and z of losses that the weights vouch for.
type sums struct {
	Persons float64 `json:"count"`
	X       float64 `json:"x"`
	Z       float64 `json:"z"`
	XX      float64 `json:"xx"`
	XZ      float64 `json:"xz"`
	ZZ      float64 `json:"zz"`
}

// refutedNote says what a mean weight above 1 shows.
func refutedNote(m *scalar.Missing) string {
	return fmt.Sprintf("The probabilities of the logged actions are wrong: the mean weight of a person is %.3g (standard error %.2g), but with correct probabilities it is at most 1. A common cause is an arm that was drawn once but is recorded as drawn again at each decision. The interval is the whole public range, and the value is meaningless.", m.MeanWeight, m.SD)
}

// missingNotes say what the missing mass means.
func missingNotes(e *scalar.Estimate) []string {
	var notes []string
	hidden := ""
	if e.Missing.Confounded {
		hidden = ", or is left open by hidden confounding within the stated factor"
	}
	switch m := e.Missing; {
	case m.Share < 0.005:
	case m.Unguarded:
		notes = append(notes, fmt.Sprintf("Mean weight: %.0f%% below 1, with a standard error of %.0f%% from privacy noise and sampling. By the design weight is missing only if records are lost, and the curator states that none is; the interval does not allow for missing weight.", 100*m.Share, 100*m.SD))
	case !m.Sure(): // as it may well be where nothing is missing
		notes = append(notes, fmt.Sprintf("Missing mass: %.0f%%, with a standard error of %.0f%%. Privacy noise and sampling can produce this even if nothing is missing. The interval allows for it.", 100*m.Share, 100*m.SD))
	case m.Usable:
		notes = append(notes, fmt.Sprintf("Missing mass: the data say nothing about %.0f%% (standard error %.0f%%) of what happened. It was in episodes that cannot be used and were left out, or came after a record was cut off. For this share the interval allows any value in the public range; the value is that of the rest.", 100*m.Share, 100*m.SD))
	default:
		notes = append(notes, fmt.Sprintf("Missing mass: the data say nothing about %.0f%% (standard error %.0f%%) of what the target policy would do. It was never logged, was logged only with weights above the cap, comes after a record was cut off, or was in an episode that cannot be used and was left out%s. For this share the interval allows any value in the public range.", 100*m.Share, 100*m.SD, hidden))
	}
	if e.Missing.Doubted {
		notes = append(notes, "The plan left the guard out, but more weight is missing than chance explains: the design, or the statement that no record is lost, does not hold. The likeliest cause is probabilities that are wrong or belong to other actions (arms swapped, perhaps); actions that departed from the design and lost records are others. The interval is guarded after all, and wider than expected. If the probabilities are wrong, the guard does not correct that.")
	}
	if e.Undetermined {
		notes = append(notes, "The noisy sum of weights is too small to divide by, so the value is pulled towards the middle of the range; the interval is not affected. A larger epsilon, more persons, a shorter horizon, or data logged by a policy closer to the target would help.")
	}
	return notes
}

// baselineFacts is the form in which a baseline is told.
func baselineFacts(g *scalar.Guess) map[string]any {
	out := map[string]any{"value": g.Overall}
	if g.Action != nil {
		out["action_values"] = g.Action
	}
	if g.State != nil {
		out["state_values"] = g.State
	}
	return out
}

// expect fills in the errors of a scalar that are known beforehand.
func (p *Plan) expect(private, sampling float64) {
	p.Expected.StdPrivacy = private
	p.Expected.StdSampling = sampling
	p.Expected.HalfWidth = scalar.Z95 * math.Hypot(private, sampling)
	p.Expected.Constant = p.public.Returns().Width() / 2
}

// meanOf fixes the budget of every stage of a mean. shares.Main is filled in.
func meanOf(method string, p Public, n scalar.ClipRanges, cap float64, shares scalar.Stages) (scalar.Mean, error) {
	if !(n.Below+n.Above > 0) {
		return scalar.Mean{}, fmt.Errorf("%w: %s: the public range of a return is a single point; give problem.reward or problem.return a width", ErrPublic, method)
	}
	noise, err := splitStages(method, *p.Privacy, shares)
	if err != nil {
		return scalar.Mean{}, err
	}
	return scalar.Mean{Public: p.numbers(), Ranges: n, Cap: cap, Noise: noise, Tail: scalar.HeavyTail()}, nil
}

// describeMean tells what is known of a mean beforehand, at the widest clip.
func (p *Plan) describeMean(w scalar.Mean) error {
	private, sampling, err := w.Expected()
	if err != nil {
		return err
	}
	p.expect(private, sampling)
	p.Expected.HalfWidth = w.ExpectedHalf(private, sampling)
	clip := Range(w.Ranges.At(0))
	p.Facts["clip"] = clip
	if w.Noise.Clip == 0 {
		p.Notes = append(p.Notes, p.words(fmt.Sprintf("The contribution of each person is clipped to [%g, %g], and the interval is one for the mean of the clipped contributions. If contributions lie outside that range, clipping biases the estimate by an amount that the interval does not include.", clip.Min, clip.Max)))
	} else {
		p.Facts["clip_choices"] = w.Ranges.Steps + 1
		p.Notes = append(p.Notes, fmt.Sprintf("The clip is chosen from a private histogram, inside [%g, %g]; the expected errors are those of the widest clip. The interval is lengthened by what the histogram shows to be clipped within that range; it does not allow for contributions beyond the range, nor for tails too thin to be distinguished from noise.", clip.Min, clip.Max))
	}
	p.describeEpisodes()
	return nil
}

// expectBounds fills in the errors that are known beforehand of estimates from below
// and above, at the cap that suits a budget where the cap is yet to be chosen.
func (p *Plan) expectBounds(b scalar.Bounds) (cap float64, err error) {
	cap = b.Caps.At(0).Max
	if b.Noise.Clip != 0 {
		affordable, err := affordableWeight(p.public)
		if err != nil {
			return 0, err
		}
		cap = min(cap, affordable)
		p.Facts["clip_choices"] = b.Caps.Steps + 1
	}
	private, sampling, err := b.Expected(cap)
	p.expect(private, sampling)
	p.Facts["clip"] = Range(b.Range)
	return cap, err
}

// describeBounds tells what is known beforehand of estimates from below and above. No
// weight is above largest.
func (p *Plan) describeBounds(b scalar.Bounds, largest, confounding float64, guess *WeightGuess) error {
	if b.Uncut != nil {
		if guess != nil {
			p.Notes = append(p.Notes, "The guess of weights is not used, because the public design determines them.")
		}
		return p.describeUncut(b)
	}
	widest := b.Caps.At(0).Max
	cap, err := p.expectBounds(b)
	if err != nil {
		return err
	}
	if b.Usable {
		return p.describeUsable(b)
	}
	rests := p.restsOn(confounding)
	cuts := fmt.Sprintf("whatever weights are clipped (here those above %.4g)", widest)
	if b.Noise.Clip == 0 && widest >= largest {
		cuts = fmt.Sprintf("with no weight clipped, since by the design none exceeds %.4g,", largest)
	}
	words := fmt.Sprintf("The interval extends from a lower estimate of the value to an upper one, each with its error. It covers the value of the policy %s and whatever was never logged, assuming %s.", cuts, rests)
	if b.Noise.Clip != 0 {
		words += fmt.Sprintf(" The cap on weights is chosen from a private histogram; the expected errors are those at a cap of %.3g without missing mass.", cap)
	}
	if guess != nil {
		half, at, err := b.Forecast(scalar.Weighing(*guess))
		if err != nil {
			return err
		}
		p.Expected.HalfWidth = half
		words += fmt.Sprintf(" The expected half width follows from the guess of weights: an effective sample size of %.3g times the number of persons and a missing mass of %.3g, with weights capped at %.3g.", guess.Effective, guess.Missing, at)
	}
	p.Notes = append(p.Notes, words)
	p.describeEpisodes()
	p.describeBehavior(b.Logistic)
	return nil
}

// describeUsable tells what is known beforehand of a mean of episodes that may be missing.
func (p *Plan) describeUsable(b scalar.Bounds) error {
	half, err := b.ExpectedMean()
	if err != nil {
		return err
	}
	p.Expected.HalfWidth = half
	p.Notes = append(p.Notes, "The interval extends from a lower estimate of the mean return to an upper one, each with its error. An episode that is left out because it cannot be used may be worth anything in the public range of a return, and one that was cut off may have gone on in any way that the public ranges allow: both are missing mass, for whatever reason they are missing.")
	p.describeEpisodes()
	return nil
}

// describeAbsent says of a method without missing mass what it does not allow for. One that
// bootstraps goes on from the observation at which an episode was cut off.
func (p *Plan) describeAbsent(bootstraps bool) {
	if p.public.Complete {
		return
	}
	if p.public.decisions() > 1 && p.public.Labels["end"] != "terminated" && !bootstraps {
		p.Notes = append(p.Notes, "An episode that was cut off counts as ended there: nothing here allows for what would have followed, and the curator alone sees how many there are.")
	}
	p.Notes = append(p.Notes, p.words("An episode that is left out because it cannot be used does not count, nor does a person without any: nothing here allows for what is missing, and the curator alone sees how much it is."))
}

// describeEpisodes says what the mean over a person's episodes supposes, where a person
// may have several: docs/proofs/overlap.md.
func (p *Plan) describeEpisodes() {
	if u := p.public.Privacy.Unit; u != "" && u != Person || p.public.Episodes == 1 || p.public.Horizon <= 1 {
		return
	}
	p.Notes = append(p.Notes, "A person may have several episodes and counts with their mean. That mean is the value of an episode if the number of episodes that count does not depend on how they went. If people stop after a success, come back after a failure, or have a later episode that the horizon cuts short, it is a different number, and the interval does not allow for the difference. With problem.episodes: 1 only first episodes count.")
}

// describeBehavior tells how the probabilities of logged actions are estimated, where they
// are; by is the regression, nil for counts.
func (p *Plan) describeBehavior(by *scalar.Logistic) {
	b := p.public.Behavior
	if b == nil {
		return
	}
	drawn := "every decision was made"
	if b.Once {
		drawn = "the first decision of every episode was made"
	}
	if by != nil {
		p.Notes = append(p.Notes, p.words(fmt.Sprintf("The probabilities of the logged actions were not known. They are estimated from the same persons, by a logistic regression of %d actions on %d public features in %d rounds of noisy gradients and information matrices; their privacy cost is included. Weights are computed from upper limits of the probabilities, and what these leave over is missing mass. It is assumed that %s with probabilities that are a logistic function of these features and of nothing else, and that the errors of the regression are normal; nothing in this release can show whether that is so.", by.Actions, by.Dim, scalar.LogisticRounds, drawn)))
	} else {
		p.Notes = append(p.Notes, p.words(fmt.Sprintf("The probabilities of the logged actions were not known. They are estimated from the same persons, by noisy counts of first decisions in %d public cells of %d actions; their privacy cost is included. Weights are computed from upper limits of the probabilities, and what these leave over is missing mass. It is assumed that within a cell %s with the same probabilities, whatever else was known about the person.", max(b.States, 1), b.Actions, drawn)))
	}
	if b.Once {
		p.Notes = append(p.Notes, "Actions were drawn once per episode: later decisions have probability 1, which is also an upper limit, so the interval holds even where the drawn action was not kept to.")
	}
}

// restsOn says what the intervals of a plan take for granted.
func (p *Plan) restsOn(confounding float64) string {
	if p.public.Behavior == nil {
		return restsOn(confounding)
	}
	return strings.Replace(restsOn(confounding), "logged", "estimated", 1)
}

// restsOn says what intervals off-policy take for granted.
func restsOn(confounding float64) string {
	if confounding <= 1 {
		return "correct logged probabilities"
	}
	return fmt.Sprintf("logged odds that are correct within a factor of %g: given hidden circumstances, the odds of each logged action may be that many times larger or smaller than recorded, which adds to the missing mass. No data can show whether the factor is large enough", confounding)
}
