package operator

import (
	"fmt"
	"math"
	"reflect"

	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

// Plan is what is known of a run before it begins.
type Plan struct {
	// Epsilon is what one report costs its device, DeviceEpsilon what the run costs a
	// device at most.
	Epsilon       float64 `json:"epsilon_report"`
	DeviceEpsilon float64 `json:"epsilon_device"`
	// ReportsPerDevice is the number of reports that a device makes at most, and Asked what the
	// schedule asks of it on average.
	ReportsPerDevice int     `json:"reports_per_device"`
	Asked            float64 `json:"reports_asked"`
	// Refused says why no such run is created; empty where it is.
	Refused string `json:"refused,omitempty"`
	// Reports is the number that the schedule wants at most, of both kinds, and Devices how
	// many devices send them if each sends as many as it may.
	Reports float64 `json:"reports"`
	Devices float64 `json:"devices_at_least"`
	// Success is what was measured; nil where nothing comparable was.
	Success *Measured `json:"success,omitempty"`
	// Unmeasured says why Success is nil.
	Unmeasured string `json:"unmeasured,omitempty"`
	// Seconds is the time that the rounds take at most.
	Seconds float64 `json:"seconds"`
	// BytesUp and BytesDown are those of one report: the message, and weights with the
	// round's spec; without TLS and HTTP, which add some 3 kB to a fresh connection.
	BytesUp   int `json:"bytes_up"`
	BytesDown int `json:"bytes_down"`
	// StdError bounds the standard deviation of private success in an evaluation of
	// the most reports that a round takes; 0 without evaluations.
	StdError float64 `json:"success_std_error,omitempty"`
	// Answers are those of an evaluation at most, and AnswersNeeded those without which it tells nothing.
	Answers       uint64 `json:"answers,omitempty"`
	AnswersNeeded uint64 `json:"answers_needed,omitempty"`
	// TooFew says that the schedule has fewer reports than half of the trials needed; empty where it has enough.
	TooFew string `json:"too_few,omitempty"`
}

// Measured is the number of reports to the first success in 20 trials of one process:
// lower quartile, median and upper quartile, and the share of trials that succeed.
type Measured struct {
	Lower, Median, Upper float64
	Share                float64
	// Setting says what was measured.
	Setting string
	// Between are the two values of epsilon that were measured, where that of the run lies
	// between them and the numbers are on a line; nil where it was measured itself.
	Between []float64 `json:",omitempty"`
}

// row is a line of docs/results/training.md, "Training that works".
type row struct {
	epsilon              float64
	lower, median, upper float64
	share                float64
}

// measured are the tables, by learning and mechanism. Their buffers, steps and decay are
// functions of epsilon, which are given there; other ones do worse.
var measured = map[string]map[train.Mechanism][]row{
	oneEpisode: {
		train.PrivUnit: {{.5, 2742, 6478, 13685, .95}, {1, 794, 1208, 2081, 1}, {2, 379, 619, 946, 1}, {5, 177, 246, 304, 1}, {10, 132, 168, 201, 1}},
		train.SignPRS:  {{.5, 1689, 4145, 6191, 1}, {1, 921, 1285, 1752, 1}, {2, 446, 766, 1044, 1}, {5, 267, 376, 584, 1}, {10, 166, 273, 359, .95}},
	},
	localTraining: {
		train.PrivUnit: {{.5, 402, 446, 575, 1}, {1, 133, 156, 213, 1}, {2, 82, 88, 104, 1}, {5, 47, 52, 62, 1}, {10, 30, 34, 41, 1}},
		train.SignPRS:  {{.5, 302, 495, 870, 1}, {1, 127, 192, 228, 1}, {2, 80, 107, 130, 1}, {5, 57, 70, 83, 1}, {10, 39, 42, 53, 1}},
	},
}

const (
	oneEpisode    = "one episode a report"
	localTraining = "30 local steps of two episodes a report"
)

// linear is the learning that was measured: a linear policy without bias by the policy gradient, in
// one step of one episode or 30 of two.
func linear(steps int) device.Local {
	l := device.Local{Method: device.PolicyGradient, Network: learn.Network{Inputs: 4, Actions: 2}, Steps: steps, Episodes: 1, PolicyGradient: learn.PolicyGradient{Gamma: .99}}
	if steps > 1 {
		l.Episodes, l.Optimizer = 2, train.Optimizer{Kind: "momentum", Step: .1}
	}
	return l
}

// firstBuffer is the number of reports of the first update that was measured; each later one has 1% more.
func firstBuffer(setting string, epsilon float64) float64 {
	n := 20.
	if setting == localTraining {
		n = 5
	}
	return math.Ceil(n*max(1/epsilon, 1)*min(1/math.Sqrt(epsilon), 1) - 1e-6)
}

// comparable names the table that a run belongs to, or says what about it nobody has measured.
func comparable(l *fleet.Learning, by aggregator.Learning) (setting, why string) {
	if l == nil || l.Environment != "cart-pole" {
		return "", "only cart-pole was measured"
	}
	is := l.Local
	if is.MaxSteps == 200 { // the environment's own
		is.MaxSteps = 0
	}
	if is.Optimizer.Momentum == .9 { // the default
		is.Optimizer.Momentum = 0
	}
	for name, steps := range map[string]int{oneEpisode: 1, localTraining: 30} {
		if reflect.DeepEqual(is, linear(steps)) {
			setting = name
		}
	}
	server := by.Optimizer
	if server.Momentum == .9 {
		server.Momentum = 0
	}
	switch {
	case setting == "":
		return "", "only the policy gradient of a linear policy without bias was measured, with gamma .99, in one local step of one episode, or in 30 steps of two with momentum of step .1"
	case server != train.Optimizer{Kind: "momentum", Step: .3, Decay: 1000} || by.Influence != train.Influence{}:
		return "", "only server.optimizer {kind: momentum, step: 0.3, decay: 1000} was measured, without server.influence"
	}
	return setting, ""
}

// expected reads the tables at an epsilon, between two of theirs on a line in the
// logarithms of both.
func expected(l *fleet.Learning, by aggregator.Learning, r train.Randomizer, s aggregator.Schedule) (*Measured, string) {
	setting, why := comparable(l, by)
	if why != "" {
		return nil, why
	}
	rows := measured[setting][r.Mechanism]
	if rows == nil {
		return nil, "only sign-prs and privunit were measured"
	}
	// The epsilon of a randomizer is a little below what was asked for.
	near := func(e float64) bool { return math.Abs(r.Epsilon-e) <= 1e-9*e }
	first, last := rows[0].epsilon, rows[len(rows)-1].epsilon
	if r.Epsilon < first && !near(first) || r.Epsilon > last && !near(last) {
		return nil, fmt.Sprintf("reports at epsilon %.4g were not measured; those from .5 to 10 were", r.Epsilon)
	}
	if b := firstBuffer(setting, r.Epsilon); b < float64(s.MinReports) || b > float64(s.MaxReports) {
		return nil, fmt.Sprintf("rounds of %d to %d reports were not measured; updates of %.0f and more were, at this epsilon", s.MinReports, s.MaxReports, b)
	}
	for _, row := range rows {
		if near(row.epsilon) {
			return &Measured{Lower: row.lower, Median: row.median, Upper: row.upper, Share: row.share, Setting: setting}, ""
		}
	}
	i := 1
	for r.Epsilon > rows[i].epsilon {
		i++
	}
	a, b := rows[i-1], rows[i]
	at := math.Log(r.Epsilon/a.epsilon) / math.Log(b.epsilon/a.epsilon)
	between := func(x, y float64) float64 { return math.Exp((1-at)*math.Log(x) + at*math.Log(y)) }
	return &Measured{between(a.lower, b.lower), between(a.median, b.median), between(a.upper, b.upper), min(a.share, b.share), setting, []float64{a.epsilon, b.epsilon}}, ""
}

// Pays is how many reports a budget of epsilon pays for, of those that the run may ask for.
func (p Plan) Pays(budget float64) int {
	return int(min(math.Floor(budget/p.Epsilon), float64(p.ReportsPerDevice)))
}

// sizeOfSpec is about that of a signed round with its envelope, in bytes.
const sizeOfSpec = 320

// NewPlan says what is known of a run with the schedule; l is nil where devices learn
// something of which this module knows nothing, and by is how the server learns.
func NewPlan(r Run, s aggregator.Schedule, l *fleet.Learning, by aggregator.Learning) (Plan, error) {
	if err := s.Validate(); err != nil {
		return Plan{}, err
	}
	size, err := r.ReportBytes()
	if err != nil {
		return Plan{}, err
	}
	if err := r.Validate(); err != nil {
		return Plan{}, err
	}
	_, most := s.OfEvaluations()
	trains, evaluates := float64(s.Rounds-s.Evaluations())*float64(s.MaxReports), float64(s.Evaluations())*float64(most)
	p := Plan{
		Epsilon: r.Randomizer.Epsilon, DeviceEpsilon: float64(r.Reports) * r.Randomizer.Epsilon,
		ReportsPerDevice: r.Reports, Asked: s.Asked(),
		Reports: trains + evaluates,
		Seconds: float64(s.Rounds) * (s.TrainSeconds + s.UploadSeconds),
		BytesUp: size + fleet.Overhead + 32, BytesDown: 8*r.Dim + sizeOfSpec,
	}
	p.Devices = math.Ceil(p.Reports / float64(r.Reports))
	p.Devices = max(p.Devices, float64(s.MaxReports)) // one report a device and round
	if s.Evaluations() > 0 {
		p.StdError = aggregator.NewSuccess(0, uint64(most), r.Randomizer.Epsilon, s.Evaluations()).StdError
		p.Answers, p.AnswersNeeded = uint64(most), aggregator.Needed(r.Randomizer.Epsilon, s.Evaluations())
	}
	if err := r.Suits(s); err != nil {
		p.Refused = err.Error()
	}
	p.Success, p.Unmeasured = expected(l, by, r.Randomizer, s)
	if p.Success != nil && trains < p.Success.Median {
		p.TooFew = fmt.Sprintf("the schedule trains with %.0f reports at most", trains)
	}
	return p, nil
}
