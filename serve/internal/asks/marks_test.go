package asks_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/internal/service/database"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// An audit log whose end is cut off, or that is another's from some line on, takes no more lines;
// lines that a service of an earlier version added are no loss. A store whose file is another's is
// not in place.
func TestTheEndOfTheAuditLogIsKnown(t *testing.T) {
	for statement, want := range map[string]error{
		`SELECT 1`: nil,
		`DELETE FROM curator_audit WHERE seq > 1`: asks.ErrAudit,
		`DELETE FROM curator_audit`:               asks.ErrAudit,
		`DELETE FROM curator_audit WHERE seq = 0`: asks.ErrAudit,
		`UPDATE curator_audit SET hash = (SELECT hash FROM curator_audit WHERE seq = 0) WHERE seq = 2`: asks.ErrAudit,
		`UPDATE curator_audit_end SET seq = 1, hash = (SELECT hash FROM curator_audit WHERE seq = 1)`:  nil,
	} {
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
		if err := s.InPlace(t.Context()); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.InPlace(t.Context()); !errors.Is(err, want) {
			t.Errorf("%s: in place: %v", statement, err)
		}
		if err := s.Note(t.Context(), ann, "trial", "", "fourth"); !errors.Is(err, want) {
			t.Errorf("%s: a line more: %v", statement, err)
		}
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		if err := s.InPlace(t.Context()); !errors.Is(err, asks.ErrReplaced) {
			t.Errorf("without its file: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The mark of a ledger only moves on, unless the ledger was restored.
func TestTheMarkMovesOn(t *testing.T) {
	s, err := asks.Open(t.Context(), filepath.Join(t.TempDir(), "curator.db"), database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Mark(t.Context(), "trial"); !errors.Is(err, asks.ErrNone) {
		t.Error(err)
	}
	for _, step := range []struct {
		seq   int64
		again bool
		want  int64
	}{{3, false, 3}, {2, false, 3}, {5, false, 5}, {4, true, 4}} {
		if err := s.SetMark(t.Context(), "trial", asks.Mark{Ledger: "l", Seq: step.seq, Hash: []byte{1}}, step.again); err != nil {
			t.Fatal(err)
		}
		if m, err := s.Mark(t.Context(), "trial"); err != nil || m.Seq != step.want {
			t.Errorf("after %+v: %v, %v", step, m, err)
		}
	}
}
