package witness

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// scratch is a bare repository for one look at a reference or one line to it. No
// other repository's work tree, index or configuration is touched.
type scratch struct {
	*git
	ctx context.Context
	dir string
}

const (
	// mostOutput is how much a Git command may print.
	mostOutput = 1 << 20
	// mostSaid is how much of its complaints is passed on.
	mostSaid = 1 << 10
)

// scratch calls f with a new scratch repository, for as long as patience lasts.
func (g *git) scratch(ctx context.Context, f func(*scratch) error) (err error) {
	dir, err := os.MkdirTemp("", "witness")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithTimeoutCause(ctx, g.patience, fmt.Errorf("no answer within %v", g.patience))
	defer cancel()
	s := &scratch{g, ctx, dir}
	if _, err := s.run(nil, "init", "--quiet", "--bare", "--template=", "."); err != nil {
		return err
	}
	return f(s)
}

// run is output without white space around it.
func (s *scratch) run(input []byte, args ...string) ([]byte, error) {
	out, err := s.output(input, args...)
	return bytes.TrimSpace(out), err
}

// output runs a Git command in the scratch repository.
func (s *scratch) output(input []byte, args ...string) ([]byte, error) {
	// Hooks of the user's configuration are not meant for this; those of the
	// repository that is pushed to run.
	cmd := exec.CommandContext(s.ctx, "git", append([]string{"-c", "core.hooksPath=" + os.DevNull, "-c", "gc.auto=0"}, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.dir, environment(os.Environ(), s.dir), time.Second
	out, said := &head{most: mostOutput, strict: true}, &head{most: mostSaid}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), out, said
	err := cmd.Run()
	switch {
	case s.ctx.Err() != nil:
		return nil, fmt.Errorf("git %s: %w", args[0], context.Cause(s.ctx))
	case out.over:
		return nil, fmt.Errorf("git %s: more than %d bytes", args[0], mostOutput)
	case err != nil:
		return nil, fmt.Errorf("git %s: %w: %q", args[0], err, bytes.TrimSpace(said.kept))
	}
	return out.kept, nil
}

// pause waits for other writers, for a time by chance, so that they do not meet
// again.
func (s *scratch) pause() error {
	var b [1]byte
	rand.Read(b[:]) // never fails
	select {
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-time.After(time.Millisecond * time.Duration(b[0]) / 2):
		return nil
	}
}

// ofUser are the variables by which a user tells git how to reach a repository. All
// others of git's would point it at another repository or loosen what is checked.
var ofUser = []string{
	"GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH",
}

func environment(of []string, dir string) []string {
	env := slices.DeleteFunc(slices.Clone(of), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "GIT_") && !slices.Contains(ofUser, name)
	})
	return append(env, "GIT_DIR="+dir, "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=file:https:ssh", "LC_ALL=C",
		"GIT_AUTHOR_NAME=discreet", "GIT_AUTHOR_EMAIL=discreet@localhost", "GIT_COMMITTER_NAME=discreet", "GIT_COMMITTER_EMAIL=discreet@localhost")
}

// head keeps the first bytes that are written to it. A strict one refuses more.
type head struct {
	kept   []byte
	most   int
	strict bool
	over   bool
}

func (h *head) Write(b []byte) (int, error) {
	fits := min(len(b), h.most-len(h.kept))
	h.kept = append(h.kept, b[:fits]...)
	if fits < len(b) {
		h.over = true
		if h.strict {
			return fits, errors.New("too much")
		}
	}
	return len(b), nil
}
