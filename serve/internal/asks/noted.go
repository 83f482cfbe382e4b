package asks

// What the audit log was told of tokens, which are made and revoked beside the service.

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
	"github.com/discreet-rl/discreet/serve/internal/tokens"
)

// byTokens stands in the audit log for whoever makes and revokes tokens, by the command or by an
// editor. No person can be called so.
var byTokens = By{Who: "(tokens)"}

// The states of a token that the audit log was told of.
const (
	tokenGood    = "good"
	tokenRevoked = "revoked"
	tokenGone    = "gone"
)

// noted is what was said last of a token; its label is quoted.
type noted struct{ person, label, state string }

// NoteTokens writes a line of the audit log for each token that was made, revoked or removed since
// it was told last, or is good again, in each of the datasets of the token's person.
func (s *Store) NoteTokens(ctx context.Context, all []tokens.Token, datasets func(person string) []string) error {
	return s.update(ctx, func(tx *database.Tx) error { return noteTokens(ctx, tx, all, datasets) })
}

func noteTokens(ctx context.Context, tx *database.Tx, all []tokens.Token, datasets func(string) []string) error {
	if err := lock(ctx, tx, "curator_token_noted", "EXCLUSIVE"); err != nil {
		return err
	}
	known, err := notedIn(ctx, tx)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, t := range all {
		there[t.SHA256] = true
		is := noted{t.Person, strconv.Quote(t.Label), tokenGood}
		if t.Revoked != nil {
			is.state = tokenRevoked
		}
		for _, what := range is.since(known[t.SHA256], t.Expires) {
			if err := noteToken(ctx, tx, t.SHA256, is, what, datasets); err != nil {
				return err
			}
		}
	}
	for _, sum := range slices.Sorted(maps.Keys(known)) {
		was := known[sum]
		if there[sum] || was.state == tokenGone {
			continue
		}
		was.state = tokenGone
		if err := noteToken(ctx, tx, sum, was, "is gone", datasets); err != nil {
			return err
		}
	}
	return nil
}

// since says what happened to a token.
func (n noted) since(was noted, expires time.Time) (what []string) {
	switch {
	case was.state == n.state:
		return nil
	case was.state == "":
		what = []string{"was made, good until " + expires.UTC().Format(time.RFC3339)}
		if n.state == tokenGood {
			return what
		}
	}
	if n.state == tokenGood {
		return []string{"is good again"}
	}
	return append(what, "was revoked")
}

func notedIn(ctx context.Context, tx *database.Tx) (map[string]noted, error) {
	rows, err := tx.QueryContext(ctx, `SELECT sha256, person, label, state FROM curator_token_noted`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]noted{}
	for rows.Next() {
		var sum string
		var n noted
		if err := rows.Scan(&sum, &n.person, &n.label, &n.state); err != nil {
			return nil, err
		}
		all[sum] = n
	}
	return all, rows.Err()
}

func noteToken(ctx context.Context, tx *database.Tx, sum string, n noted, what string, datasets func(string) []string) error {
	of := datasets(n.person)
	if len(of) == 0 {
		of = []string{""}
	}
	for _, dataset := range of {
		if _, err := write(ctx, tx, byTokens, dataset, "", fmt.Sprintf("token %s of %s %s", n.label, n.person, what)); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO curator_token_noted (sha256, person, label, state) VALUES ($1, $2, $3, $4) ON CONFLICT (sha256) DO UPDATE SET state = excluded.state`, sum, n.person, n.label, n.state)
	return err
}
