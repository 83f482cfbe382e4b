package store

import (
	"database/sql"
	"errors"
)

// Witnesses returns the places where the head of the dataset's chain is kept.
func (t *Tx) Witnesses() ([]string, error) {
	return t.strings(`SELECT `+bounded("place", mostName)+` FROM ledger_witnesses WHERE dataset = $1 ORDER BY place`, t.dataset)
}

// AddWitness names a place; one that is named already stays as it is.
func (t *Tx) AddWitness(place string) error {
	_, err := t.tx.ExecContext(t.ctx, `INSERT INTO ledger_witnesses (dataset, place) VALUES ($1, $2) ON CONFLICT DO NOTHING`, t.dataset, place)
	return err
}

// RemoveWitness forgets a place and reports whether it was named.
func (t *Tx) RemoveWitness(place string) (bool, error) {
	result, err := t.tx.ExecContext(t.ctx, `DELETE FROM ledger_witnesses WHERE dataset = $1 AND place = $2`, t.dataset, place)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// Sketch returns the sketch of who is in the dataset, nil where there is none.
func (t *Tx) Sketch() ([]byte, error) {
	var body []byte
	err := t.tx.QueryRowContext(t.ctx, `SELECT `+bounded("body", mostOther)+` FROM ledger_sketches WHERE dataset = $1`, t.dataset).Scan(within[[]byte]{&body})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return body, err
}

// SetSketch replaces the sketch of the dataset. Two datasets that change theirs
// queue for a lock, so that one of them sees the other's.
func (t *Tx) SetSketch(body []byte) error {
	if !t.s.lite {
		if _, err := t.tx.ExecContext(t.ctx, `SELECT 1 FROM ledger_store WHERE id = 1 FOR UPDATE`); err != nil {
			return err
		}
	}
	_, err := t.tx.ExecContext(t.ctx, `INSERT INTO ledger_sketches (dataset, body) VALUES ($1, $2)
		ON CONFLICT (dataset) DO UPDATE SET body = excluded.body`, t.dataset, body)
	return err
}

// EachSketch calls f with the sketches of the store's other datasets, one at a
// time.
func (t *Tx) EachSketch(f func(dataset string, body []byte) error) error {
	rows, err := t.tx.QueryContext(t.ctx, `SELECT `+bounded("d.name", mostName)+`, `+bounded("s.body", mostOther)+` FROM ledger_sketches s JOIN ledger_datasets d ON d.id = s.dataset
		WHERE s.dataset <> $1 ORDER BY d.name`, t.dataset)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var body []byte
		if err := rows.Scan(within[string]{&name}, within[[]byte]{&body}); err != nil {
			return err
		}
		if err := f(name, body); err != nil {
			return err
		}
	}
	return rows.Err()
}
