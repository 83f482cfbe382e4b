package scale

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/discreet-rl/discreet/internal/filelock"
)

// making is where shards are made: a directory beside the one that they will be, under a
// name that follows from that one's, so that the next who makes them finds what a killed
// process left. It holds data about people.
type making struct {
	to, dir string
	lock    *filelock.Lock
}

func (m making) rows() string   { return filepath.Join(m.dir, "rows") }
func (m making) shards() string { return filepath.Join(m.dir, "shards") }

// startMaking makes the directory for shards that are to be in dir, and removes one that a
// process left which was killed.
func startMaking(dir string, tell func(string)) (m making, err error) {
	dir = filepath.Clean(dir)
	m = making{to: dir, dir: filepath.Join(filepath.Dir(dir), ".making-"+filepath.Base(dir))}
	if _, err := os.Lstat(dir); err == nil {
		return m, taken(dir)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return m, err
	}
	m.lock, err = filelock.Take(m.dir + ".lock")
	if errors.Is(err, filelock.ErrHeld) {
		return m, fmt.Errorf("%w: shards are being made in %s already: wait for their end, or choose another directory (%w)", ErrShard, dir, err)
	}
	if err != nil {
		return m, err
	}
	left, err := m.tidy()
	if err == nil && left {
		tell("removed " + m.dir + ", rows and shards that a process left which was killed")
	}
	for _, d := range []string{m.dir, m.rows(), m.shards()} {
		if err == nil {
			err = os.Mkdir(d, 0o700)
		}
	}
	if err != nil {
		return m, errors.Join(err, m.lock.Release())
	}
	return m, nil
}

// What there is in such a directory, by the directories in it.
var madeNames = map[string]*regexp.Regexp{
	"rows":   regexp.MustCompile(`^(group|part)-[0-9]{1,3}$`),
	"shards": regexp.MustCompile(`^(s[0-9]{1,5}\.parquet|\.writing-[0-9]+)$`),
}

// tidy removes what is left of another making, and tells whether there was anything. It
// touches nothing if it finds anything else.
func (m making) tidy() (bool, error) {
	info, err := os.Lstat(m.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	entries, err := os.ReadDir(m.dir)
	ours := err == nil && info.IsDir()
	for _, e := range entries {
		names := madeNames[e.Name()]
		inner, err := os.ReadDir(filepath.Join(m.dir, e.Name()))
		ours = ours && names != nil && e.IsDir() && err == nil &&
			!slices.ContainsFunc(inner, func(f fs.DirEntry) bool { return !f.Type().IsRegular() || !names.MatchString(f.Name()) })
	}
	if !ours {
		return false, fmt.Errorf("%w: %s holds other files than what was left of shards; nothing in it was touched: move it away, or choose another directory for the shards", ErrShard, m.dir)
	}
	return true, os.RemoveAll(m.dir)
}

// done gives the shards their directory.
func (m making) done() error {
	if _, err := os.Lstat(m.to); err == nil {
		return taken(m.to)
	}
	err := os.Rename(m.shards(), m.to)
	if errors.Is(err, fs.ErrExist) {
		return taken(m.to)
	}
	return err
}

// end removes what is left.
func (m making) end() error { return errors.Join(os.RemoveAll(m.dir), m.lock.Release()) }
