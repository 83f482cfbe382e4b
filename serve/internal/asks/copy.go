package asks

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// Copy writes the store at a location into a directory, as it is at one moment, while services
// use it, and returns the names of the files.
func Copy(ctx context.Context, location, dir string) ([]string, error) {
	return database.Copy(ctx, location, "curator", dir)
}

// PutBack makes the store at a location from a copy, where there is none, and reports whether it
// did. Sessions of browsers that it holds have ended: one may have been ended since the copy. The next
// message about notices says that it may be a repetition.
func PutBack(ctx context.Context, location, dir string, names []string) (made bool, err error) {
	return database.PutBack(ctx, location, dir, names, database.Back{
		Open: func(ctx context.Context, location string) error {
			s, err := Open(ctx, location, database.Options{})
			if err != nil {
				return err
			}
			return s.Close()
		},
		Begun:   `SELECT EXISTS (SELECT 1 FROM curator_audit) OR EXISTS (SELECT 1 FROM curator_ask) OR EXISTS (SELECT 1 FROM curator_mark)`,
		Without: []string{"curator_schema", "curator_session", "curator_nonce"},
		Mend: func(ctx context.Context, do database.Executor) error {
			return errors.Join(do(ctx, `DELETE FROM curator_session`), do(ctx, `UPDATE curator_delivery SET tries = tries + 1`))
		},
	})
}

// Missing reports whether there is nothing at the location of a SQLite store.
func Missing(location string) bool {
	_, err := os.Lstat(location)
	return !strings.Contains(location, "://") && errors.Is(err, fs.ErrNotExist)
}
