package store

import (
	"context"
)

// Total counts the rounds of one kind and state, and their reports, which are counted
// when a round is closed.
type Total struct {
	Kind            int32
	State           State
	Rounds, Reports uint64
}

// Totals are those of all runs.
func (s *Store) Totals(ctx context.Context) (map[RunID][]Total, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT run, kind, state, COUNT(*), CAST(SUM(accepted) AS BIGINT) FROM fleet_round GROUP BY run, kind, state ORDER BY kind, state`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[RunID][]Total{}
	for rows.Next() {
		var id []byte
		var t Total
		var state string
		var n, reports int64
		if err := rows.Scan(&id, &t.Kind, &state, &n, &reports); err != nil {
			return nil, err
		}
		t.State, t.Rounds, t.Reports = State(state), uint64(n), uint64(reports)
		out[RunID(id)] = append(out[RunID(id)], t)
	}
	return out, rows.Err()
}

// Applied lists up to most rounds of a kind that were applied, the last one first.
func (s *Store) Applied(ctx context.Context, run RunID, kind int32, most int) ([]Round, error) {
	return s.rounds(ctx, `SELECT `+roundColumns+` FROM fleet_round WHERE run = $1 AND kind = $2 AND state = 'applied' ORDER BY id DESC LIMIT $3`, run[:], kind, most)
}
