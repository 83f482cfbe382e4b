package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// overlap is by how much a comparison goes back before the one that was made last: services
// that share a store may write the ends of asks down in another order than that of their times.
const overlap = time.Minute

// comparison is how far the ledger was compared with the store, and what it came to.
type comparison struct {
	mu      sync.Mutex // one at a time
	ended   time.Time  // of the asks that were compared
	seen    *asks.Mark // the entry up to which charges were compared
	witness error      // what the witness said last
	named   bool       // the configuration's witness is one of the ledger's

	said sync.Mutex
	last error
	tell func(error) // hears of each other verdict
}

// verdict is the last one.
func (c *comparison) verdict() error {
	c.said.Lock()
	defer c.said.Unlock()
	return c.last
}

// say keeps a verdict, and tells it once.
func (c *comparison) say(err error) error {
	c.said.Lock()
	defer c.said.Unlock()
	other := fmt.Sprint(err) != fmt.Sprint(c.last)
	c.last = err
	if other && c.tell != nil {
		c.tell(err)
	}
	return err
}

// intact compares store, ledger and witness. It is asked at the start, before each charge, and
// before anything of the budget is shown.
func (d *dataset) intact(ctx context.Context) error { return d.compare(ctx, true) }

// begin is intact, at the start. A service whose witness refuses starts, so that the steward can
// read why, and charges nothing.
func (d *dataset) begin(ctx context.Context) error {
	if err := d.intact(ctx); !errors.Is(err, ledger.ErrWitness) {
		return err
	}
	return nil
}

// inOrder is intact, for a budget that is shown: a witness that cannot be asked contradicts nothing.
func (d *dataset) inOrder(ctx context.Context) error { return shown(d.intact(ctx)) }

// shown is a verdict for what is shown and not charged.
func shown(err error) error {
	if errors.Is(err, errUncompared) && errors.Is(err, ledger.ErrWitness) {
		return nil
	}
	return err
}

// compare is intact, which asks the witness, or has it stand by what it said last.
func (d *dataset) compare(ctx context.Context, ask bool) error {
	d.compared.mu.Lock()
	defer d.compared.mu.Unlock()
	return d.judge(ctx, ask)
}

// judge is compare, for who has the turn.
func (d *dataset) judge(ctx context.Context, ask bool) error {
	f := d.gather(ctx, ask)
	if ctx.Err() != nil {
		return ctx.Err() // it says nothing of them
	}
	return d.compared.say(f.verdict())
}

// gather reads what the comparison is about. What is read first is what was written last, so
// that charges may go on meanwhile.
func (d *dataset) gather(ctx context.Context, ask bool) (f facts) {
	f.dataset = d.name
	if f.store = d.asks.InPlace(ctx); f.store != nil {
		return f
	}
	f.mark, f.store = d.asks.Mark(ctx, d.name)
	if errors.Is(f.store, asks.ErrNone) {
		f.mark, f.store = nil, nil
	}
	if f.store != nil {
		return f
	}
	if f.unread = d.held(ctx, &f); f.unread != nil || f.held != nil && !f.debited {
		return f
	}
	f.store = d.paid(ctx, &f)
	if f.store != nil || f.unread != nil {
		return f
	}
	if f.unread = d.asked(ctx, &f); f.unread != nil || f.store != nil {
		return f
	}
	if ask {
		d.compared.witness = d.askWitness(ctx)
		if err := d.compared.witness; errors.Is(err, ledger.ErrStore) || errors.Is(err, ledger.ErrBusy) {
			d.compared.witness, f.unread = nil, err
		}
	}
	f.witness = d.compared.witness
	return f
}

// held finds out whether the ledger holds the mark.
func (d *dataset) held(ctx context.Context, f *facts) error {
	m := f.mark
	if m == nil {
		return nil
	}
	f.held = lacks(m, d.ledger.Opening())
	if f.held == nil && len(m.Hash) == len(chain.Hash{}) {
		f.held = d.ledger.VerifyHead(ctx, chain.Head{Seq: m.Seq, Hash: chain.Hash(m.Hash)})
	}
	if f.held == nil || !behind(f.held) {
		err := f.held
		f.held = nil
		return err
	}
	if m.Ledger != d.ledger.Opening().Ledger {
		return nil
	}
	var err error
	f.debited, err = d.declaredLost(ctx, m.Seq, m.Made)
	return err
}

// paid finds the asks whose charge the ledger lacks: each was in the chain that its release says
// it was in. Charges that the steward declared lost when the ledger was restored are in no chain,
// and their budget was debited then.
func (d *dataset) paid(ctx context.Context, f *facts) error {
	newest := d.compared.ended
	err := d.asks.Charged(ctx, d.name, d.compared.ended, func(c asks.Charged) error {
		newest = c.Ended.Add(-overlap)
		seq, charged, err := d.entryOf(ctx, c)
		if err == nil {
			return nil
		}
		if behind(err) {
			if lost, problem := d.declaredLost(ctx, seq, charged); lost || problem != nil {
				f.unread = problem
				return problem
			}
		}
		f.unpaid = append(f.unpaid, unpaid{c.ID, err})
		return errStop
	})
	if errors.Is(err, errStop) || f.unread != nil {
		return nil
	}
	if err == nil && newest.After(d.compared.ended) {
		d.compared.ended = newest
	}
	return err
}

// errStop ends a walk.
var errStop = errors.New("enough")

// asked finds the charges of the service whose asks the store lacks, from the entry on up to which
// that was done before, and moves the mark on.
func (d *dataset) asked(ctx context.Context, f *facts) error {
	from, previous := int64(0), d.compared.seen
	if previous == nil && !f.debited {
		previous = f.mark
	}
	if previous != nil && !f.debited {
		from = previous.Seq
	}
	var newest ledger.Entry
	for e, err := range d.ledger.Entries(ctx, from) {
		if err != nil {
			return err
		}
		newest = e
		if e.Charge == nil || !ofService(e.Charge.Key) {
			continue
		}
		var knows bool
		if knows, f.store = d.asks.Knows(ctx, e.Charge.Key); f.store != nil {
			return nil
		}
		if !knows {
			f.unasked = append(f.unasked, e.Charge.Key)
		}
	}
	if len(f.unasked) > 0 || newest.Line == nil {
		return nil
	}
	seen := &asks.Mark{Ledger: d.ledger.Opening().Ledger, Seq: newest.Seq, Hash: newest.Hash[:], Made: newest.Time}
	if f.mark == nil || f.debited || !isMark(f.mark, newest) && f.mark.Seq < newest.Seq {
		if f.store = d.asks.SetMark(ctx, d.name, *seen, f.debited); f.store != nil {
			return nil
		}
	}
	d.compared.seen = seen
	return nil
}

// entryOf looks up the charge of an ask. Its number is known of a release, and is past all
// others of a charge that has none.
func (d *dataset) entryOf(ctx context.Context, c asks.Charged) (seq int64, charged time.Time, err error) {
	if len(c.Release) == 0 {
		entry, err := d.ledger.ChargeOf(ctx, c.LedgerKey())
		switch {
		case err != nil:
		case entry == nil:
			err = fmt.Errorf("%w: it has no charge of key %s", ledger.ErrBehind, c.LedgerKey())
		case c.Paid != nil && (c.Paid.Seq != entry.Seq || c.Paid.Ledger != d.ledger.Opening().Ledger || string(c.Paid.Hash) != string(entry.Hash[:])):
			err = fmt.Errorf("%w: it was paid for by entry %d of ledger %s, and the charge of its key is another entry", ledger.ErrBehind, c.Paid.Seq, c.Paid.Ledger)
		}
		return 1<<62 - 1, c.Ended, err
	}
	stamp, err := ledger.StampOf(c.Release)
	if err != nil {
		return 0, time.Time{}, err
	}
	var stated struct {
		Ledger struct {
			Time time.Time `json:"time"`
		} `json:"ledger"`
	}
	if err := json.Unmarshal(c.Release, &stated); err != nil {
		return 0, time.Time{}, err
	}
	if o := d.ledger.Opening(); stamp.Ledger != o.Ledger || stamp.Dataset != o.Dataset {
		return stamp.Seq, stated.Ledger.Time, fmt.Errorf("%w: it is ledger %s of dataset %q, and its release was paid for by ledger %s of %q", ledger.ErrBehind, o.Ledger, o.Dataset, stamp.Ledger, stamp.Dataset)
	}
	err = d.ledger.VerifyHead(ctx, stamp.Head)
	if err == nil {
		err = d.ledger.VerifyHead(ctx, chain.Head{Seq: stamp.Seq, Hash: stamp.Entry})
	}
	return stamp.Seq, stated.Ledger.Time, err
}

// paidBy names the entry that paid for an ask that ended so.
func (d *dataset) paidBy(ctx context.Context, key string, o asks.Outcome) (*asks.Paid, error) {
	if o.State != asks.Released && o.State != asks.Pending {
		return nil, nil
	}
	e, err := d.ledger.ChargeOf(ctx, key)
	if e == nil || err != nil {
		return nil, err
	}
	return &asks.Paid{Ledger: d.ledger.Opening().Ledger, Seq: e.Seq, Hash: e.Hash[:]}, nil
}

// declaredLost tells of a charge whether it was made after a backup from which the ledger was
// restored later, and the steward debited what was charged between the two.
func (d *dataset) declaredLost(ctx context.Context, seq int64, charged time.Time) (bool, error) {
	for n, err := range d.ledger.Entries(ctx, 0) {
		if err != nil {
			return false, err
		}
		if n.Kind != string(chain.Restore) {
			continue
		}
		e, err := chain.Parse(n.Line)
		if err != nil {
			return false, err
		}
		if r := e.Restore; r.Declared != chain.LostNothing && seq > r.Backup.Seq && charged.Before(n.Time) {
			return true, nil
		}
	}
	return false, nil
}

// mayBegin refuses to begin a ledger where there was one.
func (d *dataset) mayBegin(ctx context.Context, missing error) error {
	_, err := d.asks.Mark(ctx, d.name)
	ran := err == nil
	if errors.Is(err, asks.ErrNone) {
		ran, err = d.asks.Ran(ctx, d.name)
	}
	if err != nil || !ran {
		return err
	}
	return fmt.Errorf("%w: %w; the store has seen the ledger of dataset %q, and a new one would give its budget back: %s", errLost, missing, d.name, remedy)
}

// askWitness asks the witnesses of the ledger, and names the one of the configuration where the
// ledger does not have it yet: one that knows more than the ledger refuses that.
func (d *dataset) askWitness(ctx context.Context) error {
	all, err := d.ledger.Witnesses(ctx)
	if err != nil || d.witness == "" || d.compared.named {
		return err
	}
	for _, w := range all {
		d.compared.named = d.compared.named || w.Place == d.witness
	}
	if !d.compared.named {
		err = d.ledger.AddWitness(ctx, d.witness)
		d.compared.named = err == nil
	}
	return err
}

// whole is intact, as a caller may learn of it.
func (s *Service) whole(ctx context.Context, d *dataset) error {
	return s.refused(d, shown(d.compare(ctx, false)))
}

// inOrder tells whether the store answers, every dataset may be charged, by what is found now, or
// was found last where that takes longer, and the disks take what is written.
func (s *Service) inOrder(ctx context.Context) error {
	if err := s.store.Ping(ctx); err != nil {
		return err
	}
	for _, name := range s.names {
		if err := s.datasets[name].look(ctx); err != nil {
			return fmt.Errorf("dataset %q takes no charges", name) // what is wrong was told before
		}
	}
	return s.rooms.Check(ctx)
}

// look is compare without the witness, unless a comparison is under way.
func (d *dataset) look(ctx context.Context) error {
	if !d.compared.mu.TryLock() {
		return d.compared.verdict()
	}
	defer d.compared.mu.Unlock()
	return d.judge(ctx, false)
}

// defaultComparing is how often the records are compared where nobody asks.
const defaultComparing = 10 * time.Second

// asking is how many comparisons there are to one that asks the witness.
const asking = 6

// watch compares until ctx ends, so that who reads log and metrics learns of a loss without any call.
func (s *Service) watch(ctx context.Context) {
	tick := time.NewTicker(s.comparing)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			for _, name := range s.names {
				_ = s.datasets[name].compare(ctx, n%asking == 0) // it is told by the comparison
			}
		}
	}
}

// outOfOrder counts the datasets that take no charges.
func (s *Service) outOfOrder() (n float64) {
	for _, d := range s.datasets {
		if d.compared.verdict() != nil {
			n++
		}
	}
	return n
}

// followVerdicts has the log told of each verdict on a dataset, and of the one at the start.
func (s *Service) followVerdicts(d *dataset) {
	tell := func(err error) {
		if err == nil {
			s.log.Info(toldAgain, "dataset", d.name)
			ctx, cancel := context.WithTimeout(context.Background(), storeTime)
			defer cancel()
			_ = s.store.GoOn(ctx, d.name) // else they are tried again in their time
			s.call()
			return
		}
		s.log.Error("nothing is charged", "dataset", d.name, "error", err)
	}
	if err := d.compared.verdict(); err != nil {
		tell(err)
	}
	d.compared.tell = tell
}

// stateOf is the state of a dataset's ledger, if that is whole.
func (s *Service) stateOf(ctx context.Context, who *caller) (*ledger.Summary, error) {
	reading := who.state
	if who.role == roleAnalyst && who.toldState != nil {
		reading = who.toldState // whether a charge was made since says how the check went
	}
	state, err := reading.Read(ctx)
	return state, s.refused(who.dataset, err)
}

// refused tells a caller that the ledger is not in order. The log was told what is wrong when
// that was found.
func (s *Service) refused(d *dataset, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLost), errors.Is(err, errUncompared), behind(err):
		return connect.NewError(connect.CodeUnavailable, errors.New(toldLedger))
	}
	return s.broken(err)
}
