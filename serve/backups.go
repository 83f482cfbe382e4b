package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	defaultKeep = 7
	// backupForm is the name of a backup, by its time.
	backupForm = "20060102T150405.000Z"
	// backupAgain is when a backup that failed is tried again, at the latest.
	backupAgain = 5 * time.Minute
	// removedForm is what a backup is called while it is removed.
	removedForm = ".removing-"
)

// backupEvery is the time from one backup to the next.
func (c Config) backupEvery() (time.Duration, error) {
	d, err := time.ParseDuration(c.Backups.Every)
	if err != nil || d < time.Second {
		return 0, fmt.Errorf("%w: backup.every is %q; want a duration from 1s, such as 24h", ErrConfig, c.Backups.Every)
	}
	return d, nil
}

func (c Config) validateBackups() error {
	b := c.Backups
	if b == nil {
		return nil
	}
	_, err := c.backupEvery()
	if b.Path == "" {
		err = errors.Join(err, fmt.Errorf("%w: backup.path is missing; name a directory for the backups alone, on another disk", ErrConfig))
	}
	if b.Keep < 0 {
		err = errors.Join(err, fmt.Errorf("%w: backup.keep is %d; want 1 or more, or 0 for %d", ErrConfig, b.Keep, defaultKeep))
	}
	return err
}

// backer makes backups at their times.
type backer struct {
	dir   string
	every time.Duration
	keep  int
	make  func(ctx context.Context, dir string) error

	mu   sync.Mutex
	last time.Time // of the newest that is whole; zero for none
}

// newBacker looks for the newest backup that is whole.
func newBacker(c Config) (*backer, error) {
	every, err := c.backupEvery()
	if err != nil {
		return nil, err
	}
	b := &backer{dir: c.path(c.Backups.Path), every: every, keep: c.Backups.Keep, make: c.Backup}
	if b.keep == 0 {
		b.keep = defaultKeep
	}
	names, _ := b.made() // a disk that is away stops no service; the first backup says so
	for _, name := range slices.Backward(names) {
		if m, err := readBackup(filepath.Join(b.dir, name)); err == nil {
			b.last = m.Taken
			break
		}
	}
	return b, nil
}

// made are the names of the backups, oldest first.
func (b *backer) made() (names []string, err error) {
	all, err := os.ReadDir(b.dir)
	for _, f := range all {
		if _, err := time.Parse(backupForm, f.Name()); err == nil && f.IsDir() {
			names = append(names, f.Name())
		}
	}
	return names, err
}

// age is that of the last backup in seconds; endless where there is none.
func (b *backer) age() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last.IsZero() {
		return math.Inf(1)
	}
	return time.Since(b.last).Seconds()
}

// back makes a backup and removes those that are more than are kept.
func (b *backer) back(ctx context.Context) error {
	if err := b.sweep(); err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	if err := b.make(ctx, filepath.Join(b.dir, now.Format(backupForm))); err != nil {
		return err
	}
	b.mu.Lock()
	b.last = now
	b.mu.Unlock()
	names, err := b.made()
	for len(names) > b.keep && err == nil {
		// A directory that has the name of a backup is whole, also while it is removed.
		gone := filepath.Join(b.dir, removedForm+names[0])
		if err = os.Rename(filepath.Join(b.dir, names[0]), gone); err == nil {
			err = os.RemoveAll(gone)
		}
		names = names[1:]
	}
	return err
}

// sweep removes what a process left that was killed at it.
func (b *backer) sweep() error {
	all, err := os.ReadDir(b.dir)
	if err != nil {
		return err
	}
	for _, f := range all {
		if strings.HasPrefix(f.Name(), writingForm) || strings.HasPrefix(f.Name(), removedForm) {
			if err := os.RemoveAll(filepath.Join(b.dir, f.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// backUp makes backups until ctx ends.
func (s *Service) backUp(ctx context.Context) {
	b := s.backer
	var tried time.Time
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		if b.age() >= b.every.Seconds() && time.Since(tried) >= min(b.every, backupAgain) {
			tried = time.Now()
			switch err := b.back(ctx); {
			case ctx.Err() != nil:
				return
			case err != nil:
				s.log.Error("a backup failed; it is tried again", "error", err)
			default:
				s.log.Info("a backup was made")
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// observeBackups makes the metrics.
func (s *Service) observeBackups() {
	if s.backer == nil {
		return
	}
	s.metrics.GaugeFunc("backup_age_seconds", "Age of the last backup that is whole.", s.backer.age)
	s.metrics.GaugeFunc("backup_every_seconds", "Time from one backup to the next.", s.backer.every.Seconds)
}
