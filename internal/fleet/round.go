package fleet

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/train"
)

// Head is the last round that is known: its number and the hash of its spec.
type Head struct {
	Round uint64
	Hash  Hash
}

// Head is where the chain of rounds begins.
func (r *Run) Head() Head { return Head{0, r.First} }

// longest is how long a round may take.
const longest = 90 * 24 * time.Hour

// Round is a round whose spec was verified. It is immutable and safe for concurrent use.
type Round struct {
	Number uint64
	// Hash names the spec.
	Hash Hash
	// Version numbers the weights, and WeightsHash is their hash.
	Version     uint64
	WeightsHash Hash
	Kind        fleetv1.Kind
	// Beacon makes the seeds.
	Beacon [32]byte
	// SampleRate is the probability with which a device takes part.
	SampleRate float64
	// Opens to TrainBy is for training, UploadFrom to UploadUntil for reports.
	Opens, TrainBy, UploadFrom, UploadUntil time.Time
	MinReports, MaxReports                  int
	// Threshold is the score to reach, of an evaluation.
	Threshold float64

	run *Run
	key Key
}

// Head is the round as the last one that is known.
func (r *Round) Head() Head { return Head{r.Number, r.Hash} }

// Codec makes and reads the bodies of the round's reports.
func (r *Round) Codec() *train.Codec { return r.run.Codec(r.Kind) }

// VerifyRound reads the round that follows the one before. The error wraps [ErrSpec] where the spec is not good, [ErrFork]
// where it is signed but does not follow, and [ErrConsent] where it follows and asks for what the run does not say; then the
// round is returned too, so that the chain can be followed without taking part.
func (r *Run) VerifyRound(before Head, signed *fleetv1.SignedSpec) (*Round, error) {
	key, ok := r.key(signed.GetKey(), fleetv1.Use_USE_SIGN)
	if !ok {
		return nil, fmt.Errorf("%w: round: key %d signs no rounds of this run; fetch the run again", ErrSpec, signed.GetKey())
	}
	var s fleetv1.RoundSpec
	if err := verify(roundContext, ed25519.PublicKey(key.Public), signed, &s); err != nil {
		return nil, fmt.Errorf("round: %w", err)
	}
	round, err := r.parseRound(&s)
	if err != nil {
		return nil, err
	}
	round.Hash, round.key = HashOf(signed), key
	switch {
	case !bytes.Equal(s.GetRun(), r.ID[:]):
		return nil, fmt.Errorf("%w: round %d is of another run", ErrSpec, round.Number)
	case !key.valid(round.Opens):
		return nil, fmt.Errorf("%w: round %d opens when key %d is not valid", ErrSpec, round.Number, key.ID)
	case round.Number != before.Round+1 || !bytes.Equal(s.GetPrevious(), before.Hash[:]):
		return nil, fmt.Errorf("%w: round %d does not follow round %d, which is known", ErrFork, round.Number, before.Round)
	}
	if asks, agreed := randomizer(s.GetRandomizer()), r.RandomizerOf(round.Kind); asks != agreed || s.GetEpsilon() != agreed.Epsilon {
		return round, fmt.Errorf("%w: round %d asks for %+v at epsilon %v; the run says %+v", ErrConsent, round.Number, asks, s.GetEpsilon(), agreed)
	}
	return round, nil
}

// parseRound holds a spec against what every round keeps to.
func (r *Run) parseRound(s *fleetv1.RoundSpec) (*Round, error) {
	round := &Round{
		Number: s.GetRound(), Version: s.GetVersion(), Kind: s.GetKind(), SampleRate: s.GetSampleRate(),
		Opens: time.UnixMilli(s.GetOpens()), TrainBy: time.UnixMilli(s.GetTrainBy()),
		UploadFrom: time.UnixMilli(s.GetUploadFrom()), UploadUntil: time.UnixMilli(s.GetUploadUntil()),
		MinReports: int(s.GetMinReports()), MaxReports: int(s.GetMaxReports()), Threshold: s.GetThreshold(), run: r,
	}
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: round %d: %s", ErrSpec, round.Number, fmt.Sprintf(format, args...))
	}
	evaluates := round.Kind == fleetv1.Kind_KIND_EVALUATE
	switch {
	case len(s.GetBeacon()) != len(round.Beacon) || len(s.GetWeightsSha256()) != len(Hash{}):
		return nil, bad("a beacon of %d bytes and a hash of %d; want 32 of each", len(s.GetBeacon()), len(s.GetWeightsSha256()))
	case !evaluates && round.Kind != fleetv1.Kind_KIND_TRAIN:
		return nil, bad("it is of kind %v", round.Kind)
	case !(round.SampleRate > 0 && round.SampleRate <= 1):
		return nil, bad("sample_rate is %v; want above 0 to 1", round.SampleRate)
	case s.GetOpens() < 0 || s.GetOpens() > s.GetTrainBy() || s.GetTrainBy() > s.GetUploadFrom() || s.GetUploadFrom() >= s.GetUploadUntil():
		return nil, bad("it opens, ends its training, and begins and ends its upload at %d, %d, %d, %d", s.GetOpens(), s.GetTrainBy(), s.GetUploadFrom(), s.GetUploadUntil())
	case s.GetUploadUntil()-s.GetOpens() > longest.Milliseconds():
		return nil, bad("it takes more than %v", longest)
	case round.MinReports < 1 || round.MaxReports < round.MinReports || round.MaxReports > math.MaxInt32:
		return nil, bad("%d to %d reports; want 1 at least, and no more at least than at most", round.MinReports, round.MaxReports)
	case !evaluates && round.Threshold != 0 || math.IsNaN(round.Threshold) || math.IsInf(round.Threshold, 0):
		return nil, bad("threshold is %v; want a finite number, and 0 but for an evaluation", round.Threshold)
	}
	copy(round.Beacon[:], s.GetBeacon())
	copy(round.WeightsHash[:], s.GetWeightsSha256())
	return round, nil
}

// Begin tells whether a device may begin with the round now. The error wraps [ErrSpec].
func (r *Round) Begin(now time.Time) error {
	if !now.Before(r.TrainBy) || !r.key.valid(now) {
		return fmt.Errorf("%w: round %d ended its training at %s, or its key is not valid now", ErrSpec, r.Number, r.TrainBy.UTC().Format(time.RFC3339))
	}
	return nil
}

// Weights reads weights that came with the round: finite, as many as the run has, and of the hash that the spec names. The
// error wraps [ErrWeights].
func (r *Round) Weights(data []byte) ([]float64, error) {
	theta, err := DecodeWeights(data)
	if err != nil {
		return nil, err
	}
	if len(theta) != r.run.Dim || Hash(train.HashWeights(theta)) != r.WeightsHash {
		return nil, fmt.Errorf("%w: %d weights are not the %d that round %d names by their hash", ErrWeights, len(theta), r.run.Dim, r.Number)
	}
	return theta, nil
}

// EncodeWeights writes weights as they are sent: 8 bytes each, little-endian.
func EncodeWeights(theta []float64) []byte {
	data := make([]byte, 0, 8*len(theta))
	for _, v := range theta {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	return data
}

// DecodeWeights reads what EncodeWeights wrote; all are finite. The error wraps [ErrWeights].
func DecodeWeights(data []byte) ([]float64, error) {
	if len(data)%8 != 0 || len(data) > 8*mostDim {
		return nil, fmt.Errorf("%w: %d bytes; want 8 for each weight, of at most %d", ErrWeights, len(data), mostDim)
	}
	theta := make([]float64, len(data)/8)
	for i := range theta {
		theta[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		if math.IsNaN(theta[i]) || math.IsInf(theta[i], 0) {
			return nil, fmt.Errorf("%w: weight %d is not finite", ErrWeights, i)
		}
	}
	return theta, nil
}
