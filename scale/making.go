package scale

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/discreet-rl/discreet/internal/filelock"
	"github.com/discreet-rl/discreet/internal/source"
)

// making is where shards are made: a directory beside the one that they will be, under a
// name that follows from that one's, so that the next who makes them finds what a killed
// process left. In it is one directory of this making alone, so that whoever still works
// for another finds that gone. It holds data about people.
type making struct {
	to, all, dir string
	lock         *filelock.Lock
}

func (m making) rows() string   { return filepath.Join(m.dir, "rows") }
func (m making) shards() string { return filepath.Join(m.dir, "shards") }

// startMaking makes the directory for shards that are to be in dir, and removes one that a
// process left which was killed.
func startMaking(dir string, tell func(string)) (m making, err error) {
	if source.Remote(dir) {
		return m, fmt.Errorf("%w: %s is no directory of this machine; make the shards in one, and copy them", ErrShard, dir)
	}
	dir = filepath.Clean(dir)
	m = making{to: dir, all: filepath.Join(filepath.Dir(dir), ".making-"+filepath.Base(dir))}
	if _, err := os.Lstat(dir); err == nil {
		return m, taken(dir)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return m, err
	}
	m.lock, err = filelock.Take(m.all + ".lock")
	if errors.Is(err, filelock.ErrHeld) {
		return m, fmt.Errorf("%w: shards are being made in %s already: wait for their end, or choose another directory (%w)", ErrShard, dir, err)
	}
	if err != nil {
		return m, err
	}
	if err = m.begin(tell); err != nil {
		return m, errors.Join(err, m.lock.Release())
	}
	return m, nil
}

func (m *making) begin(tell func(string)) error {
	left, err := m.tidy()
	if err != nil {
		return err
	}
	if left {
		tell("removed " + m.all + ", rows and shards that a process left which was killed")
	}
	if err := os.Mkdir(m.all, 0o700); err != nil {
		return err
	}
	if m.dir, err = os.MkdirTemp(m.all, "run-"); err != nil {
		return errors.Join(err, os.RemoveAll(m.all))
	}
	for _, d := range []string{m.rows(), m.shards()} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return errors.Join(err, os.RemoveAll(m.all))
		}
	}
	return nil
}

// What there is in such a directory.
var (
	madeDirs  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^run-[0-9]+(/(rows(/split-[0-9]+)?|shards))?$`) })
	madeFiles = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^run-[0-9]+/(plan\.json|rows/(file-[0-9]+|found-[0-9]+|\.writing-[0-9]+)|rows/(split-[0-9]+/)?(group|part|run)-[0-9]{1,3}|shards/(s[0-9]{1,5}\.parquet|\.writing-[0-9]+))$`)
	})
)

// tidy removes what is left of another making, and tells whether there was anything. It
// touches nothing if it finds anything else.
func (m making) tidy() (bool, error) {
	if _, err := os.Lstat(m.all); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	err := filepath.WalkDir(m.all, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		within, err := filepath.Rel(m.all, path)
		within = filepath.ToSlash(within)
		if err != nil || e.IsDir() && (within == "." || madeDirs().MatchString(within)) || e.Type().IsRegular() && madeFiles().MatchString(within) {
			return err
		}
		return fmt.Errorf("%w: %s holds other files than what was left of shards; nothing in it was touched: move it away, or choose another directory for the shards", ErrShard, m.all)
	})
	if err != nil {
		return false, err
	}
	return true, os.RemoveAll(m.all)
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
func (m making) end() error { return errors.Join(os.RemoveAll(m.all), m.lock.Release()) }
