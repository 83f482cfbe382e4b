package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
	"github.com/discreet-rl/discreet/serve/internal/asks"
	"github.com/discreet-rl/discreet/serve/internal/tokens"
)

// Token is what is known of a bearer token: not the token itself.
type Token = tokens.Token

// longestLifetime of a token.
const longestLifetime = 366 * 24 * time.Hour

// CreateToken makes a bearer token for a person of the configuration, and returns it. Only
// its hash is kept. A service that runs knows it within a second.
func (c Config) CreateToken(person, label string, lifetime time.Duration) (string, error) {
	if !c.knows(person) {
		return "", fmt.Errorf("%w: nobody is called %q in people of any dataset", ErrConfig, person)
	}
	if label == "" || len(label) > 64 {
		return "", fmt.Errorf("%w: label is %q; want 1 to 64 bytes, such as laptop", ErrConfig, label)
	}
	if lifetime < time.Minute || lifetime > longestLifetime {
		return "", fmt.Errorf("%w: lifetime is %v; want 1m to %v", ErrConfig, lifetime, longestLifetime)
	}
	return tokens.Create(c.path(c.Tokens), person, label, lifetime)
}

// RevokeToken takes a person's token of a label back. A service that runs refuses it within
// a second.
func (c Config) RevokeToken(person, label string) error {
	return tokens.Revoke(c.path(c.Tokens), person, label)
}

// ListTokens lists the tokens.
func (c Config) ListTokens() ([]Token, error) { return tokens.List(c.path(c.Tokens)) }

// VerifyAudit recomputes the chain of the audit log and returns its length and the hash of
// its last line, to be noted elsewhere: lines that are missing at the end show by it alone. A
// SQLite store is open in one process, so that the service has to be stopped.
func (c Config) VerifyAudit(ctx context.Context) (lines int64, last []byte, err error) {
	store, err := asks.Open(ctx, c.place(c.Store), database.Options{})
	if err != nil {
		return 0, nil, err
	}
	lines, last, err = store.VerifyAudit(ctx)
	return lines, last, errors.Join(err, store.Close())
}

func (c Config) knows(person string) bool {
	for _, d := range c.Datasets {
		if d.People[person] != "" {
			return true
		}
	}
	return false
}
