package operator

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/train"
)

// ErrConfig marks settings of which no run can be made.
var ErrConfig = fault.Input("invalid fleet run")

// ErrNoKeys marks a revision without a new key.
var ErrNoKeys = fault.Input("no new keys")

// Run is what an operator decides about a run. All of it is public.
type Run struct {
	// Purpose says in words what the run is for: owners consent to it.
	Purpose string
	// Local is the learning on the device, as JSON.
	Local []byte
	// Randomizer makes each report, of which a device sends Reports at most.
	Randomizer train.Randomizer
	Reports    int
	// Dim is the number of weights.
	Dim int
	// Keys are good for Valid from now on.
	Valid time.Duration
	// MinClient is the least version of an agent; empty for the first that draws permits.
	MinClient string
}

// The bounds of the time for which a run's keys are good.
const (
	leastKeys = time.Hour
	mostKeys  = 10 * 365 * 24 * time.Hour
)

func validKeys(d time.Duration) error {
	if d < leastKeys || d > mostKeys {
		return fmt.Errorf("%w: keys are good for %v (key_days); want an hour to ten years", ErrConfig, d)
	}
	return nil
}

// Validate tells what is out of range, wrapping [ErrConfig].
func (r Run) Validate() error {
	if r.Reports < 1 {
		return fmt.Errorf("%w: %d reports a device; want 1 at least", ErrConfig, r.Reports)
	}
	if _, err := fleet.ParseVersion(r.client()); err != nil {
		return fmt.Errorf("%w: min_client: %w", ErrConfig, err)
	}
	if !(&fleet.Run{MinClient: r.client()}).HasPermits() {
		return fmt.Errorf("%w: min_client is %s; agents before %s draw no permits, and a copied one could report twice", ErrConfig, r.MinClient, fleet.PermitClient)
	}
	return validKeys(r.Valid)
}

// client is the least version of an agent.
func (r Run) client() string { return cmp.Or(r.MinClient, fleet.PermitClient) }

// Suits tells whether a schedule asks of devices what they have: keys that last as long as it does,
// and on average no more reports than one makes. The error wraps [ErrConfig].
func (r Run) Suits(s aggregator.Schedule) error {
	if days := float64(s.Rounds) * (s.TrainSeconds + s.UploadSeconds) / (24 * 3600); days > r.Valid.Hours()/24 {
		return fmt.Errorf("%w: the schedule takes %.3g days and the run's keys are good for %.3g; raise key_days", ErrConfig, days, r.Valid.Hours()/24)
	}
	if asked := s.Asked(); asked > float64(r.Reports)*(1+1e-9) {
		return fmt.Errorf("%w: %d rounds at a sample_rate of %v ask a device for %.4g reports on average, evaluations among them, and it makes %d (privacy.reports): the last rounds would find nobody; lower schedule.rounds or schedule.sample_rate (by a factor of %.4g), and have more devices",
			ErrConfig, s.Rounds, s.SampleRate, asked, r.Reports, float64(r.Reports)/asked)
	}
	return r.tells(s)
}

// tells refuses evaluations that cost devices epsilon and cannot tell anything.
func (r Run) tells(s aggregator.Schedule) error {
	looks := s.Evaluations()
	if looks == 0 {
		return nil
	}
	rate, most := s.OfEvaluations()
	needed := aggregator.Needed(r.Randomizer.Epsilon, looks)
	if needed > 0 && uint64(most) >= needed {
		return nil
	}
	if needed == 0 {
		return fmt.Errorf("%w: evaluations at epsilon %.4g a report tell nothing of a million devices; leave evaluate_every out", ErrConfig, r.Randomizer.Epsilon)
	}
	one := aggregator.Needed(r.Randomizer.Epsilon, 1)
	return fmt.Errorf("%w: an evaluation takes %d reports at most, and %d evaluations at epsilon %.4g need %d answers each to tell a policy that works from one that does not (a single one needs %d): about %.0f devices at a rate of %.4g, or %d at a rate of 1; set evaluate_reports and evaluate_rate, evaluate less often, or leave evaluate_every out",
		ErrConfig, most, looks, r.Randomizer.Epsilon, needed, one, math.Ceil(float64(needed)/rate), rate, needed)
}

// ReportBytes is the size of every report before it is sealed: the least power of two
// that holds a body and its header.
func (r Run) ReportBytes() (int, error) {
	codec, err := train.NewCodec(r.Randomizer, r.Dim)
	if err != nil {
		return 0, err
	}
	size := 64
	for size < 1+codec.Size() {
		size *= 2
	}
	return size, nil
}

// Keys add the public halves of keys to those that a spec has: [aggregator.PublicKeys].
type Keys interface {
	Public(have []*fleetv1.Key, from, until time.Time) []*fleetv1.Key
}

// Spec is the first revision of a new run, of a fresh name, with the public halves of
// the keys.
func (r Run) Spec(keys Keys, now time.Time) (*fleetv1.RunSpec, error) {
	size, err := r.ReportBytes()
	if err != nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it ends the process rather than fail
	return &fleetv1.RunSpec{
		Run: id, Schema: 1, Purpose: r.Purpose, LocalJson: r.Local, Randomizer: fleet.RandomizerMessage(r.Randomizer), EpsilonReport: r.Randomizer.Epsilon,
		ReportsPerDevice: uint32(r.Reports), Dim: uint32(r.Dim), ReportBytes: uint32(size), Mode: fleetv1.Mode_MODE_LINKED,
		Keys: keys.Public(nil, now.Add(-allowance), now.Add(r.Valid)), MinClient: r.client(),
	}, nil
}

// Describes tells whether a spec is the first of a run like this one: all but its name and its keys.
// The error wraps [ErrConfig].
func (r Run) Describes(s *fleetv1.RunSpec) error {
	size, err := r.ReportBytes()
	if err != nil {
		return err
	}
	want := &fleetv1.RunSpec{
		Run: s.GetRun(), Schema: 1, Purpose: r.Purpose, LocalJson: r.Local, Randomizer: fleet.RandomizerMessage(r.Randomizer), EpsilonReport: r.Randomizer.Epsilon,
		ReportsPerDevice: uint32(r.Reports), Dim: uint32(r.Dim), ReportBytes: uint32(size), Mode: fleetv1.Mode_MODE_LINKED, Keys: s.GetKeys(), MinClient: r.client(),
	}
	if !proto.Equal(s, want) {
		return fmt.Errorf("%w: what was signed is another run than the configuration says; make a new request", ErrConfig)
	}
	return nil
}

// allowance is how far clocks may be apart.
const allowance = 5 * time.Minute

// Revise is the next revision of a run: with the keys that were added to the directory,
// good for the time from now on.
//
// The error wraps [ErrNoKeys] where there is none.
func Revise(specs []*fleetv1.SignedSpec, keys Keys, now time.Time, valid time.Duration) (*fleetv1.RunSpec, error) {
	if err := validKeys(valid); err != nil {
		return nil, err
	}
	if len(specs) == 0 {
		return nil, fmt.Errorf("%w: the run has no spec", ErrConfig)
	}
	last := specs[len(specs)-1]
	var spec fleetv1.RunSpec
	if err := proto.Unmarshal(last.GetSpec(), &spec); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	before := sha256.Sum256(last.GetSpec())
	spec.Revision, spec.Previous = uint32(len(specs)), before[:]
	had := len(spec.GetKeys())
	spec.Keys = keys.Public(spec.GetKeys(), now.Add(-allowance), now.Add(valid))
	if !(&fleet.Run{MinClient: spec.GetMinClient()}).HasPermits() { // of a server before permits
		spec.MinClient = fleet.PermitClient
	} else if len(spec.GetKeys()) == had {
		return nil, fmt.Errorf("%w: the directory holds none that the run does not have; make the next with `discreet fleet keys --next` where the servers' keys are, and copy the new .pub files here", ErrNoKeys)
	}
	return &spec, nil
}

// Services are those of a server, as an operator sees them.
type Services struct {
	Operator fleetv1.OperatorServiceClient
	Runs     fleetv1.RunServiceClient
}

// Dial speaks to the server at a URL that begins with https, with the operator's
// certificate in the directory: ca.pem, operator.pem and operator.key are all that it
// needs.
func Dial(dir, url string) (Services, error) {
	at := func(name string) string { return filepath.Join(dir, name) }
	c, err := service.ClientTLS(at("ca.pem"), at("operator.pem"), at("operator.key"))
	if err != nil {
		return Services{}, err
	}
	h := &http.Client{Transport: &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: true}, Timeout: time.Minute}
	return Services{fleetv1.NewOperatorServiceClient(h, url), fleetv1.NewRunServiceClient(h, url)}, nil
}
