package store

import "context"

// Page returns up to n entries from the given number on, in order, and none where
// there are no more. Of long entries it returns fewer.
func (t *Tx) Page(from int64, n int) ([]Row, error) {
	rows, err := t.tx.QueryContext(t.ctx, `SELECT seq, `+bounded("hash", mostName)+`, `+bounded("body", MostEntry)+` FROM ledger_entries WHERE dataset = $1 AND seq >= $2 ORDER BY seq LIMIT $3`, t.dataset, from, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []Row
	for size := 0; size < mostAtOnce && rows.Next(); {
		var r Row
		if err := rows.Scan(&r.Seq, within[[]byte]{&r.Hash}, within[[]byte]{&r.Body}); err != nil {
			return nil, err
		}
		size += len(r.Body)
		page = append(page, r)
	}
	return page, rows.Err()
}

// Charges returns up to n charges after the given entry, in order; pending limits
// them to those without a release.
func (t *Tx) Charges(after int64, n int, pending bool) ([]ChargeRow, error) {
	query := `SELECT ` + bounded("key", mostName) + `, seq, coalesce(recorded, 0) FROM ledger_charges WHERE dataset = $1 AND seq > $2 ORDER BY seq LIMIT $3`
	if pending {
		query = `SELECT ` + bounded("key", mostName) + `, seq, 0 FROM ledger_charges WHERE dataset = $1 AND seq > $2 AND recorded IS NULL ORDER BY seq LIMIT $3`
	}
	rows, err := t.tx.QueryContext(t.ctx, query, t.dataset, after, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []ChargeRow
	for rows.Next() {
		var r ChargeRow
		if err := rows.Scan(within[string]{&r.Key}, &r.Seq, &r.Recorded); err != nil {
			return nil, err
		}
		page = append(page, r)
	}
	return page, rows.Err()
}

// Counts returns how many entries, charges and releases the dataset has.
func (t *Tx) Counts() (entries, charges, pending, releases int64, err error) {
	err = t.tx.QueryRowContext(t.ctx, `SELECT
		(SELECT count(*) FROM ledger_entries WHERE dataset = $1),
		(SELECT count(*) FROM ledger_charges WHERE dataset = $1),
		(SELECT count(*) FROM ledger_charges WHERE dataset = $1 AND recorded IS NULL),
		(SELECT count(*) FROM ledger_releases WHERE dataset = $1)`, t.dataset).Scan(&entries, &charges, &pending, &releases)
	return entries, charges, pending, releases, err
}

// Check has the store check itself, where it can.
func (s *Store) Check(ctx context.Context) error {
	if s.lite {
		return s.checkSQLite(ctx)
	}
	return nil
}
