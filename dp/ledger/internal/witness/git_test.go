package witness

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func plainGitInput(t *testing.T, dir, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// A push is for the commit that was read: who was overtaken moves nothing, and may
// not begin what another has begun.
func TestPushIsOfWhatWasRead(t *testing.T) {
	ctx := context.Background()
	g := parsed(t, "git:"+bare(t)+"#refs/witness/trial").(*git)
	for _, want := range []string{"first\n", "first\nsecond\n"} { // from nothing, and from a commit
		err := g.scratch(ctx, func(s *scratch) error {
			old, text, err := s.read()
			if err != nil && !errors.Is(err, ErrAbsent) {
				return err
			}
			line := strings.TrimPrefix(want, string(text))
			if err := g.Append(ctx, []byte(line)); err != nil {
				return err
			}
			late, err := s.commit(old, []byte("late\n"))
			if err != nil {
				return err
			}
			if err := s.push(old, late); err == nil {
				t.Error("a push from what is no longer there went through")
			}
			return nil
		})
		if got, tailErr := g.Tail(ctx); err != nil || tailErr != nil || string(got) != want {
			t.Fatalf("%q, %v, %v; want %q", got, err, tailErr, want)
		}
	}
}

// The history keeps every line, also those that the newest commit has no room for.
func TestHistoryIsKept(t *testing.T) {
	repository := bare(t)
	p := parsed(t, "git:"+repository+"#refs/witness/trial")
	for _, c := range "abcdefgh" {
		if err := p.Append(context.Background(), []byte(strings.Repeat(string(c), 9999)+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	if n := plainGit(t, repository, "rev-list", "--count", "refs/witness/trial"); n != "8\n" {
		t.Errorf("%s commits; want 8", n)
	}
	if first := plainGit(t, repository, "show", "refs/witness/trial~7:heads.ndjson"); first != strings.Repeat("a", 9999)+"\n" {
		t.Errorf("the first commit holds %.10q", first)
	}
	plainGit(t, repository, "fsck", "--strict")
}

// A repository in which somebody works stays as it is but for the reference, also
// when git's variables point at it.
func TestWorkTreeAndIndexStay(t *testing.T) {
	dir := t.TempDir()
	plainGit(t, dir, "init", "--quiet", "-b", "main", ".")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("kept", "1")
	plainGit(t, dir, "add", "kept")
	plainGit(t, dir, "commit", "--quiet", "-m", "m")
	write("kept", "2")
	write("staged", "3")
	plainGit(t, dir, "add", "staged")
	write("loose", "4")
	state := func() string {
		index, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
		if err != nil {
			t.Fatal(err)
		}
		return plainGit(t, dir, "rev-parse", "HEAD") + plainGit(t, dir, "config", "--list") + string(index)
	}
	before, status := state(), plainGit(t, dir, "status", "--porcelain")
	t.Run("in a hook", func(t *testing.T) {
		t.Setenv("GIT_DIR", filepath.Join(dir, ".git"))
		t.Setenv("GIT_WORK_TREE", dir)
		t.Setenv("GIT_INDEX_FILE", filepath.Join(dir, ".git", "index"))
		p := parsed(t, "git:"+dir+"#refs/witness/trial")
		if err := p.Append(context.Background(), []byte("line\n")); err != nil {
			t.Fatal(err)
		}
		if got, err := p.Tail(context.Background()); err != nil || string(got) != "line\n" {
			t.Fatalf("%q, %v", got, err)
		}
	})
	if state() != before {
		t.Error("the index, the branch or the configuration is not what it was")
	}
	if now := plainGit(t, dir, "status", "--porcelain"); now != status {
		t.Errorf("status %q; was %q", now, status)
	}
	// A branch that holds other things is not for a witness.
	p := parsed(t, "git:"+dir+"#refs/heads/main")
	for _, err := range []error{p.Append(context.Background(), []byte("line\n")), second(p.Tail(context.Background()))} {
		if err == nil || !strings.Contains(err.Error(), "does not hold heads.ndjson alone") {
			t.Errorf("a branch with other files: %v", err)
		}
	}
	if state() != before {
		t.Error("the branch was changed")
	}
}

func second(_ []byte, err error) error { return err }

// What cannot be reached or read is no place with nothing in it.
func TestGitThatCannotBeAsked(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	huge := bare(t)
	blob := strings.TrimSpace(plainGitInput(t, huge, strings.Repeat("{}\n", 1<<20), "hash-object", "-w", "--stdin"))
	tree := strings.TrimSpace(plainGitInput(t, huge, "100644 blob "+blob+"\theads.ndjson\n", "mktree"))
	plainGit(t, huge, "update-ref", "refs/w/x", strings.TrimSpace(plainGit(t, huge, "commit-tree", tree, "-m", "m")))
	plainGit(t, huge, "update-ref", "refs/w/blob", blob)
	for name, c := range map[string]struct {
		place, want string
		patience    time.Duration
	}{
		"gone":         {"git:" + filepath.Join(t.TempDir(), "none") + "#refs/w/x", "does not appear to be a git repository", patience},
		"refused":      {"git:https://127.0.0.1:1/w#refs/w/x", "git ls-remote", patience},
		"silent":       {"git:https://" + silent.Addr().String() + "/w#refs/w/x", "no answer within 300ms", 300 * time.Millisecond},
		"too much":     {"git:" + huge + "#refs/w/x", "more than 1048576 bytes", patience},
		"not a commit": {"git:" + huge + "#refs/w/blob", "not a tree object", patience},
	} {
		t.Run(name, func(t *testing.T) {
			g := parsed(t, c.place).(*git)
			g.patience = c.patience
			for what, err := range map[string]error{"tail": second(g.Tail(context.Background())), "append": g.Append(context.Background(), []byte("line\n"))} {
				if err == nil || errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %v; want %q", what, err, c.want)
				}
			}
		})
	}
}

// A repository that takes no push says so after a few tries.
func TestGitThatTakesNothing(t *testing.T) {
	dir := t.TempDir()
	plainGit(t, dir, "init", "--quiet", "-b", "main", ".")
	plainGit(t, dir, "commit", "--quiet", "--allow-empty", "-m", "m")
	hooked := bare(t)
	if err := os.WriteFile(filepath.Join(hooked, "hooks", "pre-receive"), []byte("#!/bin/sh\necho not today >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := parsed(t, "git:"+hooked+"#refs/w/x")
	if err := p.Append(context.Background(), []byte("line\n")); err == nil || !strings.Contains(err.Error(), "not today") {
		t.Errorf("%v; want what the hook says", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Append(ctx, []byte("line\n")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want that it was given up", err)
	}
}

func TestEnvironment(t *testing.T) {
	got := environment([]string{"HOME=/h", "GIT_DIR=/x", "GIT_CONFIG_COUNT=1", "GIT_ALLOW_PROTOCOL=ext", "GIT_SSL_NO_VERIFY=1", "GIT_SSH_COMMAND=ssh -i k", "GIT_TERMINAL_PROMPT=1"}, "/d")
	for _, want := range []string{"HOME=/h", "GIT_SSH_COMMAND=ssh -i k", "GIT_DIR=/d", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=file:https:ssh"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing from %v", want, got)
		}
	}
	for _, no := range []string{"GIT_DIR=/x", "GIT_CONFIG_COUNT=1", "GIT_ALLOW_PROTOCOL=ext", "GIT_SSL_NO_VERIFY=1", "GIT_TERMINAL_PROMPT=1"} {
		if slices.Contains(got, no) {
			t.Errorf("%s is passed on", no)
		}
	}
}
