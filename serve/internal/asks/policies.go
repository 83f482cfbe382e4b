package asks

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// mostPolicies is how many bytes an analyst may upload to a dataset.
const mostPolicies = 64 << 20

// PutPolicy keeps an analyst's policy file and returns its SHA-256. A name that stands
// for other bytes is [ErrExists].
func (s *Store) PutPolicy(ctx context.Context, by By, dataset, name string, content []byte) (string, error) {
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:])
	err := s.update(ctx, func(tx *database.Tx) error {
		if err := lock(ctx, tx, "curator_policy", "SHARE ROW EXCLUSIVE"); err != nil {
			return err
		}
		var old string
		err := tx.QueryRowContext(ctx, `SELECT sha256 FROM curator_policy WHERE dataset = $1 AND analyst = $2 AND name = $3`, dataset, by.Who, name).Scan(&old)
		switch {
		case err == nil && old != hash:
			return fmt.Errorf("%w: %s holds another policy; give this one another name", ErrExists, name)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		var size int64
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(sum(length(content)), 0) FROM curator_policy WHERE dataset = $1 AND analyst = $2`, dataset, by.Who).Scan(&size); err != nil {
			return err
		}
		if size+int64(len(content)) > mostPolicies {
			return fmt.Errorf("%w: of dataset %s you hold %d bytes of at most %d", ErrFull, dataset, size, mostPolicies)
		}
		if _, err := write(ctx, tx, by, dataset, "", "uploads policy "+name); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO curator_policy (dataset, analyst, name, sha256, content) VALUES ($1, $2, $3, $4, $5)`, dataset, by.Who, name, hash, content)
		return err
	})
	return hash, err
}

// Policy returns an analyst's policy file; [ErrNone] if there is none of the name.
func (s *Store) Policy(ctx context.Context, dataset, analyst, name string) ([]byte, error) {
	var content []byte
	err := s.db.QueryRowContext(ctx, `SELECT content FROM curator_policy WHERE dataset = $1 AND analyst = $2 AND name = $3`, dataset, analyst, name).Scan(&content)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNone
	}
	return content, err
}
