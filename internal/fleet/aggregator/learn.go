package aggregator

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/train"
)

// Learning is how reports move the weights. All of it is post-processing.
type Learning struct {
	Optimizer train.Optimizer `json:"optimizer"`
	Influence train.Influence `json:"influence"`
}

// Memory is what the optimizer carries from one update to the next.
type Memory struct {
	Optimizer train.OptimizerState `json:"optimizer"`
	// Baseline is the running mean of the signs that one-bit reports say.
	Baseline float64 `json:"baseline,omitempty"`
}

// NewMemory is that before the first update.
func (l Learning) NewMemory(dim int) Memory {
	return Memory{Optimizer: l.Optimizer.NewState(dim)}
}

// Reports hands the reports of a round that is closed to the function, in the order of
// their nullifiers.
type Reports func(func(nullifier [32]byte, body []byte) error) error

// Update is what the reports of a round come to.
type Update struct {
	Theta    []float64 // nil for an evaluation
	Memory   Memory
	Accepted uint64
	Positive uint64 // reports of an evaluation that say yes
	// Digest is the SHA-256 of "discreet fleet sum 1", a zero byte, the number of reports as
	// 8 bytes and their sum, 8 bytes a number, all little-endian.
	Digest [sha256.Size]byte
	Sum    []float64
}

// signsRemembered is the length of the running mean of signs, as in package train.
const signsRemembered = 200

// Apply adds up the reports of a round and moves the weights, which are not changed
// themselves; before is the number of reports that moved them so far. Equal reports
// give equal weights, bit for bit, in whatever order they arrived. The error wraps
// [ErrDiverged] where the weights overflow.
func (l Learning) Apply(round *fleet.Round, theta []float64, m Memory, before uint64, reports Reports) (Update, error) {
	u := Update{Memory: m}
	codec := round.Codec()
	estimate := make([]float64, codec.Dim())
	if round.Kind == fleetv1.Kind_KIND_EVALUATE {
		err := reports(func(nullifier [32]byte, body []byte) error {
			u.Accepted++
			err := codec.Decode(estimate, body, round.Seed(nullifier))
			if estimate[0] > 0 {
				u.Positive++
			}
			return err
		})
		return u, err
	}
	u.Theta = slices.Clone(theta)
	u.Memory.Optimizer.First, u.Memory.Optimizer.Second = slices.Clone(m.Optimizer.First), slices.Clone(m.Optimizer.Second)
	sum := make([]float64, len(theta))
	u.Sum = sum
	err := reports(func(nullifier [32]byte, body []byte) error {
		seed := round.Seed(nullifier)
		if err := codec.Decode(estimate, body, seed); err != nil {
			return err
		}
		u.Accepted++
		if codec.Randomizer().Mechanism == train.OneBit {
			sign := estimate[0]
			train.Perturb(estimate, seed, -(sign - u.Memory.Baseline))
			u.Memory.Baseline += (sign - u.Memory.Baseline) / float64(min(before+u.Accepted, signsRemembered))
		}
		l.Influence.Clip(estimate, u.Memory.Optimizer.First)
		for i, v := range estimate {
			sum[i] += v
		}
		return nil
	})
	if err != nil || u.Accepted == 0 {
		return u, err
	}
	u.Digest = DigestOf(u.Accepted, sum)
	return u, l.Move(round, u.Theta, &u.Memory, before, u.Accepted, sum)
}

// Move moves weights by the sum of so many reports, in place. The error wraps [ErrDiverged] where they overflow.
func (l Learning) Move(round *fleet.Round, theta []float64, m *Memory, before, accepted uint64, sum []float64) error {
	mean, scale := slices.Clone(sum), 1/float64(accepted)
	for i := range mean {
		mean[i] *= scale
	}
	l.Optimizer.Apply(theta, mean, &m.Optimizer, before+accepted)
	for _, v := range theta {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%w in round %d: make optimizer.step smaller", ErrDiverged, round.Number)
		}
	}
	return nil
}

// encodeSum writes a sum, which may hold what weights may not, as it is published.
func encodeSum(sum []float64) []byte {
	out := make([]byte, 0, 8*len(sum))
	for _, v := range sum {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

// DigestOf is the digest of an [Update].
func DigestOf(n uint64, sum []float64) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte("discreet fleet sum 1\x00"))
	h.Write(binary.LittleEndian.AppendUint64(nil, n))
	for _, v := range sum {
		h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Schedule says which rounds follow each other without the operator. A schedule of
// no rounds leaves all of them to the operator.
type Schedule struct {
	// Rounds is the number of rounds of the run, which ends after the last.
	Rounds uint64 `json:"rounds" yaml:"rounds"`
	// TrainSeconds is for training, UploadSeconds for sending reports.
	TrainSeconds  float64 `json:"train_seconds" yaml:"train_seconds"`
	UploadSeconds float64 `json:"upload_seconds" yaml:"upload_seconds"`
	// SampleRate is the probability with which a device takes part in a round; 1 unless
	// set.
	SampleRate float64 `json:"sample_rate" yaml:"sample_rate"`
	// Below MinReports a round is abandoned; at MaxReports it is closed early.
	MinReports uint32 `json:"min_reports" yaml:"min_reports"`
	MaxReports uint32 `json:"max_reports" yaml:"max_reports"`
	// Every EvaluateEvery-th round evaluates; 0 for none. Threshold is the score to reach.
	EvaluateEvery uint64  `json:"evaluate_every,omitempty" yaml:"evaluate_every"`
	Threshold     float64 `json:"threshold,omitempty" yaml:"threshold"`
	// EvaluateRate and EvaluateReports are the sample_rate and max_reports of evaluations; those of
	// training unless set.
	EvaluateRate    float64 `json:"evaluate_rate,omitempty" yaml:"evaluate_rate"`
	EvaluateReports uint32  `json:"evaluate_reports,omitempty" yaml:"evaluate_reports"`
}

// OfEvaluations are the sample rate and the most reports of an evaluation.
func (s Schedule) OfEvaluations() (rate float64, most uint32) {
	return cmp.Or(s.EvaluateRate, s.SampleRate), cmp.Or(s.EvaluateReports, s.MaxReports)
}

// Asked is how many reports the schedule asks of a device, on average.
func (s Schedule) Asked() float64 {
	rate, _ := s.OfEvaluations()
	n := float64(s.Evaluations())
	return (float64(s.Rounds)-n)*s.SampleRate + n*rate
}

// Evaluations is the number of rounds that evaluate.
func (s Schedule) Evaluations() uint64 {
	if s.EvaluateEvery == 0 {
		return 0
	}
	return s.Rounds / s.EvaluateEvery
}

// longestWindow bounds the parts of a round in seconds: 30 days.
const longestWindow = 30 * 24 * 3600

// Validate tells what is out of range, wrapping [ErrConfig].
func (s Schedule) Validate() error {
	if s == (Schedule{}) {
		return nil
	}
	seconds := func(x float64) bool { return x >= .001 && x <= longestWindow }
	switch {
	case s.Rounds == 0:
		return fmt.Errorf("%w: schedule: rounds is 0; want the number of rounds, or no schedule", ErrConfig)
	case !seconds(s.TrainSeconds) || !seconds(s.UploadSeconds):
		return fmt.Errorf("%w: schedule: %v s to train and %v s to upload; want 0.001 to %d", ErrConfig, s.TrainSeconds, s.UploadSeconds, longestWindow)
	case !(s.SampleRate > 0 && s.SampleRate <= 1):
		return fmt.Errorf("%w: schedule: sample_rate is %v; want above 0 to 1", ErrConfig, s.SampleRate)
	case s.MinReports < 1 || s.MaxReports < s.MinReports:
		return fmt.Errorf("%w: schedule: %d to %d reports a round; want 1 at least, and no more at least than at most", ErrConfig, s.MinReports, s.MaxReports)
	case s.EvaluateEvery == 0 && (s.EvaluateRate != 0 || s.EvaluateReports != 0):
		return fmt.Errorf("%w: schedule: evaluate_rate and evaluate_reports are of evaluations; want evaluate_every beside them", ErrConfig)
	case !(s.EvaluateRate >= 0 && s.EvaluateRate <= 1) || s.EvaluateReports > 0 && s.EvaluateReports < s.MinReports:
		return fmt.Errorf("%w: schedule: evaluate_rate is %v and evaluate_reports %d; want a rate of 1 at most, and no fewer reports than min_reports", ErrConfig, s.EvaluateRate, s.EvaluateReports)
	case s.EvaluateEvery == 1:
		return fmt.Errorf("%w: schedule: every round evaluates, and none trains; make evaluate_every 2 or more", ErrConfig)
	case math.IsNaN(s.Threshold) || math.IsInf(s.Threshold, 0) || s.EvaluateEvery == 0 && s.Threshold != 0:
		return fmt.Errorf("%w: schedule: threshold is %v; want a finite number, and evaluate_every beside it", ErrConfig, s.Threshold)
	}
	return nil
}

// settings are what the operator fixed when the run was made.
type settings struct {
	Learning
	Schedule    Schedule `json:"schedule"`
	Evaluations uint64   `json:"evaluations"`
}

func (s settings) validate() error {
	if err := s.Optimizer.Validate("optimizer"); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if f := s.Influence; !(f.Norm >= 0) || math.IsInf(f.Norm, 0) || !(f.Along >= 0) || math.IsInf(f.Along, 0) {
		return fmt.Errorf("%w: influence: norm %v, along %v; want finite numbers, 0 for no bound", ErrConfig, f.Norm, f.Along)
	}
	if err := s.Schedule.Validate(); err != nil {
		return err
	}
	if n := s.Schedule.Evaluations(); n > s.Evaluations {
		return fmt.Errorf("%w: the schedule evaluates %d times and %d are announced; intervals hold for those that are announced", ErrConfig, n, s.Evaluations)
	}
	return nil
}

// strict decodes one JSON value without unknown keys; nothing leaves v as it is.
func strict(data []byte, v any) error {
	if len(data) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%w: something follows the JSON value", ErrConfig)
	}
	return nil
}
