package operator

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet"
	"github.com/discreet-rl/discreet/fleet/aggregator"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/train"
)

// ErrConfig marks settings of which no run can be made.
var ErrConfig = fault.Input("invalid fleet run")

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
	// MinClient is the least version of an agent; empty for any.
	MinClient string
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

// Spec is the first revision of a new run, of a fresh name, with the public halves of
// the keys.
func (r Run) Spec(keys *aggregator.Keys, now time.Time) (*fleetv1.RunSpec, error) {
	size, err := r.ReportBytes()
	if err != nil {
		return nil, err
	}
	if r.Valid <= 0 {
		return nil, fmt.Errorf("%w: keys are good for %v; want a time above 0", ErrConfig, r.Valid)
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it ends the process rather than fail
	return &fleetv1.RunSpec{
		Run: id, Schema: 1, Purpose: r.Purpose, LocalJson: r.Local, Randomizer: fleet.RandomizerMessage(r.Randomizer), EpsilonReport: r.Randomizer.Epsilon,
		ReportsPerDevice: uint32(r.Reports), Dim: uint32(r.Dim), ReportBytes: uint32(size), Mode: fleetv1.Mode_MODE_LINKED,
		Keys: keys.Public(nil, now.Add(-allowance), now.Add(r.Valid)), MinClient: r.MinClient,
	}, nil
}

// allowance is how far clocks may be apart.
const allowance = 5 * time.Minute

// Revise is the next revision of a run: with the keys that were added to the directory,
// good for the time from now on.
func Revise(specs []*fleetv1.SignedSpec, keys *aggregator.Keys, now time.Time, valid time.Duration) (*fleetv1.RunSpec, error) {
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
	spec.Keys = keys.Public(spec.GetKeys(), now.Add(-allowance), now.Add(valid))
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
