package asks_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/internal/service/database"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// Whoever changes a line of the audit log, or takes one out of the middle, is noticed.
func TestAChangedAuditLogIsNoticed(t *testing.T) {
	for name, statement := range map[string]string{
		"a word":       `UPDATE curator_audit SET line = replace(CAST(line AS TEXT), 'second', 'third') WHERE seq = 1`,
		"a line gone":  `DELETE FROM curator_audit WHERE seq = 1`,
		"two swapped":  `UPDATE curator_audit SET seq = CASE seq WHEN 0 THEN 100 ELSE 0 END WHERE seq < 2`,
		"hash as well": `UPDATE curator_audit SET line = (SELECT line FROM curator_audit WHERE seq = 0), hash = (SELECT hash FROM curator_audit WHERE seq = 0) WHERE seq = 1`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "curator.db")
			s, err := asks.Open(t.Context(), path, database.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, what := range []string{"first", "second", "third"} {
				if err := s.Note(t.Context(), ann, "trial", "", what); err != nil {
					t.Fatal(err)
				}
			}
			if n, _, err := s.VerifyAudit(t.Context()); n != 3 || err != nil {
				t.Fatalf("%d lines, %v", n, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = asks.Open(t.Context(), path, database.Options{}); err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, _, err := s.VerifyAudit(t.Context()); !errors.Is(err, asks.ErrAudit) {
				t.Errorf("nobody notices: %v", err)
			}
		})
	}
}
