package asks

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// Notice is what a check found in the data. It is private: for the steward alone.
type Notice struct {
	Seq          int64
	Dataset, Ask string
	Made         time.Time
	Text         string
}

func addNotice(ctx context.Context, tx *database.Tx, dataset, ask string, now int64, text string) error {
	if err := lock(ctx, tx, "curator_notice", "SHARE ROW EXCLUSIVE"); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO curator_notice (seq, dataset, ask, made, text) SELECT coalesce(max(seq), 0) + 1, $1, $2, $3, $4 FROM curator_notice`, dataset, ask, now, text)
	return err
}

// lastNotice is the text of the newest notice of an ask, empty where there is none.
func lastNotice(ctx context.Context, tx *database.Tx, ask string) (string, error) {
	var text string
	err := tx.QueryRowContext(ctx, `SELECT text FROM curator_notice WHERE ask = $1 ORDER BY seq DESC LIMIT 1`, ask).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return text, err
}

// Notices returns up to n notices of a dataset below a number, newest first.
func (s *Store) Notices(ctx context.Context, dataset string, below int64, n int) ([]Notice, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT seq, dataset, ask, made, text FROM curator_notice WHERE dataset = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3`, dataset, below, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Notice
	for rows.Next() {
		var made int64
		var x Notice
		if err := rows.Scan(&x.Seq, &x.Dataset, &x.Ask, &made, &x.Text); err != nil {
			return nil, err
		}
		x.Made = inTime(made)
		out = append(out, x)
	}
	return out, rows.Err()
}
