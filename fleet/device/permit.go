package device

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-rl/discreet/train"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
)

// drawing is a permit that this process draws. The nonce is nowhere but in its memory: whoever has a copy of the directory
// cannot ask for the same permit, and neither can the process that is started after this one.
type drawing struct {
	round uint64
	nonce [fleet.NonceSize]byte
}

// beginDrawing notes that a permit is asked for, before it is.
func (p *participation) beginDrawing(ctx context.Context, round uint64) error {
	d := &drawing{round: round}
	_, _ = rand.Read(d.nonce[:]) // it ends the process rather than fail
	if err := p.store.asking(ctx, p.run.ID, round); err != nil {
		return err
	}
	p.drawing = d
	return p.crash(string(asking))
}

// draw asks for the permit of the round until there is an answer; nil without an error where the round is over for the device.
func (p *participation) draw(ctx context.Context, round *fleet.Round) (*fleetv1.SignedSpec, error) {
	if p.drawing == nil || p.drawing.round != round.Number { // an earlier process asked, and may have been answered
		return nil, p.forfeit(ctx, round)
	}
	id, err := p.store.identity(ctx)
	if err != nil {
		return nil, err
	}
	made, err := p.store.paid(ctx, p.run.ID)
	if err != nil {
		return nil, err
	}
	request := &fleetv1.DrawRequest{Run: p.run.ID[:], Round: round.Number, Nonce: p.drawing.nonce[:], Drawn: id.drawn, DrawnHere: uint64(made)}
	for failures := 0; ; failures++ {
		if !time.Now().Before(round.UploadUntil) {
			return nil, p.forfeit(ctx, round)
		}
		answer, err := p.askPermit(ctx, round, request)
		if err := p.crash("asked"); err != nil {
			return nil, err
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil:
			return p.drawn(ctx, round, id, answer.GetPermit())
		case connect.CodeOf(err) == connect.CodeUnimplemented:
			if err := errors.Join(p.store.refused(ctx), p.over(ctx, round.Number, skipped, "refused")); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("%w: it gives no permits, without which no report is sent; ask its operator to update it", errServer)
		case final(err) && failures > 0: // an earlier request may have drawn it
			return nil, p.forfeit(ctx, round)
		case final(err):
			if err := p.store.refused(ctx); err != nil {
				return nil, err
			}
			return nil, p.over(ctx, round.Number, skipped, "refused")
		}
		wait := min(backOff(failures, p.cfg.BackOff, p.cfg.MostBackOff, err), time.Until(round.UploadUntil))
		p.cfg.Log.Warn("no permit yet", "round", round.Number, "wait", wait.Seconds())
		if err := until(ctx, time.Now().Add(wait)); err != nil {
			return nil, err
		}
	}
}

// forfeit pays for a permit that may have been drawn, and is lost: so the wallet has paid for at least as many reports as the
// number of the device's last permit says.
func (p *participation) forfeit(ctx context.Context, round *fleet.Round) error {
	ctx = context.WithoutCancel(ctx)
	p.drawing, p.spent = nil, nil
	wallet := p.wallet(p.run.ID)
	if _, _, err := wallet.Debit(ctx, round.Number, round.Codec().Event()); err != nil && !errors.Is(err, train.ErrBudget) && !errors.Is(err, train.ErrForfeited) {
		return err
	}
	if _, err := wallet.Spent(ctx); err != nil { // ends the wallet's use of its file
		return err
	}
	return p.over(ctx, round.Number, forfeited, "permit")
}

// askPermit tries once.
func (p *participation) askPermit(ctx context.Context, round *fleet.Round, request *fleetv1.DrawRequest) (*fleetv1.DrawResponse, error) {
	ctx, cancel := context.WithDeadline(ctx, round.UploadUntil)
	defer cancel()
	return p.services.Reports.Draw(ctx, request)
}

// drawn holds a permit against what the device expects: the number after its last one, or one of those after it that earlier
// processes asked for and were perhaps given. Anything else was drawn by another copy of the device's state, or by a server that forgot.
func (p *participation) drawn(ctx context.Context, round *fleet.Round, id *identity, signed *fleetv1.SignedSpec) (*fleetv1.SignedSpec, error) {
	permit, err := p.run.VerifyPermit(p.pseudonym, signed)
	if err != nil {
		p.run = nil // its keys may have changed: it is fetched again, and the same permit asked for
		return nil, err
	}
	mine := permit.Request == sha256.Sum256(p.drawing.nonce[:])
	least, most := id.drawn+1, id.drawn+id.asked // asked counts this request
	used := permit.Round == 0 && !mine           // then the number is that of the last one
	if used {
		least, most = id.drawn, id.drawn+id.asked-1
	} else if era := permit.Number >> fleet.EraBits; era > id.drawn>>fleet.EraBits { // the server's store was put back since
		least, most = era<<fleet.EraBits+1, era<<fleet.EraBits+id.asked
	}
	if permit.Number < least || permit.Number > most || !used && (!mine || permit.Round != round.Number) {
		if err := p.store.seesCopy(ctx, p.run.ID, round.Number); err != nil {
			return nil, err
		}
		p.drawing = nil
		return nil, copied(permit.Number, id.drawn)
	}
	if used {
		p.usedUp = true
		if err := p.store.answered(ctx, permit.Number); err != nil {
			return nil, err
		}
		return nil, p.over(ctx, round.Number, skipped, "permit")
	}
	if err := p.store.permitted(ctx, p.run.ID, round.Number, permit.Number); err != nil {
		return nil, err
	}
	p.tell(round.Number, debited, "")
	return signed, p.crash("paying")
}

// copied is the error of a device whose state is in use elsewhere.
func copied(number, known uint64) error {
	return fmt.Errorf("%w: the server gave permit %d, and this copy knows of %d; its directory was copied or put back from a backup, or the server's store was. "+
		"Nothing more is sent from here; let one copy go on alone, or enrol as a new device, which begins a new budget", errCopied, number, known)
}
