package asks_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
	"github.com/discreet-rl/discreet/serve/internal/asks"
	"github.com/discreet-rl/discreet/serve/internal/tokens"
)

// Tokens in the store are those that a file would hold: the same rules for labels, the same
// answers to who presents one, and a revoked one stays in the list.
func TestTokensInTheStoreAreAsInAFile(t *testing.T) {
	for kind, location := range locations(t) {
		s, err := asks.Open(t.Context(), location, database.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		now := time.Now()
		roll, err := tokens.Follow(func() ([]tokens.Token, bool, error) {
			all, err := s.Tokens(t.Context())
			return all, false, err
		}, func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		secret, made := tokens.Make("ann", "laptop", time.Hour)
		if err := s.AddToken(t.Context(), made); err != nil {
			t.Fatal(err)
		}
		_, same := tokens.Make("ann", "laptop", time.Hour)
		if err := s.AddToken(t.Context(), same); !errors.Is(err, tokens.ErrExists) {
			t.Errorf("%s: the same label twice: %v", kind, err)
		}
		if all, err := s.Tokens(t.Context()); err != nil || len(all) != 1 || !reflect.DeepEqual(all[0], made) {
			t.Errorf("%s: %v, %v; want %v", kind, all, err, made)
		}
		is := func(when, want string) {
			t.Helper()
			if got, ok, err := roll.Person(secret); err != nil || got != want || ok != (want != "") {
				t.Errorf("%s, %s: %q, %v, %v; want %q", kind, when, got, ok, err, want)
			}
		}
		now = now.Add(2 * time.Second)
		is("made", "ann")
		if err := s.RevokeToken(t.Context(), "ann", "desk"); !errors.Is(err, tokens.ErrNone) {
			t.Errorf("%s: another label: %v", kind, err)
		}
		if err := s.RevokeToken(t.Context(), "ann", "laptop"); err != nil {
			t.Fatal(err)
		}
		is("within a second of its end", "ann")
		now = now.Add(time.Second)
		is("revoked", "")
		if err := s.AddToken(t.Context(), same); err != nil {
			t.Errorf("%s: the label of a revoked token: %v", kind, err)
		}
		if all, err := s.Tokens(t.Context()); err != nil || len(all) != 2 {
			t.Errorf("%s: %v, %v; want both", kind, all, err)
		}
	}
}
