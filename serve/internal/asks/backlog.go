package asks

import (
	"context"
	"time"
)

// Backlog is what has no end yet, as whoever reads the metrics may know it: an ask counts until its
// analyst is told of its end, and one that is put back after its data were read leaves at the same
// time as one that ended then. So it says nothing of what a check found.
type Backlog struct {
	// Queued and Waiting are those for a worker and those for a steward.
	Queued, Waiting Pile
}

// Pile is a number of asks and since when the oldest has been there.
type Pile struct {
	Asks   int
	Oldest time.Time
}

// An ask that was queued later than the time was waiting for a steward then. Of those that have
// ended only the ones that are told later are read, by the index of that time alone.
const backlogOf = `SELECT place, count(*), min(since) FROM (
	SELECT CASE WHEN queued = 0 OR queued > $2 THEN 'waiting' ELSE 'queued' END AS place, CASE WHEN queued = 0 OR queued > $2 THEN asked ELSE queued END AS since
	FROM (SELECT queued, asked, counted_until FROM curator_ask WHERE told = 0 AND dataset = $1
		UNION ALL SELECT queued, asked, counted_until FROM curator_ask WHERE told > $2 AND dataset || '' = $1) AS untold
	WHERE asked <= $2 AND (counted_until = 0 OR counted_until > $2)) AS open GROUP BY place`

// Backlog is that of a dataset at a time.
func (s *Store) Backlog(ctx context.Context, dataset string, at time.Time) (b Backlog, err error) {
	rows, err := s.db.QueryContext(ctx, backlogOf, dataset, micros(at))
	if err != nil {
		return b, err
	}
	defer rows.Close()
	for rows.Next() {
		var place string
		var p Pile
		var oldest int64
		if err := rows.Scan(&place, &p.Asks, &oldest); err != nil {
			return b, err
		}
		p.Oldest = inTime(oldest)
		if State(place) == Waiting {
			b.Waiting = p
		} else {
			b.Queued = p
		}
	}
	return b, rows.Err()
}
