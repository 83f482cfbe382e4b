package store

import (
	"database/sql"
	"errors"
	"time"
)

// Check is a check of the data that no charge has paid for.
type Check struct {
	// Time is when, in UTC, and Analyst who asked.
	Time    time.Time `json:"time"`
	Analyst string    `json:"analyst"`
}

// mostChecks bounds the checks that are read of a dataset.
const mostChecks = 1000

// AddCheck notes a check and returns its number. Numbers grow, and are of the clock:
// one that was taken back or cleared does not come again for another check.
func (t *Tx) AddCheck(analyst string) (id int64, err error) {
	now := time.Now().UTC()
	if err := t.tx.QueryRowContext(t.ctx, `SELECT coalesce(max(id), 0) FROM ledger_checks WHERE dataset = $1`, t.dataset).Scan(&id); err != nil {
		return 0, err
	}
	id = max(id+1, now.UnixNano())
	_, err = t.tx.ExecContext(t.ctx, `INSERT INTO ledger_checks (dataset, id, at, analyst) VALUES ($1, $2, $3, $4)`,
		t.dataset, id, now.Format(time.RFC3339), analyst)
	return id, err
}

// CloseCheck makes a check, if it is the open one, one that nothing goes on with.
func (t *Tx) CloseCheck(id int64) error {
	_, err := t.tx.ExecContext(t.ctx, `DELETE FROM ledger_open_checks WHERE dataset = $1 AND id = $2`, t.dataset, id)
	return err
}

// EndCheck takes a check back; one that was cleared meanwhile is gone already.
func (t *Tx) EndCheck(id int64) error {
	err := t.CloseCheck(id)
	if err == nil {
		_, err = t.tx.ExecContext(t.ctx, `DELETE FROM ledger_checks WHERE dataset = $1 AND id = $2`, t.dataset, id)
	}
	return err
}

// OpenCheck is the check that was begun last, if it is not paid, and what it asked of which data.
// Its id is 0 where there is none.
func (t *Tx) OpenCheck() (id int64, asked string, err error) {
	err = t.tx.QueryRowContext(t.ctx, `SELECT id, `+bounded("asked", mostName)+` FROM ledger_open_checks WHERE dataset = $1`, t.dataset).Scan(&id, within[string]{&asked})
	if errors.Is(err, sql.ErrNoRows) {
		return 0, "", nil
	}
	return id, asked, err
}

// KeepOpen makes a check the one that is open, in place of any other.
func (t *Tx) KeepOpen(id int64, asked string) error {
	_, err := t.tx.ExecContext(t.ctx, `INSERT INTO ledger_open_checks (dataset, id, asked) VALUES ($1, $2, $3)
		ON CONFLICT (dataset) DO UPDATE SET id = excluded.id, asked = excluded.asked`, t.dataset, id, asked)
	return err
}

// Checks lists the checks, at most 1000.
func (t *Tx) Checks() ([]Check, error) {
	rows, err := t.tx.QueryContext(t.ctx, `SELECT `+bounded("at", mostName)+`, `+bounded("analyst", mostName)+` FROM ledger_checks WHERE dataset = $1 ORDER BY id LIMIT $2`, t.dataset, mostChecks)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Check
	for rows.Next() {
		var at string
		var c Check
		if err := rows.Scan(within[string]{&at}, within[string]{&c.Analyst}); err != nil {
			return nil, err
		}
		if c.Time, err = time.Parse(time.RFC3339, at); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

// ClearChecks forgets them.
func (t *Tx) ClearChecks() error {
	_, err := t.tx.ExecContext(t.ctx, `DELETE FROM ledger_open_checks WHERE dataset = $1`, t.dataset)
	if err == nil {
		_, err = t.tx.ExecContext(t.ctx, `DELETE FROM ledger_checks WHERE dataset = $1`, t.dataset)
	}
	return err
}
