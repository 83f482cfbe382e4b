package asks_test

import (
	"errors"
	"reflect"
	"slices"
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
		if err := s.AddToken(t.Context(), made, inTrial); err != nil {
			t.Fatal(err)
		}
		_, same := tokens.Make("ann", "laptop", time.Hour)
		if err := s.AddToken(t.Context(), same, inTrial); !errors.Is(err, tokens.ErrExists) {
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
		if err := s.RevokeToken(t.Context(), "ann", "desk", inTrial); !errors.Is(err, tokens.ErrNone) {
			t.Errorf("%s: another label: %v", kind, err)
		}
		if err := s.RevokeToken(t.Context(), "ann", "laptop", inTrial); err != nil {
			t.Fatal(err)
		}
		is("within a second of its end", "ann")
		now = now.Add(time.Second)
		is("revoked", "")
		if err := s.AddToken(t.Context(), same, inTrial); err != nil {
			t.Errorf("%s: the label of a revoked token: %v", kind, err)
		}
		if all, err := s.Tokens(t.Context()); err != nil || len(all) != 2 {
			t.Errorf("%s: %v, %v; want both", kind, all, err)
		}
	}
}

// inTrial has everybody in one dataset, but for oscar, who is in two, and nora, who is in none.
func inTrial(person string) []string {
	return map[string][]string{"oscar": {"trial", "other"}, "nora": nil, "ann": {"trial"}}[person]
}

// Each token that is made, revoked, removed or good again is one line in each dataset of its
// person, however often the audit log is told; one of nobody's is in the lines of no dataset.
func TestTheAuditLogIsToldOfTokensOnce(t *testing.T) {
	for kind, location := range locations(t) {
		s, err := asks.Open(t.Context(), location, database.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		token := func(person, label string) tokens.Token { _, made := tokens.Make(person, label, time.Hour); return made }
		revoked := func(x tokens.Token) tokens.Token { at := time.Now(); x.Revoked = &at; return x }
		ann, oscar, nora := token("ann", "a \"b\"\x00\xff"), token("oscar", "desk"), token("nora", "n")
		until := func(x tokens.Token) string { return "was made, good until " + x.Expires.UTC().Format(time.RFC3339) }
		seen := map[string]int64{}
		for i, step := range []struct {
			all          []tokens.Token
			trial, other []string
		}{
			{nil, nil, nil},
			{[]tokens.Token{ann}, []string{`token "a \"b\"\x00\xff" of ann ` + until(ann)}, nil},
			{[]tokens.Token{ann}, nil, nil},
			{[]tokens.Token{revoked(ann), oscar}, []string{`token "a \"b\"\x00\xff" of ann was revoked`, `token "desk" of oscar ` + until(oscar)}, []string{`token "desk" of oscar ` + until(oscar)}},
			{[]tokens.Token{ann, oscar}, []string{`token "a \"b\"\x00\xff" of ann is good again`}, nil},
			{[]tokens.Token{ann}, []string{`token "desk" of oscar is gone`}, []string{`token "desk" of oscar is gone`}},
			{[]tokens.Token{ann}, nil, nil},
			{[]tokens.Token{ann, revoked(nora)}, []string{`token "n" of nora ` + until(nora), `token "n" of nora was revoked`}, []string{`token "n" of nora ` + until(nora), `token "n" of nora was revoked`}},
			{[]tokens.Token{ann, revoked(nora), oscar}, []string{`token "desk" of oscar is good again`}, []string{`token "desk" of oscar is good again`}},
		} {
			if err := s.NoteTokens(t.Context(), step.all, inTrial); err != nil {
				t.Fatal(err)
			}
			for dataset, want := range map[string][]string{"trial": step.trial, "other": step.other} {
				lines, err := s.Audit(t.Context(), dataset, seen[dataset], 100)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, l := range lines {
					got, seen[dataset] = append(got, l.What), l.Seq+1
					if l.Who != "(tokens)" {
						t.Errorf("%s: %q did it", kind, l.Who)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, step %d, %s: %q; want %q", kind, i, dataset, got, want)
				}
			}
		}
	}
}

// A token of the store and its line are one change, by either of the two commands.
func TestATokenOfTheStoreAndItsLineAreOneChange(t *testing.T) {
	for kind, location := range locations(t) {
		s, err := asks.Open(t.Context(), location, database.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_, made := tokens.Make("ann", "laptop", time.Hour)
		err = errors.Join(s.AddToken(t.Context(), made, inTrial), s.RevokeToken(t.Context(), "ann", "laptop", inTrial))
		lines, wrong := s.Audit(t.Context(), "trial", 0, 10)
		if err := errors.Join(err, wrong); err != nil {
			t.Fatal(err)
		}
		if len(lines) != 2 || lines[1].What != `token "laptop" of ann was revoked` {
			t.Errorf("%s: %v", kind, lines)
		}
	}
}
