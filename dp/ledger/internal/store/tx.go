package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Tx is one transaction on one dataset.
type Tx struct {
	s       *Store
	ctx     context.Context
	tx      *sql.Tx
	dataset int64
	seq     int64
	head    []byte
}

// Row is an entry as it is stored.
type Row struct {
	Seq  int64
	Hash []byte
	Body []byte
}

// ChargeRow is where a key was charged and recorded.
type ChargeRow struct {
	Key      string
	Seq      int64
	Recorded int64 // the entry that recorded the release; 0 while it is pending
}

// lock takes the dataset's write lock: in SQLite the transaction has that of the
// whole file already.
func (t *Tx) lock(ctx context.Context, dataset string) error {
	if t.s.lite {
		return t.find(ctx, dataset, "")
	}
	return t.find(ctx, dataset, " FOR UPDATE")
}

func (t *Tx) find(ctx context.Context, dataset, suffix string) error {
	row := t.tx.QueryRowContext(ctx, `SELECT id, seq, `+bounded("head", mostName)+` FROM ledger_datasets WHERE name = $1`+suffix, dataset)
	err := row.Scan(&t.dataset, &t.seq, within[[]byte]{&t.head})
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %s: %q", ErrNoDataset, t.s.name, dataset)
	}
	return err
}

// FingerprintKey is the store's key. In the transaction of [Store.Add] it stays as
// it is until the dataset is there.
func (t *Tx) FingerprintKey() (key []byte, err error) {
	query := `SELECT ` + bounded("fingerprint_key", mostName) + ` FROM ledger_store WHERE id = 1`
	if !t.s.lite {
		query += ` FOR UPDATE` // in SQLite the transaction has the whole file
	}
	err = t.tx.QueryRowContext(t.ctx, query).Scan(within[[]byte]{&key})
	return key, err
}

// AdoptFingerprintKey takes over the key of a backup for the dataset that is being
// added; it reports false, and changes nothing, where other datasets of the store
// have another key.
func (t *Tx) AdoptFingerprintKey(key []byte) (bool, error) {
	old, err := t.FingerprintKey()
	if err != nil || bytes.Equal(old, key) {
		return true, err
	}
	var others int
	if err := t.tx.QueryRowContext(t.ctx, `SELECT count(*) FROM ledger_datasets WHERE id <> $1`, t.dataset).Scan(&others); err != nil || others > 0 {
		return false, err
	}
	_, err = t.tx.ExecContext(t.ctx, `UPDATE ledger_store SET fingerprint_key = $1 WHERE id = 1`, key)
	return true, err
}

// Head is the last entry's number and hash.
func (t *Tx) Head() (seq int64, hash []byte) { return t.seq, t.head }

// Last returns the last entry.
func (t *Tx) Last() (Row, error) { return t.Entry(t.seq) }

// Entry returns one entry; sql.ErrNoRows where there is none.
func (t *Tx) Entry(seq int64) (Row, error) {
	r := Row{Seq: seq}
	err := t.tx.QueryRowContext(t.ctx, `SELECT `+bounded("hash", mostName)+`, `+bounded("body", MostEntry)+` FROM ledger_entries WHERE dataset = $1 AND seq = $2`, t.dataset, seq).
		Scan(within[[]byte]{&r.Hash}, within[[]byte]{&r.Body})
	return r, err
}

// Append writes the next entry.
func (t *Tx) Append(r Row) error {
	if r.Seq != t.seq+1 {
		panic(fmt.Sprintf("store: Append: entry %d after %d", r.Seq, t.seq))
	}
	if err := few("an entry", len(r.Body), MostEntry); err != nil {
		return err
	}
	if _, err := t.tx.ExecContext(t.ctx, `INSERT INTO ledger_entries (dataset, seq, hash, body) VALUES ($1, $2, $3, $4)`, t.dataset, r.Seq, r.Hash, r.Body); err != nil {
		return err
	}
	t.seq, t.head = r.Seq, r.Hash
	_, err := t.tx.ExecContext(t.ctx, `UPDATE ledger_datasets SET seq = $2, head = $3 WHERE id = $1`, t.dataset, t.seq, t.head)
	return err
}

// Charge finds a charge by its key.
func (t *Tx) Charge(key string) (r ChargeRow, found bool, err error) {
	return t.charge(`SELECT `+bounded("key", mostName)+`, seq, coalesce(recorded, 0) FROM ledger_charges WHERE dataset = $1 AND key = $2`, key)
}

// ChargeAt finds a charge by its entry.
func (t *Tx) ChargeAt(seq int64) (r ChargeRow, found bool, err error) {
	return t.charge(`SELECT `+bounded("key", mostName)+`, seq, coalesce(recorded, 0) FROM ledger_charges WHERE dataset = $1 AND seq = $2`, seq)
}

func (t *Tx) charge(query string, arg any) (r ChargeRow, found bool, err error) {
	err = t.tx.QueryRowContext(t.ctx, query, t.dataset, arg).Scan(within[string]{&r.Key}, &r.Seq, &r.Recorded)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	return r, err == nil, err
}

// AddCharge notes the key of a charge.
func (t *Tx) AddCharge(key string, seq int64) error {
	_, err := t.tx.ExecContext(t.ctx, `INSERT INTO ledger_charges (dataset, key, seq) VALUES ($1, $2, $3)`, t.dataset, key, seq)
	return err
}

// AddRelease stores the release of a charge; recorded is the entry that says so.
func (t *Tx) AddRelease(charge, recorded int64, release []byte) error {
	if release == nil {
		release = []byte{}
	}
	if err := few("a release", len(release), MostRelease); err != nil {
		return err
	}
	if _, err := t.tx.ExecContext(t.ctx, `INSERT INTO ledger_releases (dataset, seq, body) VALUES ($1, $2, $3)`, t.dataset, charge, release); err != nil {
		return err
	}
	_, err := t.tx.ExecContext(t.ctx, `UPDATE ledger_charges SET recorded = $3 WHERE dataset = $1 AND seq = $2`, t.dataset, charge, recorded)
	return err
}

// Release returns the release of a charge; sql.ErrNoRows where there is none.
func (t *Tx) Release(charge int64) ([]byte, error) {
	var body []byte
	err := t.tx.QueryRowContext(t.ctx, `SELECT `+bounded("body", MostRelease)+` FROM ledger_releases WHERE dataset = $1 AND seq = $2`, t.dataset, charge).Scan(within[[]byte]{&body})
	return body, err
}

// Analyst returns what is kept of an analyst, nil where there is nothing.
func (t *Tx) Analyst(name string) ([]byte, error) {
	var body []byte
	err := t.tx.QueryRowContext(t.ctx, `SELECT `+bounded("body", mostOther)+` FROM ledger_analysts WHERE dataset = $1 AND analyst = $2`, t.dataset, name).Scan(within[[]byte]{&body})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return body, err
}

// SetAnalyst replaces what is kept of an analyst.
func (t *Tx) SetAnalyst(name string, body []byte) error {
	_, err := t.tx.ExecContext(t.ctx, `INSERT INTO ledger_analysts (dataset, analyst, body) VALUES ($1, $2, $3)
		ON CONFLICT (dataset, analyst) DO UPDATE SET body = excluded.body`, t.dataset, name, body)
	return err
}

// RecordFingerprint records that the dataset was read with this fingerprint. It returns the
// other datasets of the store that were, and whether this one was before.
// Two datasets that record the same data for the first time wait for a lock.
func (t *Tx) RecordFingerprint(fingerprint string) (seen bool, others []string, err error) {
	var n int
	if err := t.tx.QueryRowContext(t.ctx, `SELECT count(*) FROM ledger_sightings WHERE fingerprint = $1 AND dataset = $2`, fingerprint, t.dataset).Scan(&n); err != nil {
		return false, nil, err
	}
	if n == 0 && !t.s.lite {
		if _, err := t.tx.ExecContext(t.ctx, `SELECT 1 FROM ledger_store WHERE id = 1 FOR UPDATE`); err != nil {
			return false, nil, err
		}
	}
	if n == 0 {
		if _, err := t.tx.ExecContext(t.ctx, `INSERT INTO ledger_sightings (fingerprint, dataset) VALUES ($1, $2)`, fingerprint, t.dataset); err != nil {
			return false, nil, err
		}
	}
	others, err = t.strings(`SELECT `+bounded("d.name", mostName)+` FROM ledger_sightings s JOIN ledger_datasets d ON d.id = s.dataset
		WHERE s.fingerprint = $1 AND s.dataset <> $2 ORDER BY d.name`, fingerprint, t.dataset)
	return n > 0, others, err
}

// HasFingerprint reports whether the dataset was read with a fingerprint that begins
// with the prefix.
func (t *Tx) HasFingerprint(prefix string) (bool, error) {
	var n int
	err := t.tx.QueryRowContext(t.ctx, `SELECT count(*) FROM (SELECT 1 FROM ledger_sightings
		WHERE dataset = $1 AND substr(fingerprint, 1, $2) = $3 LIMIT 1) AS one`, t.dataset, len(prefix), prefix).Scan(&n)
	return n > 0, err
}

// FingerprintsSeen returns the fingerprints with which the dataset was read.
func (t *Tx) FingerprintsSeen() ([]string, error) {
	return t.strings(`SELECT `+bounded("fingerprint", mostName)+` FROM ledger_sightings WHERE dataset = $1 ORDER BY fingerprint`, t.dataset)
}

// Analysts returns the names of all analysts of whom something is kept.
func (t *Tx) Analysts() ([]string, error) {
	return t.strings(`SELECT `+bounded("analyst", mostName)+` FROM ledger_analysts WHERE dataset = $1 ORDER BY analyst`, t.dataset)
}

func (t *Tx) strings(query string, args ...any) ([]string, error) {
	rows, err := t.tx.QueryContext(t.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var s string
		if err := rows.Scan(within[string]{&s}); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, rows.Err()
}
