package ledger_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// snapshot remembers all rows and returns what puts them back.
func snapshot(t *testing.T, db *sql.DB) (mend func()) {
	columns := map[string]string{
		"ledger_entries": "dataset, seq, hash, body", "ledger_charges": "dataset, seq, key, recorded", "ledger_releases": "dataset, seq, body",
		"ledger_analysts": "dataset, analyst, body", "ledger_sightings": "dataset, fingerprint",
	}
	kept := map[string][][]any{}
	for table, names := range columns {
		rows, err := db.Query(`SELECT ` + names + ` FROM ` + table)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			row := make([]any, strings.Count(names, ",")+1)
			into := make([]any, len(row))
			for i := range row {
				into[i] = &row[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			kept[table] = append(kept[table], row)
		}
		rows.Close()
	}
	var seq int64
	var head []byte
	if err := db.QueryRow(`SELECT seq, head FROM ledger_datasets`).Scan(&seq, &head); err != nil {
		t.Fatal(err)
	}
	return func() {
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		do := func(query string, args ...any) {
			if _, err := tx.Exec(query, args...); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
		for table, names := range columns {
			do(`DELETE FROM ` + table)
			for _, row := range kept[table] {
				places := make([]string, len(row))
				for i := range places {
					places[i] = fmt.Sprintf("$%d", i+1)
				}
				do(`INSERT INTO `+table+` (`+names+`) VALUES (`+strings.Join(places, ", ")+`)`, row...)
			}
		}
		do(`UPDATE ledger_datasets SET seq = $1, head = $2`, seq, head)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
}
