package asks

import (
	"context"
	"fmt"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// The kinds of notices that are told outside of the service.
const (
	OfAsk     = "ask"     // about an ask and its data
	OfRecords = "records" // about store, ledger, audit log and witness
)

// Delivery is an attempt to tell a channel that a dataset has notices.
type Delivery struct {
	Channel, Dataset string
	// Seq is the newest notice that it is about, and Kinds are those of all since the last that was told.
	Seq   int64
	Kinds []string
	made  int64
	// Again says that there was another attempt since.
	Again bool
}

// Due takes up the delivery of the notices of a dataset that a channel was not told of. It is noted
// before it is made, so that no other process makes it, and one after a kill knows that it is
// another. [ErrNone] if nothing is due. wait is the time until the next attempt, by the number of
// those before.
func (s *Store) Due(ctx context.Context, channel, dataset string, wait func(tries int) time.Duration) (*Delivery, error) {
	var there bool
	err := s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM curator_notice WHERE dataset = $2 AND seq > coalesce((SELECT seq FROM curator_delivery WHERE channel = $1 AND dataset = $2), 0))`, channel, dataset).Scan(&there)
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, ErrNone
	}
	d := Delivery{Channel: channel, Dataset: dataset}
	err = s.update(ctx, func(tx *database.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO curator_delivery (channel, dataset, seq, tries, due) VALUES ($1, $2, 0, 0, 0) ON CONFLICT DO NOTHING`, channel, dataset); err != nil {
			return err
		}
		var told, due int64
		var tries, ofAsks, all int
		if err := tx.QueryRowContext(ctx, `SELECT seq, tries, due FROM curator_delivery WHERE channel = $1 AND dataset = $2`+tx.Locking("FOR UPDATE"), channel, dataset).Scan(&told, &tries, &due); err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0), coalesce(max(made), 0), count(*), count(CASE WHEN ask <> '' THEN 1 END) FROM curator_notice WHERE dataset = $1 AND seq > $2`, dataset, told).Scan(&d.Seq, &d.made, &all, &ofAsks); err != nil {
			return err
		}
		if due > now || all == 0 {
			return ErrNone
		}
		d.Again, d.Kinds = tries > 0, nil
		if ofAsks > 0 {
			d.Kinds = append(d.Kinds, OfAsk)
		}
		if all > ofAsks {
			d.Kinds = append(d.Kinds, OfRecords)
		}
		_, err = tx.ExecContext(ctx, `UPDATE curator_delivery SET tries = $3, due = $4 WHERE channel = $1 AND dataset = $2`, channel, dataset, tries+1, now+wait(tries).Microseconds())
		return err
	})
	if err != nil {
		return nil, err
	}
	return &d, nil
}

// Delivered notes that a channel was told. The next message waits for rest.
func (s *Store) Delivered(ctx context.Context, d *Delivery, rest time.Duration) error {
	return s.update(ctx, func(tx *database.Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE curator_delivery SET seq = $3, tries = 0, due = $4 WHERE channel = $1 AND dataset = $2 AND seq < $3`, d.Channel, d.Dataset, d.Seq, now+rest.Microseconds())
		return err
	})
}

// ID names a message, whichever attempt it is. Of a store that was restored other notices have the
// numbers of those that were lost, and other times.
func (d Delivery) ID() string { return fmt.Sprintf("%s.%d.%d", d.Dataset, d.Seq, d.made) }

// Tell adds a notice about the records of a dataset, unless the last about them says the same.
func (s *Store) Tell(ctx context.Context, dataset, text string) error {
	return s.update(ctx, func(tx *database.Tx) error {
		if err := lock(ctx, tx, "curator_notice", "SHARE ROW EXCLUSIVE"); err != nil {
			return err
		}
		var same bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM curator_notice WHERE text = $2 AND seq = (SELECT max(seq) FROM curator_notice WHERE dataset = $1 AND ask = ''))`, dataset, text).Scan(&same); err != nil || same {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		return addNotice(ctx, tx, dataset, "", now, text)
	})
}
