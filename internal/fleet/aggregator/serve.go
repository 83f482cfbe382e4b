package aggregator

import (
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/store"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/authority"
)

// retryAfter is what devices are told to wait when reports cannot be taken now.
const retryAfter = 2

// clientError is an error as a client sees it: what is theirs to mend in words, anything else
// as unavailable and in the log.
func (a *Aggregator) clientError(err error) error {
	var known *connect.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.Is(err, store.ErrUnknown):
		return connect.NewError(connect.CodeNotFound, err)
	case errors.Is(err, store.ErrExists):
		return connect.NewError(connect.CodeAlreadyExists, err)
	case errors.Is(err, store.ErrState), errors.Is(err, store.ErrFence):
		return connect.NewError(connect.CodeFailedPrecondition, err)
	case errors.Is(err, store.ErrMany):
		return connect.NewError(connect.CodeResourceExhausted, err)
	case errors.Is(err, store.ErrCode), errors.Is(err, store.ErrRevoked):
		return connect.NewError(connect.CodePermissionDenied, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return connect.NewError(connect.CodeDeadlineExceeded, errors.New("the request did not end in time"))
	case fault.Of(err) == fault.InputFault, errors.Is(err, fleet.ErrSpec), errors.Is(err, fleet.ErrFork), errors.Is(err, fleet.ErrConsent), errors.Is(err, fleet.ErrWeights):
		return connect.NewError(connect.CodeInvalidArgument, err)
	}
	a.cfg.Log.Error("a request failed", "error", err)
	return later(connect.CodeUnavailable, "not now")
}

// later is an error after which the same request is to be sent again.
func later(code connect.Code, why string) error {
	err := connect.NewError(code, errors.New(why))
	err.Meta().Set("Retry-After", strconv.Itoa(retryAfter))
	return err
}

type enrolServer struct{ a *Aggregator }

// hashed is a name as the store knows it.
func hashed(context, name string) store.Hash {
	return sha256.Sum256([]byte("discreet fleet " + context + " 1\x00" + name))
}

// normal is a code as it is hashed.
func normal(code string) string { return strings.ToUpper(strings.TrimSpace(code)) }

// Enrol implements the protocol.
func (e enrolServer) Enrol(ctx context.Context, r *fleetv1.EnrolRequest) (*fleetv1.EnrolResponse, error) {
	public, err := authority.CheckRequest(r.GetCsr())
	if err != nil {
		return nil, e.a.clientError(err)
	}
	key, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, e.a.clientError(err)
	}
	code := normal(r.GetCode())
	begun := e.a.cfg.Keys.deviceOf(code)
	name := begun
	if len(r.GetPrevious()) > 0 {
		if name, err = e.a.returned(r); err != nil {
			return nil, e.a.clientError(err)
		}
	}
	answer := &fleetv1.EnrolResponse{}
	// Whoever asks again signs again, and every signature is another: the key tells who it is.
	err = e.a.store.Redeem(ctx, hashed("code", code), hashed("device", begun), sha256.Sum256(key), func(int64) (c store.Certificate, err error) {
		answer.Chain, c, err = e.a.issue(r.GetCsr(), name)
		return c, err
	})
	if err != nil {
		return nil, e.a.clientError(err)
	}
	pseudonym := e.a.cfg.Keys.pseudonymOf(name)
	answer.PseudonymKey = pseudonym[:]
	return answer, nil
}

// returned is the name of a device that was enrolled and proves that it still has the key of
// its certificate, which may have ended. It stays that device: a new code is no second vote.
func (a *Aggregator) returned(r *fleetv1.EnrolRequest) (string, error) {
	c, err := a.cfg.Keys.ca.Issued(r.GetPrevious())
	if err != nil {
		return "", err
	}
	id, ok := service.CertificateIdentity(c)
	key, is := c.PublicKey.(*ecdsa.PublicKey)
	if digest := fleet.ReturnDigest(r.GetCsr(), r.GetCode()); !ok || id.Role != RoleDevice || !is || !ecdsa.VerifyASN1(key, digest[:], r.GetProof()) {
		return "", fmt.Errorf("%w: the proof is not by the key of a device's certificate", authority.ErrRequest)
	}
	return id.Name, nil
}

// issue makes a certificate for a device.
func (a *Aggregator) issue(csr []byte, name string) (chain [][]byte, c store.Certificate, err error) {
	cert, err := a.cfg.Keys.ca.Issue(csr, authority.Subject{Role: RoleDevice, Name: name}, a.cfg.Now(), a.cfg.Valid)
	if err != nil {
		return nil, c, err
	}
	c = store.Certificate{Serial: service.SerialOf(cert), Device: hashed("device", name), Expires: cert.NotAfter.UnixMilli()}
	return [][]byte{cert.Raw, a.cfg.Keys.ca.Certificate().Raw}, c, nil
}

// Renew implements the protocol.
func (e enrolServer) Renew(ctx context.Context, r *fleetv1.RenewRequest) (*fleetv1.RenewResponse, error) {
	id, ok := service.IdentityOf(ctx)
	if !ok {
		return nil, connect.NewError(connect.CodeUnauthenticated, service.ErrAnonymous)
	}
	if _, err := authority.CheckRequest(r.GetCsr()); err != nil {
		return nil, e.a.clientError(err)
	}
	answer := &fleetv1.RenewResponse{}
	err := e.a.store.Reissue(ctx, hashed("device", id.Name), func(int64) (c store.Certificate, err error) {
		answer.Chain, c, err = e.a.issue(r.GetCsr(), id.Name)
		return c, err
	})
	if err != nil {
		return nil, e.a.clientError(err)
	}
	return answer, nil
}

type runServer struct{ a *Aggregator }

// GetRun implements the protocol.
func (s runServer) GetRun(ctx context.Context, r *fleetv1.GetRunRequest) (*fleetv1.GetRunResponse, error) {
	l, err := s.a.find(ctx, r.GetRun())
	if err != nil {
		return nil, s.a.clientError(err)
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return &fleetv1.GetRunResponse{Specs: l.specs, Now: s.a.cfg.Now().UnixMilli()}, nil
}

// pageOfRounds is how many specs of rounds one answer holds.
const pageOfRounds = 1000

// GetRound implements the protocol.
func (s runServer) GetRound(ctx context.Context, r *fleetv1.GetRoundRequest) (*fleetv1.GetRoundResponse, error) {
	l, err := s.a.find(ctx, r.GetRun())
	if err != nil {
		return nil, s.a.clientError(err)
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	answer := &fleetv1.GetRoundResponse{Now: s.a.cfg.Now().UnixMilli(), Ended: l.ended, Last: proto.Uint64(uint64(len(l.rounds)))}
	if after := r.GetAfter(); after > 0 && after <= uint64(len(l.rounds)) {
		hash := fleet.HashOf(l.rounds[after-1])
		answer.AfterSha256 = hash[:]
	}
	if r.GetAfter() >= uint64(len(l.rounds)) {
		return answer, nil
	}
	answer.Specs = l.rounds[r.GetAfter():]
	if len(answer.Specs) > pageOfRounds {
		answer.Specs, answer.More = answer.Specs[:pageOfRounds], true
		return answer, nil
	}
	if r.GetWeights() {
		answer.Weights = l.weights
	}
	return answer, nil
}

type reportServer struct{ a *Aggregator }

// verdictNames lists the verdicts as metrics name them.
func verdictNames() []string {
	var out []string
	for v := range int32(len(fleetv1.Verdict_name)) {
		if v > 0 {
			out = append(out, verdictName(fleetv1.Verdict(v)))
		}
	}
	return out
}

func verdictName(v fleetv1.Verdict) string {
	return strings.ToLower(strings.TrimPrefix(v.String(), "VERDICT_"))
}

// Upload implements the protocol.
func (s reportServer) Upload(ctx context.Context, r *fleetv1.UploadRequest) (*fleetv1.UploadResponse, error) {
	id, ok := service.IdentityOf(ctx)
	if !ok {
		return nil, connect.NewError(connect.CodeUnauthenticated, service.ErrAnonymous)
	}
	v, err := s.a.upload(ctx, id, r)
	if err != nil {
		return nil, s.a.clientError(err)
	}
	s.a.verdicts[verdictName(v)].Inc()
	return &fleetv1.UploadResponse{Verdict: v}, nil
}

// upload takes a report: what it is wrong with by itself is found before it waits for
// the store.
func (a *Aggregator) upload(ctx context.Context, id service.Identity, r *fleetv1.UploadRequest) (fleetv1.Verdict, error) {
	l, err := a.find(ctx, r.GetRun())
	if errors.Is(err, store.ErrUnknown) {
		return fleetv1.Verdict_VERDICT_FORGED, nil
	} else if err != nil {
		return 0, err
	}
	round, full, mine, err := a.roundOf(ctx, l, r.GetRound())
	if err != nil || round == nil {
		return mine, err
	}
	pseudonym := a.cfg.Keys.pseudonymOf(id.Name)
	if ok, err := l.permitted(pseudonym, round.Number, r.GetPermit()); err != nil {
		return 0, err
	} else if !ok {
		return fleetv1.Verdict_VERDICT_FORGED, nil
	}
	key, ok := a.cfg.Keys.opener(r.GetKey())
	if !ok {
		return fleetv1.Verdict_VERDICT_MALFORMED, nil
	}
	body, err := round.Unseal(r.GetSealed(), key)
	if err != nil {
		return fleetv1.Verdict_VERDICT_MALFORMED, nil
	}
	nullifier := fleet.Nullifier(pseudonym, l.id, round.Number)
	codec := round.Codec()
	if codec.Decode(make([]float64, codec.Dim()), body, round.Seed(nullifier)) != nil {
		return fleetv1.Verdict_VERDICT_MALFORMED, nil
	}
	if full { // one that was accepted is answered as before
		switch outcome, err := a.store.Find(ctx, l.id, round.Number, store.Report{Nullifier: nullifier, Body: body}); {
		case err != nil:
			return 0, err
		case outcome == store.ReportDuplicate:
			return fleetv1.Verdict_VERDICT_DUPLICATE, nil
		case outcome == store.ReportSpent:
			return fleetv1.Verdict_VERDICT_SPENT, nil
		}
		return fleetv1.Verdict_VERDICT_CLOSED, nil
	}
	outcome, err := a.commits.submit(ctx, place{l.id, round.Number}, store.Report{Nullifier: nullifier, Body: body})
	switch {
	case errors.Is(err, errFull):
		a.exhausted.Inc()
		return 0, later(connect.CodeResourceExhausted, "more reports than can be written down now")
	case err != nil && ctx.Err() != nil:
		return 0, err
	case err != nil:
		a.cfg.Log.Error("reports could not be committed", "error", err)
		return 0, later(connect.CodeUnavailable, "not now")
	}
	switch outcome {
	case store.ReportAccepted:
		l.mu.Lock()
		l.mine++
		l.mu.Unlock()
		return fleetv1.Verdict_VERDICT_ACCEPTED, nil
	case store.ReportDuplicate:
		return fleetv1.Verdict_VERDICT_DUPLICATE, nil
	case store.ReportSpent:
		return fleetv1.Verdict_VERDICT_SPENT, nil
	case store.ReportEarly:
		return 0, later(connect.CodeUnavailable, "the upload of this round has not begun")
	case store.ReportLate:
		return fleetv1.Verdict_VERDICT_LATE, nil
	}
	return fleetv1.Verdict_VERDICT_STALE, nil
}

// roundOf is the round of the number, if it is one of the last, or else the verdict. A full
// one takes no more reports.
func (a *Aggregator) roundOf(ctx context.Context, l *live, number uint64) (round *fleet.Round, full bool, v fleetv1.Verdict, err error) {
	for again := range 2 {
		l.mu.RLock()
		last, recent, total := l.last, l.recent, l.count+l.mine
		l.mu.RUnlock()
		switch {
		case last != nil && last.Number == number:
			return last, total >= uint64(last.MaxReports)+uint64(a.cfg.Batch), 0, nil
		case last != nil && number < last.Number:
			// Its answer may have been lost: the store knows.
			if i := slices.IndexFunc(recent, func(r *fleet.Round) bool { return r.Number == number }); i >= 0 {
				return recent[i], false, 0, nil
			}
			return nil, false, fleetv1.Verdict_VERDICT_STALE, nil
		case again == 0:
			if err := a.refresh(ctx); err != nil {
				return nil, false, 0, err
			}
		}
	}
	return nil, false, fleetv1.Verdict_VERDICT_FORGED, nil
}
