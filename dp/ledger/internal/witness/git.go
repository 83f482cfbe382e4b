package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// git is a reference of a Git repository, local or remote. It names a commit whose
// tree is one file with the newest lines; older ones are in its history. A line is a
// commit on top, pushed on the condition that the reference still names the commit
// that was read, so that of two writers one tries again.
type git struct {
	repository, ref string
	patience        time.Duration
}

const (
	// headsFile is the file in the commit.
	headsFile = "heads.ndjson"
	// kept is the reference in the scratch repository.
	kept = "refs/kept"
	// idle is how many pushes in a row may fail while the reference stays what it was:
	// another writer may hold its lock.
	idle = 3
)

var (
	// git pushes with a lease to references of at least two parts below refs alone.
	refName   = regexp.MustCompile(`^refs(/[\w-]+(\.[\w-]+)*){2,}$`)
	transport = regexp.MustCompile(`^(https|ssh|file)://`)
)

func parseGit(name string) (Place, error) {
	at := max(strings.LastIndex(name, "#"), 0)
	repository, ref := name[:at], strings.TrimPrefix(name[at:], "#")
	switch {
	case repository == "" || !refName.MatchString(ref):
		return nil, fmt.Errorf("%q: want git:REPOSITORY#REFERENCE, such as git:/srv/witness.git#refs/witness/trial", "git:"+name)
	case strings.HasPrefix(repository, "-"):
		return nil, fmt.Errorf("%q: a repository whose name begins with - is written with its directory", "git:"+name)
	case strings.Contains(repository, "::"), strings.Contains(repository, "://") && !transport.MatchString(repository):
		return nil, fmt.Errorf("%q: want a repository in a directory, or by ssh or https", "git:"+name)
	}
	if strings.Contains(repository, "://") {
		u, err := url.Parse(repository)
		if err != nil {
			return nil, errors.New("the URL of the Git repository cannot be read")
		}
		if _, has := u.User.Password(); has {
			return nil, errors.New("the URL of the Git repository holds a password, which everybody would read: give it to git's credential helper")
		}
	} else if before, _, found := strings.Cut(repository, ":"); !found || strings.Contains(before, "/") || filepath.IsAbs(repository) {
		var err error // not HOST:PATH
		if repository, err = filepath.Abs(repository); err != nil {
			return nil, err
		}
	}
	return &git{repository, ref, patience}, nil
}

func (g *git) String() string { return "git:" + g.repository + "#" + g.ref }

func (g *git) Tail(ctx context.Context) (text []byte, err error) {
	err = g.scratch(ctx, func(s *scratch) error {
		_, text, err = s.read()
		return err
	})
	return text, err
}

func (g *git) Append(ctx context.Context, line []byte) error {
	return g.scratch(ctx, func(s *scratch) error {
		var last string
		for failed := 0; ; failed++ {
			old, text, err := s.read()
			if err != nil && !errors.Is(err, ErrAbsent) {
				return err
			}
			if old != last {
				last, failed = old, 0
			}
			if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
				text = append(text, '\n')
			}
			commit, err := s.commit(old, lastLines(append(text, line...)))
			if err != nil {
				return err
			}
			if err = s.push(old, commit); err == nil || failed == idle {
				return err
			}
			if err := s.pause(); err != nil {
				return err
			}
		}
	})
}

// read brings the commit that the reference names into the scratch repository.
func (s *scratch) read() (commit string, text []byte, err error) {
	listed, err := s.run(nil, "ls-remote", "--quiet", "--", s.repository, s.ref)
	if err != nil {
		return "", nil, err
	}
	if !bytes.Contains(append(listed, '\n'), []byte("\t"+s.ref+"\n")) { // the pattern also meets longer names
		return "", nil, fmt.Errorf("%w: the repository has no reference %s", ErrAbsent, s.ref)
	}
	if _, err := s.run(nil, "fetch", "--quiet", "--depth=1", "--no-tags", "--", s.repository, "+"+s.ref+":"+kept); err != nil {
		return "", nil, err
	}
	names, err := s.run(nil, "ls-tree", "--name-only", kept)
	if err != nil {
		return "", nil, err
	}
	if string(names) != headsFile {
		return "", nil, fmt.Errorf("%s does not hold %s alone: name a reference that is for the witness", s.ref, headsFile)
	}
	id, err := s.run(nil, "rev-parse", "--verify", kept+"^{commit}")
	if err != nil {
		return "", nil, err
	}
	text, err = s.output(nil, "cat-file", "blob", kept+":"+headsFile)
	return string(id), lastLines(text), err
}

// commit makes a commit on top of an old one, if there is one.
func (s *scratch) commit(old string, text []byte) (string, error) {
	blob, err := s.run(text, "hash-object", "-w", "--stdin")
	if err != nil {
		return "", err
	}
	tree, err := s.run(fmt.Appendf(nil, "100644 blob %s\t%s\n", blob, headsFile), "mktree")
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", string(tree), "-m", "Head of a ledger"}
	if old != "" {
		args = append(args, "-p", old)
	}
	commit, err := s.run(nil, args...)
	return string(commit), err
}

// push moves the reference to a commit if it still names the old one, or, without
// an old one, is still not there.
func (s *scratch) push(old, commit string) error {
	lease := fmt.Sprintf("--force-with-lease=%s:%s", s.ref, old)
	_, err := s.run(nil, "push", "--quiet", "--no-verify", lease, "--", s.repository, commit+":"+s.ref)
	return err
}
