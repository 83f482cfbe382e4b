package device

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/train"
)

// ask asks for new rounds and follows their chain; over is set when the run has ended.
func (p *participation) ask(ctx context.Context) (over bool, err error) {
	answer, err := p.services.Runs.GetRound(ctx, &fleetv1.GetRoundRequest{Run: p.run.ID[:], After: p.head.Round, Weights: true})
	if err != nil {
		return false, p.unknown(ctx, &p.run.ID, err)
	}
	if err := near(answer.GetNow()); err != nil {
		return false, err
	}
	if err := p.same(answer); err != nil {
		return false, err
	}
	specs := answer.GetSpecs()
	for i, signed := range specs {
		current := i == len(specs)-1 && !answer.GetMore()
		if err := p.meet(ctx, signed, current, answer.GetWeights()); err != nil {
			p.run = nil // its keys may have changed: it is fetched again
			return false, err
		}
	}
	p.waiting = len(specs) == 0
	return len(specs) == 0 && answer.GetEnded(), nil
}

// same holds the server's chain against the one that is known. An older server says nothing of it.
func (p *participation) same(answer *fleetv1.GetRoundResponse) error {
	if answer.Last == nil || p.head.Round == 0 {
		return nil
	}
	if answer.GetLast() < p.head.Round {
		return fmt.Errorf("%w: the server's last round is %d, and this device was shown round %d", fleet.ErrFork, answer.GetLast(), p.head.Round)
	}
	if !bytes.Equal(answer.GetAfterSha256(), p.head.Hash[:]) {
		return fmt.Errorf("%w: the server's round %d is another than the one that this device was shown", fleet.ErrFork, p.head.Round)
	}
	return nil
}

// meet verifies a spec and notes what becomes of its round. What is refused is not noted, and nothing is spent.
func (p *participation) meet(ctx context.Context, signed *fleetv1.SignedSpec, current bool, weights []byte) error {
	round, err := p.run.VerifyRound(p.head, signed)
	if round == nil {
		return err
	}
	p.shown(round)
	k := &known{signed: signed, state: skipped}
	switch {
	case err != nil:
		k.reason = "consent"
	case !current:
		k.reason = "missed"
	case round.Begin(time.Now()) != nil:
		k.reason = "late"
	case !coin(round.SampleRate):
		k.reason = "coin"
	default:
		if _, err := round.Weights(weights); err != nil {
			return err
		}
		k.state, k.weights = seen, weights
		k.sendAt = round.UploadFrom.Add(uniform(round.UploadUntil.Sub(round.UploadFrom) * 9 / 10))
	}
	if err := p.store.add(ctx, p.run.ID, p.head, round, k); err != nil {
		return err
	}
	p.head = round.Head()
	p.tell(round.Number, k.state, k.reason)
	return p.crash(string(k.state))
}

func (a *Agent) tell(round uint64, s state, reason string) {
	if reason == "" {
		a.cfg.Log.Info("round", "round", round, "state", string(s))
		return
	}
	a.cfg.Log.Info("round", "round", round, "state", string(s), "reason", reason)
}

// work takes a round to its next state.
func (p *participation) work(ctx context.Context, k *known) error {
	round, err := p.run.VerifyRound(fleet.Head{Round: k.number - 1, Hash: k.previous}, k.signed)
	if err != nil {
		return fmt.Errorf("round %d as it was kept: %w", k.number, err)
	}
	switch k.state {
	case seen:
		return p.learn(ctx, round, k)
	case trained, asking, debited:
		return p.report(ctx, round, k)
	case kept, sent:
		return p.send(ctx, round, k)
	}
	return fmt.Errorf("%w: round %d is in state %q, which this version does not know", ErrConfig, k.number, k.state)
}

// learn has the learner work, and keeps what it answered.
func (p *participation) learn(ctx context.Context, round *fleet.Round, k *known) error {
	theta, err := round.Weights(k.weights)
	if err != nil {
		return err
	}
	evaluate := round.Kind == fleetv1.Kind_KIND_EVALUATE
	w := Work{
		Round: round.Number, Evaluate: evaluate, Threshold: round.Threshold, Theta: theta, Len: round.Codec().Len(),
		Seed: round.Seed(p.nullifier(round)), Until: round.TrainBy, SendAt: k.sendAt,
	}
	vector, why, err := p.answer(ctx, p.learner, w, round.Codec())
	if err != nil {
		return err
	}
	if why != "" {
		p.cfg.Log.Warn("the report will be on the zero vector", "round", round.Number, "answer", why)
	}
	if err := p.store.setTrained(ctx, p.run.ID, round.Number, fleet.EncodeWeights(vector)); err != nil {
		return err
	}
	p.tell(round.Number, trained, "")
	return p.crash(string(trained))
}

func (p *participation) nullifier(round *fleet.Round) [32]byte {
	return fleet.Nullifier(p.pseudonym, p.run.ID, round.Number)
}

// over ends a round.
func (p *participation) over(ctx context.Context, round uint64, s state, reason string) error {
	if err := p.store.end(ctx, p.run.ID, round, s, reason); err != nil {
		return err
	}
	p.tell(round, s, reason)
	return p.crash(string(s))
}

// report waits for the time that was drawn, draws a permit, pays, and makes the report.
func (p *participation) report(ctx context.Context, round *fleet.Round, k *known) error {
	if err := until(ctx, k.sendAt); err != nil {
		return err
	}
	if err := p.renewed(ctx); errors.Is(err, ErrExpired) {
		return err // before anything is paid for that could not be sent
	}
	now := time.Now()
	key, err := p.run.SealKey(now)
	if k.state != debited && err != nil {
		return p.over(ctx, round.Number, skipped, "key")
	}
	if k.state == trained {
		if !now.Before(round.UploadUntil) {
			return p.over(ctx, round.Number, skipped, "slept")
		}
		if err := p.beginDrawing(ctx, round.Number); err != nil {
			return err
		}
	}
	var permit *fleetv1.SignedSpec // nil where an earlier process had it: then only what it made is sent
	if k.state != debited {
		if permit, err = p.draw(ctx, round); err != nil || permit == nil {
			return err
		}
		p.drawing = nil
	}
	// From here on what is begun is finished, unless the process ends.
	ctx = context.WithoutCancel(ctx)
	wallet := p.wallet(p.run.ID)
	p.spent = nil
	paid, upload, err := wallet.Debit(ctx, round.Number, round.Codec().Event())
	switch {
	case errors.Is(err, train.ErrForfeited):
		return p.over(ctx, round.Number, forfeited, "stopped")
	case errors.Is(err, train.ErrBudget):
		return p.over(ctx, round.Number, skipped, "budget")
	case err != nil:
		return err
	case upload == nil && permit == nil:
		if _, err := wallet.Spent(ctx); err != nil {
			return err
		}
		return p.over(ctx, round.Number, forfeited, "stopped")
	case upload == nil:
		if upload, err = p.produce(ctx, round, k, key, permit, wallet, paid); err != nil {
			_, closing := wallet.Spent(ctx) // ends the wallet's use of its file
			return errors.Join(err, closing)
		}
	}
	spent, err := wallet.Spent(ctx)
	if err != nil {
		return err
	}
	if err := p.store.setKept(ctx, p.run.ID, round.Number, upload, spent.Epsilon); err != nil {
		return err
	}
	p.tell(round.Number, kept, "")
	return p.crash(string(kept))
}

// produce randomises the vector under the receipt, seals the report, and keeps it in the wallet.
func (p *participation) produce(ctx context.Context, round *fleet.Round, k *known, to fleet.Key, permit *fleetv1.SignedSpec, wallet train.Wallet, paid *receipt.Receipt) ([]byte, error) {
	if err := p.crash(string(debited)); err != nil {
		return nil, err
	}
	vector, err := fleet.DecodeWeights(k.vector)
	if err != nil {
		return nil, err
	}
	body, err := round.Codec().Encode(nil, vector, round.Seed(p.nullifier(round)), paid, p.noise(round.Number))
	if err != nil {
		return nil, err
	}
	sealed, err := round.Seal(body, to)
	if err != nil {
		return nil, err
	}
	upload, err := proto.Marshal(round.Request(sealed, to, permit))
	if err != nil {
		return nil, err
	}
	if err := p.crash("encoded"); err != nil {
		return nil, err
	}
	if err := wallet.Keep(ctx, round.Number, paid, upload); err != nil {
		return nil, err
	}
	return upload, p.crash("recorded")
}

func (a *Agent) noise(round uint64) *noise.Source {
	if a.source != nil {
		return a.source
	}
	return a.cfg.Noise(round)
}

// until waits for a time by the clock on the wall, which may be set meanwhile.
func until(ctx context.Context, at time.Time) error {
	for {
		left := time.Until(at)
		if left <= 0 {
			return ctx.Err()
		}
		t := time.NewTimer(min(left, time.Minute))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
}

// send sends the report until there is an answer or the time is over: the same bytes again and again.
func (p *participation) send(ctx context.Context, round *fleet.Round, k *known) error {
	var request fleetv1.UploadRequest
	if err := proto.Unmarshal(k.upload, &request); err != nil {
		return fmt.Errorf("round %d as it was kept: %w", k.number, err)
	}
	if k.state == kept {
		if err := p.store.sending(ctx, p.run.ID, round.Number); err != nil {
			return err
		}
		p.tell(round.Number, sent, "")
		if err := p.crash(string(sent)); err != nil {
			return err
		}
	}
	for failures := 0; ; failures++ {
		if !time.Now().Before(round.UploadUntil) {
			return p.over(ctx, round.Number, forfeited, "unanswered")
		}
		answer, err := p.upload(ctx, round, &request)
		if err := p.crash("uploaded"); err != nil {
			return err
		}
		switch v := answer.GetVerdict(); {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && (v == fleetv1.Verdict_VERDICT_ACCEPTED || v == fleetv1.Verdict_VERDICT_DUPLICATE):
			return p.over(ctx, round.Number, acknowledged, "")
		case err == nil && v != fleetv1.Verdict_VERDICT_UNSPECIFIED:
			return p.over(ctx, round.Number, forfeited, verdictName(v))
		case err != nil && final(err):
			return p.over(ctx, round.Number, forfeited, "refused")
		}
		wait := min(backOff(failures, p.cfg.BackOff, p.cfg.MostBackOff, err), time.Until(round.UploadUntil))
		p.cfg.Log.Warn("report not taken yet", "round", round.Number, "wait", wait.Seconds())
		if err := until(ctx, time.Now().Add(wait)); err != nil {
			return err
		}
	}
}

// upload tries once.
func (p *participation) upload(ctx context.Context, round *fleet.Round, request *fleetv1.UploadRequest) (*fleetv1.UploadResponse, error) {
	ctx, cancel := context.WithDeadline(ctx, round.UploadUntil)
	defer cancel()
	return p.services.Reports.Upload(ctx, request)
}

// verdictName is a verdict as train.Verdict calls it.
func verdictName(v fleetv1.Verdict) string {
	if v < fleetv1.Verdict_VERDICT_ACCEPTED || v > fleetv1.Verdict_VERDICT_CLOSED {
		return "unknown"
	}
	return train.Verdict(v - fleetv1.Verdict_VERDICT_ACCEPTED).String()
}
