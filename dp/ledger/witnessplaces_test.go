package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/fault"
)

// elsewhere is a witness that is no file: its name, and what can befall it.
type elsewhere struct {
	name   string
	lose   func(t *testing.T) // it cannot be reached any more
	back   func(t *testing.T) // it can again
	forget func(t *testing.T) // it holds nothing any more
	freeze func(t *testing.T) // it can be read and not added to
}

var elsewheres = map[string]func(t *testing.T) elsewhere{"git": atGit, "web": atWeb}

func atGit(t *testing.T) elsewhere {
	dir := filepath.Join(t.TempDir(), "witness.git")
	run := func(t *testing.T, args ...string) {
		t.Helper()
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	move := func(from, to string) func(*testing.T) {
		return func(t *testing.T) {
			if err := os.Rename(from, to); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(t, "init", "--quiet", "--bare", dir)
	return elsewhere{
		name: "git:" + dir + "#refs/witness/trial", lose: move(dir, dir+".gone"), back: move(dir+".gone", dir),
		forget: func(t *testing.T) { run(t, "-C", dir, "update-ref", "-d", "refs/witness/trial") },
		freeze: func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, "hooks", "pre-receive"), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		},
	}
}

// logServer keeps lines as docs/ledger.md asks for.
type logServer struct {
	mu     sync.Mutex
	text   []byte
	status int // of every answer, unless 0
	frozen bool
}

func (s *logServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
	case s.status != 0:
		w.WriteHeader(s.status)
	case r.Method == http.MethodPost && s.frozen:
		w.WriteHeader(http.StatusInsufficientStorage)
	case r.Method == http.MethodPost:
		s.text = append(s.text, line...)
	case len(s.text) == 0:
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Write(s.text)
	}
}

func (s *logServer) set(f func()) func(*testing.T) {
	return func(*testing.T) {
		s.mu.Lock()
		defer s.mu.Unlock()
		f()
	}
}

func atWeb(t *testing.T) elsewhere {
	s := &logServer{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return elsewhere{
		name:   server.URL + "/witness/trial",
		lose:   s.set(func() { s.status = http.StatusInternalServerError }),
		back:   s.set(func() { s.status = 0 }),
		forget: s.set(func() { s.text = nil }),
		freeze: s.set(func() { s.frozen = true }),
	}
}

func onEachElsewhere(t *testing.T, f func(t *testing.T, w elsewhere)) {
	for name, make := range elsewheres {
		t.Run(name, func(t *testing.T) { f(t, make(t)) })
	}
}

// What a file refuses, a Git reference and a URL refuse as well.
func TestWitnessElsewhereRefusesAnOldStore(t *testing.T) {
	onEachElsewhere(t, func(t *testing.T, w elsewhere) {
		ctx := context.Background()
		location := stores[0].make(t)
		l := create(t, location, plain(someBudget))
		if err := l.AddWitness(ctx, w.name); err != nil {
			t.Fatal(err)
		}
		release(t, l, ask(little), "one")
		old := location + ".old"
		copyFile(t, location, old)
		kept := backup(t, l)
		two := release(t, l, ask(little), "two")
		all, err := l.Witnesses(ctx)
		if err != nil || len(all) != 1 || all[0].Place != w.name || all[0].Head.Seq != two.Entry.Seq || all[0].Head.Hash != two.Entry.Hash {
			t.Fatalf("%v, %v; want the last charge", all, err)
		}
		verified(t, l)
		l.Close()
		copyFile(t, old, location)
		back := open(t, location, "")
		refusedByWitness(t, back, ledger.ErrBehind)
		if err := back.RemoveWitness(ctx, w.name); err != nil {
			t.Fatal(err)
		}
		release(t, back, ask(little), "another two")
		if err := back.TellWitness(ctx, w.name); !errors.Is(err, ledger.ErrWitness) || !errors.Is(err, ledger.ErrTampered) {
			t.Errorf("accepted a head that it contradicts: %v", err)
		}
		o := ledger.RestoreOptions{LostNothing: true, Reason: "r", Witnesses: []string{w.name}}
		if _, err := ledger.Restore(ctx, bytes.NewReader(kept), stores[0].make(t), o); !errors.Is(err, ledger.ErrBehind) {
			t.Errorf("something was lost, as the witness says: %v; want ErrBehind", err)
		}
	})
}

func TestWitnessElsewhereThatCannotBeAsked(t *testing.T) {
	onEachElsewhere(t, func(t *testing.T, w elsewhere) {
		ctx := context.Background()
		l := create(t, stores[0].make(t), plain(someBudget))
		w.lose(t)
		if err := l.AddWitness(ctx, w.name); !errors.Is(err, ledger.ErrWitness) {
			t.Errorf("named where it cannot be reached: %v", err)
		}
		w.back(t)
		if all, err := l.Witnesses(ctx); err != nil || len(all) != 0 {
			t.Errorf("%v, %v; want no witness", all, err)
		}
		if err := l.AddWitness(ctx, w.name); err != nil {
			t.Fatal(err)
		}
		release(t, l, ask(little), "one")
		w.lose(t)
		refusedByWitness(t, l, nil)
		w.back(t)
		release(t, l, ask(little), "two")
		w.forget(t)
		refusedByWitness(t, l, nil)
		other := create(t, stores[0].make(t), plain(someBudget))
		if err := other.TellWitness(ctx, w.name); err != nil {
			t.Fatal(err)
		}
		refusedByWitness(t, l, nil)
	})
}

// A witness that cannot be updated after the commit brings a warning with the grant,
// and is behind.
func TestWitnessElsewhereThatCannotBeTold(t *testing.T) {
	onEachElsewhere(t, func(t *testing.T, w elsewhere) {
		ctx := context.Background()
		l := create(t, stores[0].make(t), plain(someBudget))
		if err := l.AddWitness(ctx, w.name); err != nil {
			t.Fatal(err)
		}
		w.freeze(t)
		g, err := l.Charge(ctx, ask(little))
		if err != nil || len(g.Warnings) != 1 || !strings.Contains(g.Warnings[0], "could not be updated") {
			t.Fatalf("%v, %v; want a warning", g, err)
		}
		if all, err := l.Witnesses(ctx); err != nil || all[0].Head.Seq != 0 {
			t.Errorf("%v, %v; want entry 0", all, err)
		}
	})
}

// TestWitnessElsewhereOfManyAtOnce: none is ahead, and no line is lost.
func TestWitnessElsewhereOfManyAtOnce(t *testing.T) {
	onEachElsewhere(t, func(t *testing.T, w elsewhere) {
		ctx := context.Background()
		location := stores[0].make(t)
		l := create(t, location, plain(someBudget))
		if err := l.AddWitness(ctx, w.name); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 3 {
			own := open(t, location, "")
			all.Go(func() {
				for range 2 {
					g, err := own.Charge(ctx, ask(little))
					if err != nil || len(g.Warnings) != 0 {
						t.Errorf("%v, %v", g, err)
					}
				}
			})
		}
		all.Wait()
		known, err := l.Witnesses(ctx)
		if err != nil || len(known) != 1 || known[0].Head.Seq != 6 {
			t.Errorf("%v, %v; want entry 6", known, err)
		}
	})
}

func TestWitnessNamesThatAreRefused(t *testing.T) {
	ctx := context.Background()
	l := create(t, stores[0].make(t), plain(someBudget))
	for _, name := range []string{"git:/srv/w.git", "http://example.org/w", "https://a:b@example.org/w", "ftp://example.org/w", "two\nlines"} {
		for what, f := range map[string]func(context.Context, string) error{"add": l.AddWitness, "remove": l.RemoveWitness, "tell": l.TellWitness} {
			if err := f(ctx, name); !errors.Is(err, ledger.ErrConfig) || fault.Of(err) != fault.InputFault {
				t.Errorf("%s %q: %v; want ErrConfig", what, name, err)
			}
		}
	}
}
