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
type Token struct {
	SHA256  string     `json:"sha256"`
	Person  string     `json:"person"`
	Label   string     `json:"label"`
	Made    time.Time  `json:"made"`
	Expires time.Time  `json:"expires"`
	Revoked *time.Time `json:"revoked,omitempty"`
}

// Valid reports whether the token is accepted at a time.
func (t Token) Valid(now time.Time) bool { return tokens.Token(t).Valid(now) }

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
	if c.Tokens != inStore {
		return tokens.Create(c.path(c.Tokens), person, label, lifetime)
	}
	token, made := tokens.Make(person, label, lifetime)
	return token, c.withStore(func(ctx context.Context, s *asks.Store) error { return s.AddToken(ctx, made, c.tokensOf()) })
}

// RevokeToken takes a person's token of a label back. A service that runs refuses it within
// a second.
func (c Config) RevokeToken(person, label string) error {
	if c.Tokens != inStore {
		return tokens.Revoke(c.path(c.Tokens), person, label)
	}
	return c.withStore(func(ctx context.Context, s *asks.Store) error { return s.RevokeToken(ctx, person, label, c.tokensOf()) })
}

// tokensOf are the datasets in which the audit log is told of a person's tokens.
func (c Config) tokensOf() func(person string) []string {
	of := c.datasetsOf()
	return func(person string) []string { return of[person] }
}

// ListTokens lists the tokens.
func (c Config) ListTokens() ([]Token, error) {
	known, err := c.listTokens()
	if err != nil {
		return nil, err
	}
	all := make([]Token, len(known))
	for i, t := range known {
		all[i] = Token(t)
	}
	return all, nil
}

func (c Config) listTokens() (all []tokens.Token, err error) {
	if c.Tokens != inStore {
		return tokens.List(c.path(c.Tokens))
	}
	err = c.withStore(func(ctx context.Context, s *asks.Store) error {
		all, err = s.Tokens(ctx)
		return err
	})
	return all, err
}

// inStore, in place of the name of a file, has the tokens kept in the store.
const inStore = "store"

// storeTime is how long the store is waited for when tokens are asked for.
const storeTime = 10 * time.Second

// withStore runs f on the store beside the services that have it open.
func (c Config) withStore(f func(context.Context, *asks.Store) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	s, err := asks.Open(ctx, c.place(c.Store), database.Options{})
	if err != nil {
		return err
	}
	return errors.Join(f(ctx, s), s.Close())
}

// follow reads the tokens of a store that is open.
func follow(s *asks.Store) tokens.Source {
	return func() ([]tokens.Token, bool, error) {
		ctx, cancel := context.WithTimeout(context.Background(), storeTime)
		defer cancel()
		all, err := s.Tokens(ctx)
		return all, false, err
	}
}

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
