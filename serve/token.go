package serve

import (
	"fmt"
	"time"

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

func (c Config) knows(person string) bool {
	for _, d := range c.Datasets {
		if d.People[person] != "" {
			return true
		}
	}
	return false
}
