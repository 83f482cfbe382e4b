package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
	"github.com/discreet-rl/discreet/internal/dp/ledger/meter"
)

// Ledger keeps the budget of one dataset. It is safe for concurrent use, and many
// processes may have the same one open.
type Ledger struct {
	store *store.Store
	open  *chain.OpenBody
	meter *meter.Meter
	key   []byte // of the fingerprints

	seen atomic.Pointer[chain.Head] // the newest that a transaction found

	mu     sync.Mutex
	known  meter.Limits // of the budget that was asked about last
	cached bool
}

// Create begins the ledger of a dataset. The location is the path of a SQLite
// file or a postgres:// URL; a store that is there already is added to, and one
// that is not is made. A dataset that the store holds is [ErrExists].
func Create(ctx context.Context, location string, c Config) (*Ledger, error) {
	body, err := c.body()
	if err != nil {
		return nil, err
	}
	if err := c.unwitnessed(ctx); err != nil {
		return nil, err
	}
	s, err := store.Create(ctx, location)
	if err != nil {
		return nil, err
	}
	l, err := newLedger(ctx, s, body)
	if err != nil {
		s.Discard()
		return nil, err
	}
	err = s.Add(ctx, c.Dataset, func(tx *store.Tx) error {
		// A restore into the same store may have put another key there meanwhile.
		key, err := tx.FingerprintKey()
		if err != nil {
			return err
		}
		l.key = key
		w := &writer{tx: tx}
		_, err = w.append(&chain.Entry{Kind: chain.Open, Open: body, Totals: chain.Totals{Budget: body.Budget}})
		return err
	})
	if err != nil {
		s.Discard()
		return nil, err
	}
	if c.Witness != "" {
		if err := l.AddWitness(ctx, c.Witness); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

// Open opens the ledger of a dataset. An empty dataset stands for the only one in
// the store.
func Open(ctx context.Context, location, dataset string) (*Ledger, error) {
	s, err := store.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	l, err := openIn(ctx, s, dataset)
	if err != nil {
		s.Close()
		return nil, err
	}
	return l, nil
}

func openIn(ctx context.Context, s *store.Store, dataset string) (*Ledger, error) {
	if dataset == "" {
		names, err := s.Datasets(ctx)
		if err != nil {
			return nil, err
		}
		if len(names) != 1 {
			return nil, fmt.Errorf("%w: %s: it holds %d datasets %q; name one", ErrNoDataset, s.Name(), len(names), names)
		}
		dataset = names[0]
	}
	var first *chain.Entry
	err := s.View(ctx, dataset, func(tx *store.Tx) error {
		row, err := tx.Entry(0)
		if errors.Is(err, sql.ErrNoRows) {
			return store.Abort(&TamperError{Dataset: dataset, What: "the first entry is missing"})
		} else if err != nil {
			return err
		}
		first, err = chain.Parse(row.Body)
		if err != nil || first.Kind != chain.Open || first.Open.Dataset != dataset || chain.Sum(row.Body) != toHash(row.Hash) {
			return store.Abort(&TamperError{Dataset: dataset, What: "the first entry is not what it was"})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return newLedger(ctx, s, first.Open)
}

func newLedger(ctx context.Context, s *store.Store, o *chain.OpenBody) (*Ledger, error) {
	m, err := newMeter(o)
	if err != nil {
		return nil, err
	}
	key, err := s.FingerprintKey(ctx)
	if err != nil {
		return nil, err
	}
	return &Ledger{store: s, open: o, meter: m, key: key}, nil
}

// Close releases the connections to the store.
func (l *Ledger) Close() error { return l.store.Close() }

// Dataset is the name of the dataset.
func (l *Ledger) Dataset() string { return l.open.Dataset }

// Config returns the first entry's body: what was fixed when the ledger was
// created. The budget may have changed since; [Ledger.State] has the present one.
func (l *Ledger) Opening() Opening { return Opening(*l.open) }

// Datasets lists the datasets in the store at the location.
func Datasets(ctx context.Context, location string) ([]string, error) {
	s, err := store.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Datasets(ctx)
}

// Migrate brings the schema of the store at the location to a version, up or
// down; [SchemaVersion] is this program's. Take a backup first.
func Migrate(ctx context.Context, location string, version int64) error {
	return store.Migrate(ctx, location, version)
}

// SchemaVersion is the version of the schema that this program reads and writes.
const SchemaVersion = store.Version

// writer appends to the chain within a transaction.
type writer struct {
	tx   *store.Tx
	last *chain.Entry // nil before the first
}

// update runs f in one transaction, after it checked the last entry.
func (l *Ledger) update(ctx context.Context, f func(*writer) error) error {
	return l.locked(ctx, func(tx *store.Tx) error {
		last, err := l.lastEntry(tx)
		if err != nil {
			return err
		}
		return f(&writer{tx: tx, last: last})
	})
}

// lastEntry reads the entry that all totals are taken from, and checks that it is
// what its hash says and that it is the head.
func (l *Ledger) lastEntry(tx *store.Tx) (*chain.Entry, error) {
	seq, head := tx.Head()
	row, err := tx.Last()
	if errors.Is(err, sql.ErrNoRows) {
		return nil, store.Abort(l.tampered(seq, "it is the head and it is missing"))
	} else if err != nil {
		return nil, err
	}
	e, err := chain.Parse(row.Body)
	if err != nil || chain.Sum(row.Body) != toHash(row.Hash) || !bytes.Equal(row.Hash, head) || e.Seq != seq {
		return nil, store.Abort(l.tampered(seq, "its bytes are not those of its hash"))
	}
	return e, nil
}

func (l *Ledger) tampered(seq int64, format string, args ...any) error {
	return &TamperError{Dataset: l.open.Dataset, Seq: seq, What: fmt.Sprintf(format, args...)}
}

// append completes the entry and writes it.
func (w *writer) append(e *chain.Entry) (numbered, error) {
	seq, head := w.tx.Head()
	e.Seq = seq + 1
	copy(e.Prev[:], head)
	e.Time = time.Now().UTC().Truncate(time.Microsecond)
	if w.last != nil && e.Time.Before(w.last.Time) {
		e.Time = w.last.Time // a clock that was set back: what was charged since a time ends the chain
	}
	body, err := e.Encode()
	if err != nil {
		return numbered{}, store.Abort(err)
	}
	h := chain.Sum(body)
	w.last = e
	return numbered{Entry: e, hash: h, line: body}, w.tx.Append(store.Row{Seq: e.Seq, Hash: h[:], Body: body})
}

// limits is what a budget admits: that of the ledger, with the reserve that was
// fixed when it was created.
func (l *Ledger) limits(budget dp.Budget) (meter.Limits, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cached && l.known.Budget == budget {
		return l.known, nil
	}
	limits, err := l.meter.Limits(budget, l.open.Reserve)
	if err == nil {
		l.known, l.cached = limits, true
	}
	return limits, err
}

// pageSize is how many entries are read at a time.
const pageSize = 512

// numbered is an entry with its hash and its canonical bytes.
type numbered struct {
	*chain.Entry
	hash chain.Hash
	line []byte
}

// entries yields the entries from the given one on, parsed and not verified.
func (l *Ledger) entries(ctx context.Context, from int64) iter.Seq2[numbered, error] {
	return func(yield func(numbered, error) bool) {
		for {
			var page []store.Row
			err := l.store.View(ctx, l.open.Dataset, func(tx *store.Tx) (err error) {
				page, err = tx.Page(from, pageSize)
				return err
			})
			if err != nil {
				yield(numbered{}, err)
				return
			}
			for _, row := range page {
				e, err := chain.Parse(row.Body)
				if err != nil {
					err = l.tampered(row.Seq, "it cannot be read")
				}
				if !yield(numbered{Entry: e, hash: toHash(row.Hash), line: row.Body}, err) || err != nil {
					return
				}
				from = row.Seq + 1
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

// toHash copies what should be a hash; another length gives another hash.
func toHash(b []byte) (h chain.Hash) {
	copy(h[:], b)
	return h
}
