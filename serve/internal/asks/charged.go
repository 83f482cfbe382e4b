package asks

import (
	"context"
	"time"
)

// Charged is an ask that the ledger was charged for.
type Charged struct {
	Ask
	// Release is empty where the ask ended as Pending.
	Release []byte
	// Paid is the entry of its charge; nil in asks of earlier versions.
	Paid *Paid
}

// Paid names the entry of a ledger that paid for an ask.
type Paid struct {
	Ledger string
	Seq    int64
	Hash   []byte
}

// chargedOf is found by an index of the asks that were charged alone.
const chargedOf = `SELECT ` + columns + `, release, ledger, entry, entry_hash FROM curator_ask WHERE dataset = $1 AND state IN ('released', 'pending') AND (ended > $2 OR ended = $2 AND number > $3)
	ORDER BY ended, number LIMIT 50`

// Charged calls f for each ask of a dataset that was charged and ended at or after a time, in the
// order of their ends, until it returns an error.
func (s *Store) Charged(ctx context.Context, dataset string, since time.Time, f func(Charged) error) error {
	ended, number := micros(since), int64(-1)
	for {
		page, err := s.chargedAfter(ctx, dataset, ended, number)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, c := range page {
			if err := f(c); err != nil {
				return err
			}
			ended, number = micros(c.Ended), c.Number
		}
	}
}

func (s *Store) chargedAfter(ctx context.Context, dataset string, ended, number int64) ([]Charged, error) {
	rows, err := s.db.QueryContext(ctx, chargedOf, dataset, ended, number)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []Charged
	for rows.Next() {
		var c Charged
		var p Paid
		if err := scan(rows, &c.Ask, &c.Release, &p.Ledger, &p.Seq, &p.Hash); err != nil {
			return nil, err
		}
		if p.Ledger != "" {
			c.Paid = &p
		}
		page = append(page, c)
	}
	return page, rows.Err()
}

// Ran reports whether a worker ever had an ask of a dataset, so that there was a ledger.
func (s *Store) Ran(ctx context.Context, dataset string) (ran bool, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM curator_ask WHERE dataset = $1 AND fence > 0)`, dataset).Scan(&ran)
	return ran, err
}
