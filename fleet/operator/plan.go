package operator

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/fleet"
	"github.com/discreet-rl/discreet/fleet/aggregator"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

// Plan is what is known of a run before it begins.
type Plan struct {
	// Epsilon is what one report costs its device, DeviceEpsilon what the run costs a
	// device at most.
	Epsilon       float64 `json:"epsilon_report"`
	DeviceEpsilon float64 `json:"epsilon_device"`
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
}

// Measured is the number of reports to the first success in 20 trials of one process:
// lower quartile, median and upper quartile, and the share of trials that succeed.
type Measured struct {
	Lower, Median, Upper float64
	Share                float64
	// Setting says what was measured.
	Setting string
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

// comparable names the table that a learning belongs to.
func comparable(l *fleet.Learning) (string, string) {
	switch {
	case l == nil || l.Environment != "cart-pole":
		return "", "only cart-pole was measured"
	case l.Local.Method != device.PolicyGradient || len(l.Local.Network.Hidden) > 0 || l.Local.Network.Bias || l.Local.ZeroGradient || l.Local.Greedy:
		return "", "only the policy gradient of a linear policy without bias was measured"
	case l.Local.Steps == 1 && l.Local.Episodes == 1:
		return oneEpisode, ""
	case l.Local.Steps == 30 && l.Local.Episodes == 2:
		return localTraining, ""
	}
	return "", "only one local step of one episode, and 30 of two, were measured"
}

// expected reads the tables at an epsilon, between two of theirs on a line in the
// logarithms of both.
func expected(l *fleet.Learning, r train.Randomizer) (*Measured, string) {
	setting, why := comparable(l)
	if why != "" {
		return nil, why
	}
	rows := measured[setting][r.Mechanism]
	if rows == nil {
		return nil, "only sign-prs and privunit were measured"
	}
	if r.Epsilon < rows[0].epsilon || r.Epsilon > rows[len(rows)-1].epsilon {
		return nil, fmt.Sprintf("reports at epsilon %.4g were not measured; those from .5 to 10 were", r.Epsilon)
	}
	i := 1
	for r.Epsilon > rows[i].epsilon {
		i++
	}
	a, b := rows[i-1], rows[i]
	at := math.Log(r.Epsilon/a.epsilon) / math.Log(b.epsilon/a.epsilon)
	between := func(x, y float64) float64 { return math.Exp((1-at)*math.Log(x) + at*math.Log(y)) }
	return &Measured{between(a.lower, b.lower), between(a.median, b.median), between(a.upper, b.upper), min(a.share, b.share), setting}, ""
}

// sizeOfSpec is about that of a signed round with its envelope, in bytes.
const sizeOfSpec = 320

// NewPlan says what is known of a run with the schedule; l is nil where devices learn
// something of which this module knows nothing.
func NewPlan(r Run, s aggregator.Schedule, l *fleet.Learning) (Plan, error) {
	if err := s.Validate(); err != nil {
		return Plan{}, err
	}
	size, err := r.ReportBytes()
	if err != nil {
		return Plan{}, err
	}
	if r.Reports < 1 {
		return Plan{}, fmt.Errorf("%w: %d reports a device; want 1 at least", ErrConfig, r.Reports)
	}
	p := Plan{
		Epsilon: r.Randomizer.Epsilon, DeviceEpsilon: float64(r.Reports) * r.Randomizer.Epsilon,
		Reports: float64(s.Rounds) * float64(s.MaxReports),
		Seconds: float64(s.Rounds) * (s.TrainSeconds + s.UploadSeconds),
		BytesUp: size + fleet.Overhead + 32, BytesDown: 8*r.Dim + sizeOfSpec,
	}
	p.Devices = math.Ceil(p.Reports / float64(r.Reports))
	p.Devices = max(p.Devices, float64(s.MaxReports)) // one report a device and round
	if s.Evaluations() > 0 {
		p.StdError = aggregator.NewSuccess(0, uint64(s.MaxReports), r.Randomizer.Epsilon, s.Evaluations()).StdError
	}
	p.Success, p.Unmeasured = expected(l, r.Randomizer)
	return p, nil
}
