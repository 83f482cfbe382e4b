package tokens_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/serve/internal/tokens"
)

func Example() {
	dir, err := os.MkdirTemp("", "tokens")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tokens")
	token, err := tokens.Create(path, "ann", "laptop", time.Hour)
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := tokens.Follow(tokens.File(path), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Person(token))
	// Output: ann true <nil>
}

// A token is good from its making to its end, or until it is revoked; the file holds
// nothing that could be presented.
func TestALifeOfAToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	now := time.Now()
	f, err := tokens.Follow(tokens.File(path), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	is := func(token, want string) {
		t.Helper()
		got, ok, err := f.Person(token)
		if err != nil || got != want || ok != (want != "") {
			t.Errorf("person %q, %v, %v; want %q", got, ok, err, want)
		}
	}
	one, err := tokens.Create(path, "ann", "laptop", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Create(path, "ann", "laptop", time.Hour); !errors.Is(err, tokens.ErrExists) {
		t.Errorf("the same label twice: %v", err)
	}
	two, err := tokens.Create(path, "bob", "laptop", 3*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), one) || strings.Contains(string(text), strings.TrimPrefix(two, tokens.Prefix)) {
		t.Errorf("the file shows a token: %v", err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	now = now.Add(2 * time.Second)
	is(one, "ann")
	is(two, "bob")
	is(one+"x", "")
	is(strings.TrimPrefix(one, tokens.Prefix), "")
	is("", "")
	if err := tokens.Revoke(path, "bob", "laptop"); err != nil {
		t.Fatal(err)
	}
	if err := tokens.Revoke(path, "bob", "laptop"); !errors.Is(err, tokens.ErrNone) {
		t.Errorf("revoked twice: %v", err)
	}
	now = now.Add(2 * time.Second)
	is(two, "")
	is(one, "ann")
	now = now.Add(time.Hour)
	is(one, "")
}

// A token that was just made is good at once, and tokens that somebody guesses have the
// source looked at twenty times a second at most.
func TestAnUnknownTokenIsLookedForAgain(t *testing.T) {
	now := time.Now()
	var all []tokens.Token
	looks := 0
	f, err := tokens.Follow(func() ([]tokens.Token, bool, error) {
		looks++
		return all, false, nil
	}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	token, made := tokens.Make("ann", "laptop", time.Hour)
	for _, step := range []struct {
		after time.Duration
		want  bool
	}{{time.Second, false}, {49 * time.Millisecond, false}, {time.Millisecond, true}} {
		now = now.Add(step.after)
		if _, ok, err := f.Person(token); ok != step.want || err != nil {
			t.Errorf("after %v: %v, %v; want %v", step.after, ok, err, step.want)
		}
		all = []tokens.Token{made}
	}
	looks = 0
	for range 1000 {
		now = now.Add(time.Millisecond)
		if _, ok, err := f.Person(tokens.New(tokens.Prefix)); ok || err != nil {
			t.Errorf("a guess: %v, %v", ok, err)
		}
	}
	if looks < 19 || looks > 20 {
		t.Errorf("%d looks for 1000 guesses in a second; want 20", looks)
	}
	looks = 0
	for range 1000 {
		now = now.Add(time.Millisecond)
		if _, ok, err := f.Person(token); !ok || err != nil {
			t.Errorf("a known token: %v, %v", ok, err)
		}
	}
	if looks > 1 {
		t.Errorf("%d looks for a known token in a second; want 1", looks)
	}
}

// A file that somebody broke lets nobody in.
func TestABrokenFileLetsNobodyIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	now := time.Now()
	token, err := tokens.Create(path, "ann", "laptop", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	f, err := tokens.Follow(tokens.File(path), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"{", `{"sha256": "00", "person": "ann", "label": "x"}`, `{"sha256": "", "unknown": 1}`} {
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		now = now.Add(2 * time.Second)
		if person, ok, err := f.Person(token); ok || !errors.Is(err, tokens.ErrFile) {
			t.Errorf("%s: %q, %v", text, person, err)
		}
		if _, err := tokens.Create(path, "bob", "x", time.Hour); !errors.Is(err, tokens.ErrFile) {
			t.Errorf("%s: a token was added: %v", text, err)
		}
	}
}

// Who changes the file while another does waits for its turn: of many at once each is kept.
func TestChangesAtOnceWaitForEachOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			label := fmt.Sprint(i)
			if _, err := tokens.Create(path, "ann", label, time.Hour); err != nil {
				t.Error(err)
			}
			if err := tokens.Revoke(path, "ann", label); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	all, err := tokens.List(path)
	if err != nil || len(all) != 8 {
		t.Errorf("%d tokens, %v; want 8", len(all), err)
	}
	for _, made := range all {
		if made.Revoked == nil {
			t.Errorf("%s was revoked and is not", made.Label)
		}
	}
}
