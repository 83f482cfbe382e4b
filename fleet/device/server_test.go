package device_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hpke"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/service/authority"
	"github.com/discreet-rl/discreet/train"
)

// server is an aggregator in memory that takes everything down, and loses answers when it is asked to.
type server struct {
	mu        sync.Mutex
	t         testing.TB
	root      ed25519.PrivateKey
	signer    ed25519.PrivateKey
	seal      hpke.PrivateKey
	randomize train.Randomizer
	run       *fleet.Run
	spec      *fleetv1.SignedSpec
	rounds    []*fleet.Round
	specs     []*fleetv1.SignedSpec
	theta     []float64
	ended     bool
	skew      time.Duration
	pseudonym [32]byte
	authority *authority.Authority
	valid     time.Duration // of certificates
	issued    int
	returned  int  // devices that came back
	older     bool // says nothing of its chain
	gone      bool // knows no run

	permits []permit          // of the only device
	ask     func(n int) error // unless nil, may lose the answer to a request of a permit
	early   bool              // knows of no permits
	all     bool              // gives no further permits
	era     uint64            // added to the numbers of permits, of which the lost ones are not counted
	lost    int
	uploads []upload
	taken   map[uint64][]byte
	// before, unless nil, may refuse an upload before it counts; after may lose the answer.
	before, after func(n int) error
}

// mostReports is how many the run asks of a device.
const mostReports = 1 << 20

// permit is one that was drawn.
type permit struct {
	round   uint64
	request [32]byte
}

// Draw gives permits as an aggregator does.
func (s *server) Draw(_ context.Context, r *fleetv1.DrawRequest) (*fleetv1.DrawResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.early {
		return nil, connect.NewError(connect.CodeUnimplemented, errors.New("no such procedure"))
	}
	if n := len(s.permits); !s.all && (n == 0 || s.permits[n-1].round != r.GetRound()) {
		s.permits = append(s.permits, permit{r.GetRound(), sha256.Sum256(r.GetNonce())})
	}
	n := len(s.permits)
	last := s.permits[n-1]
	if s.all {
		last.round = 0
	}
	signed, err := s.run.SignPermit(1, s.signer, s.pseudonym, fleet.Permit{Round: last.round, Number: s.era + uint64(n-s.lost), Request: last.request})
	if err == nil && s.ask != nil {
		err = s.ask(n)
	}
	return &fleetv1.DrawResponse{Permit: signed}, err
}

// upload is one attempt.
type upload struct {
	at   time.Time
	size int
	r    *fleetv1.UploadRequest
}

func newServer(t testing.TB, r train.Randomizer, dim int, local []byte) *server {
	t.Helper()
	s := &server{t: t, randomize: r, theta: make([]float64, dim), taken: map[uint64][]byte{}, valid: 30 * 24 * time.Hour}
	s.root = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	s.signer = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, 32))
	var err error
	if s.seal, err = fleet.ParseSealKey(bytes.Repeat([]byte{3}, 32)); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	from, until := now.Add(-time.Hour).UnixMilli(), now.Add(10000*time.Hour).UnixMilli()
	s.spec, err = fleet.SignRun(s.root, &fleetv1.RunSpec{
		Run: bytes.Repeat([]byte{7}, 16), Schema: 1, Purpose: "tests", LocalJson: local, Randomizer: fleet.RandomizerMessage(r), EpsilonReport: r.Epsilon,
		ReportsPerDevice: mostReports, Dim: uint32(dim), ReportBytes: 64, Mode: fleetv1.Mode_MODE_LINKED,
		Keys: []*fleetv1.Key{
			{Id: 1, Use: fleetv1.Use_USE_SIGN, Public: s.signer.Public().(ed25519.PublicKey), ValidFrom: from, ValidUntil: until},
			{Id: 2, Use: fleetv1.Use_USE_SEAL, Public: s.seal.PublicKey().Bytes(), ValidFrom: from, ValidUntil: until},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.run, err = fleet.VerifyRun(s.root.Public().(ed25519.PublicKey), []*fleetv1.SignedSpec{s.spec}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *server) head() fleet.Head {
	if n := len(s.rounds); n > 0 {
		return s.rounds[n-1].Head()
	}
	return s.run.Head()
}

// open announces a round.
func (s *server) open(train, upload time.Duration, change func(*fleetv1.RoundSpec)) *fleet.Round {
	s.mu.Lock()
	defer s.mu.Unlock()
	head, now, hash := s.head(), time.Now().UnixMilli(), hashOf(s.theta)
	spec := &fleetv1.RoundSpec{
		Run: s.run.ID[:], Round: head.Round + 1, Previous: head.Hash[:], WeightsSha256: hash[:], Kind: fleetv1.Kind_KIND_TRAIN,
		Randomizer: fleet.RandomizerMessage(s.randomize), Epsilon: s.randomize.Epsilon, Beacon: bytes.Repeat([]byte{9}, 32), SampleRate: 1,
		Opens: now, TrainBy: now + train.Milliseconds(), UploadFrom: now + train.Milliseconds(), UploadUntil: now + (train + upload).Milliseconds(),
		MinReports: 1, MaxReports: 100,
	}
	if change != nil {
		change(spec)
	}
	signed, err := fleet.SignRound(s.run, head, 1, s.signer, spec)
	if signed == nil {
		s.t.Fatal(err)
	}
	r, err := s.run.VerifyRound(head, signed)
	if r == nil {
		s.t.Fatal(err)
	}
	s.rounds, s.specs = append(s.rounds, r), append(s.specs, signed)
	return r
}

func hashOf(theta []float64) [32]byte { return train.HashWeights(theta) }

// end says that there are no further rounds.
func (s *server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

func (s *server) GetRun(context.Context, *fleetv1.GetRunRequest) (*fleetv1.GetRunResponse, error) {
	if s.gone {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("no such run"))
	}
	return &fleetv1.GetRunResponse{Specs: []*fleetv1.SignedSpec{s.spec}, Now: time.Now().Add(s.skew).UnixMilli()}, nil
}

func (s *server) GetRound(_ context.Context, r *fleetv1.GetRoundRequest) (*fleetv1.GetRoundResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &fleetv1.GetRoundResponse{Now: time.Now().Add(s.skew).UnixMilli(), Ended: s.ended}
	if s.gone {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("no such run"))
	}
	if !s.older {
		a.Last = proto.Uint64(uint64(len(s.specs)))
	}
	if n := r.GetAfter(); !s.older && n > 0 && n <= uint64(len(s.specs)) {
		hash := fleet.HashOf(s.specs[n-1])
		a.AfterSha256 = hash[:]
	}
	if r.GetAfter() < uint64(len(s.specs)) {
		a.Specs = s.specs[r.GetAfter():]
		a.Weights = fleet.EncodeWeights(s.theta)
	}
	return a, nil
}

func (s *server) Upload(_ context.Context, r *fleetv1.UploadRequest) (*fleetv1.UploadResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.uploads)
	s.uploads = append(s.uploads, upload{time.Now(), len(r.GetSealed()), r})
	if s.before != nil {
		if err := s.before(n); err != nil {
			return nil, err
		}
	}
	v := s.verdict(r)
	if s.after != nil {
		if err := s.after(n); err != nil {
			return nil, err
		}
	}
	return &fleetv1.UploadResponse{Verdict: v}, nil
}

func (s *server) verdict(r *fleetv1.UploadRequest) fleetv1.Verdict {
	round := s.rounds[r.GetRound()-1]
	if !time.Now().Before(round.UploadUntil) {
		return fleetv1.Verdict_VERDICT_LATE
	}
	if p, err := s.run.VerifyPermit(s.pseudonym, r.GetPermit()); err != nil || p.Round != r.GetRound() {
		return fleetv1.Verdict_VERDICT_FORGED
	}
	if _, err := round.Unseal(r.GetSealed(), s.seal); err != nil {
		return fleetv1.Verdict_VERDICT_MALFORMED
	}
	switch before := s.taken[r.GetRound()]; {
	case before == nil:
		s.taken[r.GetRound()] = r.GetSealed()
		return fleetv1.Verdict_VERDICT_ACCEPTED
	case bytes.Equal(before, r.GetSealed()):
		return fleetv1.Verdict_VERDICT_DUPLICATE
	}
	return fleetv1.Verdict_VERDICT_SPENT
}

// body is that of the report which was taken in a round.
func (s *server) body(round uint64) []byte {
	s.t.Helper()
	b, err := s.rounds[round-1].Unseal(s.taken[round], s.seal)
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// certificates are issued by an authority of the test's own.
func (s *server) Enrol(_ context.Context, r *fleetv1.EnrolRequest) (*fleetv1.EnrolResponse, error) {
	if len(r.GetPrevious()) > 0 {
		last, err := s.authority.Issued(r.GetPrevious())
		if err != nil {
			return nil, err
		}
		digest := fleet.ReturnDigest(r.GetCsr(), r.GetCode())
		if r.GetCode() != "again" || !ecdsa.VerifyASN1(last.PublicKey.(*ecdsa.PublicKey), digest[:], r.GetProof()) {
			return nil, connect.NewError(connect.CodePermissionDenied, errors.New("no such code"))
		}
		s.returned++
	} else if r.GetCode() != "right" {
		return nil, connect.NewError(connect.CodePermissionDenied, errors.New("no such code"))
	}
	chain, err := s.issue(r.GetCsr())
	return &fleetv1.EnrolResponse{Chain: chain, PseudonymKey: s.pseudonym[:]}, err
}

func (s *server) Renew(_ context.Context, r *fleetv1.RenewRequest) (*fleetv1.RenewResponse, error) {
	chain, err := s.issue(r.GetCsr())
	return &fleetv1.RenewResponse{Chain: chain}, err
}

func (s *server) issue(csr []byte) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.authority == nil {
		dir := s.t.TempDir()
		a, err := authority.Create(dir+"/ca.pem", dir+"/ca.key", "tests", time.Now().Add(-time.Minute), 10000*time.Hour)
		if err != nil {
			return nil, err
		}
		s.authority = a
	}
	c, err := s.authority.Issue(csr, authority.Subject{Role: "device", Name: "d"}, time.Now(), s.valid)
	if err != nil {
		return nil, err
	}
	s.issued++
	return [][]byte{c.Raw, s.authority.Certificate().Raw}, nil
}

func (s *server) services() device.Services {
	return device.Services{Enrol: s, Runs: s, Reports: s}
}

// config is that of a device which consents to the server's run.
func (s *server) config(dir string) device.Config {
	return device.Config{
		Dir: dir, Root: s.root.Public().(ed25519.PublicKey), Epsilon: 100,
		Consent: device.Consent{Purpose: "tests", Randomizer: s.randomize, Reports: mostReports, Dim: len(s.theta)},
	}
}

// enrolled opens a device and enrols it.
func enrolled(t testing.TB, s *server, c device.Config) *device.Agent {
	t.Helper()
	a, err := device.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Enrol(t.Context(), s, "right"); err != nil {
		t.Fatal(err)
	}
	return a
}

// learner answers by a function.
type learner func(context.Context, device.Work) ([]float64, error)

func (learner) Prepare(*device.Run) error { return nil }

func (l learner) Learn(ctx context.Context, w device.Work) ([]float64, error) { return l(ctx, w) }

// ones reports the vector of ones.
func ones(_ context.Context, w device.Work) ([]float64, error) {
	return slices.Repeat([]float64{1}, w.Len), nil
}
