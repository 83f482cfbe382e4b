package asks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
	"github.com/discreet-rl/discreet/serve/internal/tokens"
)

// Tokens lists the bearer tokens that are kept in the store, for the services that share
// it, in the order in which they were made.
func (s *Store) Tokens(ctx context.Context) (all []tokens.Token, err error) {
	err = s.update(ctx, func(tx *database.Tx) error {
		all, err = tokensIn(ctx, tx)
		return err
	})
	return all, err
}

func tokensIn(ctx context.Context, tx *database.Tx) ([]tokens.Token, error) {
	rows, err := tx.QueryContext(ctx, `SELECT sha256, person, label, made, expires, revoked FROM curator_token ORDER BY made, person, label`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []tokens.Token
	for rows.Next() {
		var t tokens.Token
		var sum []byte
		var made, expires, revoked int64
		if err := rows.Scan(&sum, &t.Person, &t.Label, &made, &expires, &revoked); err != nil {
			return nil, err
		}
		t.SHA256, t.Made, t.Expires = hex.EncodeToString(sum), inTime(made), inTime(expires)
		if revoked != 0 {
			at := inTime(revoked)
			t.Revoked = &at
		}
		all = append(all, t)
	}
	return all, rows.Err()
}

// AddToken keeps a token that was made; tokens.ErrExists where its label is another's. The audit
// log is told in the same transaction, in the datasets of the token's person.
func (s *Store) AddToken(ctx context.Context, made tokens.Token, datasets func(person string) []string) error {
	sum, err := hex.DecodeString(made.SHA256)
	if err != nil || len(sum) != sha256.Size {
		return fmt.Errorf("asks: AddToken: want the SHA-256 of a token, not %d bytes: %w", len(sum), err)
	}
	return s.changeTokens(ctx, datasets, func(tx *database.Tx, all []tokens.Token) error {
		if _, err := tokens.Add(all, made); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO curator_token (sha256, person, label, made, expires, revoked) VALUES ($1, $2, $3, $4, $5, 0)`,
			sum, made.Person, made.Label, micros(made.Made), micros(made.Expires))
		return err
	})
}

// RevokeToken takes a person's token of a label back; tokens.ErrNone if there is none. The audit
// log is told as by AddToken.
func (s *Store) RevokeToken(ctx context.Context, person, label string, datasets func(person string) []string) error {
	now := time.Now()
	return s.changeTokens(ctx, datasets, func(tx *database.Tx, all []tokens.Token) error {
		i, err := tokens.Take(all, person, label)
		if err != nil {
			return err
		}
		sum, err := hex.DecodeString(all[i].SHA256)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE curator_token SET revoked = $2 WHERE sha256 = $1`, sum, micros(now))
		return err
	})
}

// changeTokens has one process at a time change them, and tells the audit log.
func (s *Store) changeTokens(ctx context.Context, datasets func(string) []string, f func(*database.Tx, []tokens.Token) error) error {
	return s.update(ctx, func(tx *database.Tx) error {
		if err := lock(ctx, tx, "curator_token", "SHARE ROW EXCLUSIVE"); err != nil {
			return err
		}
		all, err := tokensIn(ctx, tx)
		if err != nil {
			return err
		}
		if err := f(tx, all); err != nil {
			return err
		}
		if all, err = tokensIn(ctx, tx); err != nil {
			return err
		}
		return noteTokens(ctx, tx, all, datasets)
	})
}
