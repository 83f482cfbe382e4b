package store

import (
	"context"
	"path/filepath"
	"testing"
)

// TestSQLiteSettingsHold on the connection of a store that is made and of one that is
// opened, as SQLite itself says.
func TestSQLiteSettingsHold(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "budget.db")
	for _, begin := range []func(context.Context, string) (*Store, error){Create, Open} {
		s, err := begin(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		// trusted_schema is on by default: functions in a hostile file's views and
		// triggers would run.
		for setting, want := range map[string]string{
			"trusted_schema": "0", "foreign_keys": "1", "cell_size_check": "1", "fullfsync": "1", "synchronous": "3", "journal_mode": "delete",
		} {
			var got string
			if err := s.db.QueryRowContext(ctx, `PRAGMA `+setting).Scan(&got); err != nil || got != want {
				t.Errorf("%s is %s; want %s: %v", setting, got, want, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
