package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/service/database"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// Restore puts what is missing back from a backup, and books what cannot be known as spent: a
// ledger that is put back has no budget left, unless nothing was charged after the backup, which
// its witnesses and the store may contradict. What is there stays as it is. Without a backup, or
// after it, charges that the ledger knows and the store does not are taken over. The service has to
// be stopped. What it returns is what was done, and what is lost.
func (c Config) Restore(ctx context.Context, dir, reason string, lostNothing bool) (done []string, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if strings.TrimSpace(reason) == "" {
		return nil, fmt.Errorf("%w: say why it is restored", errBackup)
	}
	say := func(format string, args ...any) { done = append(done, fmt.Sprintf(format, args...)) }
	var m *manifest
	made := false
	if dir != "" {
		if m, err = readBackup(dir); err != nil {
			return nil, err
		}
		if made, err = asks.PutBack(ctx, c.place(c.Store), dir, m.Store); err != nil {
			return nil, err
		}
		if made {
			say("the store is that of %s: asks, decisions and lines of the audit log since then are lost", m.Taken.Format("2006-01-02 15:04 MST"))
		}
		if made && c.Tokens == inStore {
			say("tokens are those of the store: revoke again what was revoked since")
		}
		if m.Files[tokensFile] != "" && c.Tokens != inStore {
			switch err := copyFile(filepath.Join(dir, tokensFile), c.path(c.Tokens)); {
			case err == nil:
				say("tokens are those of the backup: revoke again what was revoked since")
			case !errors.Is(err, fs.ErrExist):
				return done, err
			}
		}
	}
	if asks.Missing(c.place(c.Store)) {
		say("there was no store: asks, policies, notices and the audit log begin anew")
	}
	store, err := asks.Open(ctx, c.place(c.Store), database.Options{})
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.Sound(ctx); err != nil {
		return done, fmt.Errorf("%w; move the store away, with what SQLite has beside it, and restore it from a backup", err)
	}
	if made {
		if err := store.Note(ctx, asks.By{Who: "restore"}, "", "", "puts back the store of "+m.Taken.Format("2006-01-02 15:04 MST")+": "+reason); err != nil {
			return done, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Datasets)) {
		r := restoring{config: c, dir: dir, backup: m, reason: reason, lostNothing: lostNothing, store: store, say: say}
		if err := r.dataset(ctx, name); err != nil {
			return done, fmt.Errorf("dataset %s: %w", name, err)
		}
	}
	return done, nil
}

// restoring is one run of Restore.
type restoring struct {
	config      Config
	dir         string
	backup      *manifest // nil for none
	reason      string
	lostNothing bool
	store       *asks.Store
	say         func(string, ...any)
}

// dataset restores the ledger of a dataset, and compares it with the store.
func (r restoring) dataset(ctx context.Context, name string) (err error) {
	d, err := r.config.dataset(name)
	if err != nil {
		return err
	}
	d.asks = r.store
	if err := d.openLedger(ctx); errors.Is(err, ledger.ErrNotLedger) || errors.Is(err, ledger.ErrNoDataset) {
		if err = r.ledger(ctx, d, err); err == nil {
			err = d.openLedger(ctx)
		}
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	f := d.gather(ctx, false)
	if len(f.unasked) > 0 {
		what := fmt.Sprintf("takes over %d charges of which the store has no ask; they stay spent: %s", len(f.unasked), r.reason)
		if err := r.store.TakeOver(ctx, asks.By{Who: "restore"}, name, f.unasked, what); err != nil {
			return err
		}
		r.say("dataset %s: %d charges of the ledger have no ask in the store; they stay spent, and who asks again under the same key gets the same release", name, len(f.unasked))
		f = d.gather(ctx, false)
	}
	return f.verdict()
}

// ledger puts a ledger back that is missing.
func (r restoring) ledger(ctx context.Context, d *dataset, missing error) (err error) {
	path := filepath.Join(r.dir, fmt.Sprintf(ledgerFile, d.name))
	if r.backup == nil || r.backup.Files[filepath.Base(path)] == "" {
		return fmt.Errorf("%w; name a backup that has it", missing)
	}
	if info, err := os.Lstat(d.location); !isPostgres(d.location) && err == nil && info.Size() == 0 {
		return fmt.Errorf("%w; move it away, and restore again", missing)
	}
	if _, err := os.Lstat(d.location + "-journal"); !isPostgres(d.location) && err == nil {
		return fmt.Errorf("%w: %s is left of a ledger that is gone; move it away, and restore again", errBackup, d.location+"-journal")
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_, head, err := ledger.VerifyBackup(f)
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err != nil {
		return err
	}
	o := ledger.RestoreOptions{LostEverything: !r.lostNothing, LostNothing: r.lostNothing, Reason: r.reason}
	if r.lostNothing {
		mark, err := r.store.Mark(ctx, d.name)
		if err != nil && !errors.Is(err, asks.ErrNone) {
			return err
		}
		if err == nil && mark.Seq > head.Seq {
			return fmt.Errorf("%w: the store saw entry %d and the backup ends at entry %d: something was charged after it", ledger.ErrBehind, mark.Seq, head.Seq)
		}
		for _, w := range r.backup.Witnesses[d.name] {
			o.Witnesses = append(o.Witnesses, w.Place)
		}
		if d.witness != "" && !slices.Contains(o.Witnesses, d.witness) {
			o.Witnesses = append(o.Witnesses, d.witness)
		}
		if len(o.Witnesses) == 0 {
			return fmt.Errorf("%w: the ledger has no witness, so that nobody can contradict that nothing was charged after the backup; restore without it", errBackup)
		}
	}
	l, err := ledger.Restore(ctx, f, d.location, o)
	if err != nil {
		return err
	}
	if r.lostNothing {
		r.say("dataset %s: the ledger is that of the backup, up to entry %d, the last that its witnesses and the store know", d.name, head.Seq)
	} else {
		r.say("dataset %s: the ledger is that of the backup, up to entry %d; what was charged since is not known, and all that was left is booked as spent (discreet ledger budget grants more). A witness that knows more refuses it: name a new one in the configuration", d.name, head.Seq)
	}
	return l.Close()
}
