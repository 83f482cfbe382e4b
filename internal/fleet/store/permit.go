package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// Draw is a device's request of a permit.
type Draw struct {
	// Place and Here name the device's permit of a number: over all runs, and in this one.
	Place, Here func(number uint64) Hash
	// Drawn and DrawnHere are where the last ones are looked for first.
	Drawn, DrawnHere uint64
	Request          Hash
}

// Drawn is what became of it.
type Drawn struct {
	// Closed is why the round gives no permits, 0 if it does.
	Closed Outcome
	// Round is that of the permit, or 0 where the device has drawn as many in the run as it may: then
	// the permit is its last.
	Round, Number uint64
	Request       Hash
}

// permit is a row.
type permit struct {
	place, run, request []byte
	round               uint64
}

// Draw gives each device its permit for the round, one a round, and no more than most in the run.
// A device that has one for the round gets it again, whatever it asked by. Permits are durable when
// it returns without an error; after one, the same requests may be made again.
func (s *Store) Draw(ctx context.Context, run RunID, round uint64, draws []Draw, most uint64, grace time.Duration) ([]Drawn, error) {
	out := make([]Drawn, len(draws))
	order := make([]int, len(draws)) // one for all processes: who draws for the same devices waits in a line
	first := make([]Hash, len(draws))
	for i, d := range draws {
		order[i], first[i] = i, d.Place(1)
	}
	slices.SortStableFunc(order, func(a, b int) int { return bytes.Compare(first[a][:], first[b][:]) })
	err := s.db.Update(ctx, func(tx *database.Tx) error {
		closed, err := gate(ctx, tx, run, round, grace)
		if err != nil {
			return err
		}
		var restored int64
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(at), 0) FROM fleet_restored`).Scan(&restored); err != nil {
			return err
		}
		base := uint64(restored) << EraBits
		counts := map[uint64]int64{}
		for _, i := range order {
			if out[i] = (Drawn{Closed: closed}); closed != 0 {
				continue
			}
			var number uint64
			if out[i], number, err = drawOne(ctx, tx, run, round, draws[i], most, base); err != nil {
				return err
			}
			if number > 0 {
				counts[number]++
			}
		}
		for _, number := range slices.Sorted(maps.Keys(counts)) {
			if _, err := tx.ExecContext(ctx, `INSERT INTO fleet_drawn (run, number, devices) VALUES ($1, $2, $3) ON CONFLICT (run, number) DO UPDATE SET devices = fleet_drawn.devices + excluded.devices`,
				run[:], int64(number), counts[number]); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// drawOne draws one; number is its number in the run, 0 where nothing was drawn.
func drawOne(ctx context.Context, tx *database.Tx, run RunID, round uint64, d Draw, most, base uint64) (out Drawn, number uint64, err error) {
	for range 8 { // another process may be drawing for the same device
		// In this order: a statement sees what others committed since the one before, and the permits
		// over all runs are never behind those of the run.
		m, here, err := latest(ctx, tx, "here", d.Here, 0, d.DrawnHere)
		if err != nil {
			return out, 0, err
		}
		n, last, err := latest(ctx, tx, "place", d.Place, base, d.Drawn)
		if err != nil {
			return out, 0, err
		}
		switch {
		case m > 0 && here.round == round:
			for n > base && !bytes.Equal(at(d.Place, n), here.place) { // the device drew in another run since
				n--
			}
			return Drawn{Round: round, Number: n, Request: Hash(here.request)}, 0, nil
		case m >= most:
			return Drawn{Number: n, Request: Hash(last.request)}, 0, nil
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO fleet_permit (place, here, run, round, request) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
			at(d.Place, n+1), at(d.Here, m+1), run[:], int64(round), d.Request[:])
		if err != nil {
			return out, 0, err
		}
		if added, err := res.RowsAffected(); err != nil {
			return out, 0, err
		} else if added == 1 {
			return Drawn{Round: round, Number: n + 1, Request: d.Request}, m + 1, nil
		}
	}
	return out, 0, errors.New("a permit cannot be drawn: others draw for the same device")
}

// DrawnBy counts the devices that have drawn one permit of a run or more, two or more, and so on.
func (s *Store) DrawnBy(ctx context.Context, run RunID) ([]uint64, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT devices FROM fleet_drawn WHERE run = $1 ORDER BY number`, run[:])
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []uint64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		out = append(out, uint64(n))
	}
	return out, rows.Err()
}

func at(name func(uint64) Hash, n uint64) []byte {
	h := name(n)
	return h[:]
}

// EraBits are those of a permit's number that count; above them is when the store was put back.
const EraBits = 31

// farthest bounds what a device may say of itself.
const farthest = 1 << 30

// latest is the highest number of the device above base that has a row, base for none: all between them have one.
func latest(ctx context.Context, tx *database.Tx, column string, name func(uint64) Hash, base, likely uint64) (low uint64, row permit, err error) {
	low = base
	has := func(n uint64) (bool, error) {
		var p permit
		var round int64
		err := tx.QueryRowContext(ctx, fmt.Sprintf(`SELECT place, run, round, request FROM fleet_permit WHERE %s = $1`, column), at(name, n)).Scan(&p.place, &p.run, &round, &p.request)
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		p.round = uint64(round)
		low, row = n, p
		return true, nil
	}
	likely = min(max(likely, base), base+farthest)
	var there bool
	high := likely
	if likely > base {
		if there, err = has(likely); err != nil {
			return 0, row, err
		}
	}
	if there || likely == base {
		for step := uint64(1); ; step *= 2 {
			high = low + step
			if there, err = has(high); err != nil {
				return 0, row, err
			} else if !there {
				break
			}
		}
	}
	for low+1 < high {
		mid := low + (high-low)/2
		if there, err = has(mid); err != nil {
			return 0, row, err
		} else if !there {
			high = mid
		}
	}
	return low, row, nil
}
