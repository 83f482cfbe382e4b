package asks

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// TestWhatRunsOftenWalksNoEndedAsks: SQLite says of both queries that it reads only rows
// of an index that holds no ended ask, or that goes by analyst and time.
func TestWhatRunsOftenWalksNoEndedAsks(t *testing.T) {
	location := filepath.Join(t.TempDir(), "curator.db")
	s, err := Open(t.Context(), location, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := sql.Open("sqlite", location)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for query, index := range map[string]string{
		nextOf:    "SEARCH curator_ask USING INDEX curator_ask_open (dataset=?)",
		backlogOf: "SEARCH curator_ask USING INDEX curator_ask_told (told>?)",
		recentOf:  "INDEX curator_ask_recent (dataset=? AND analyst=? AND asked>?)",
	} {
		plan := strings.Join(planOf(t, db, query), "\n")
		if !strings.Contains(plan, index) || strings.Contains(plan, "SCAN curator_ask") || strings.Contains(plan, "curator_ask_dataset") {
			t.Errorf("%s\nis answered by\n%s\nwant %s, and no more", query, plan, index)
		}
	}
}

// planOf is what SQLite would do for a query.
func planOf(t *testing.T, db *sql.DB, query string) (steps []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, "d", "a", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}
