package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// RestoreOptions say what became of the charges after the backup, which nobody
// can read off it. Exactly one of Lost, LostEverything and LostNothing is set;
// there is no default, because a wrong one would revive budget that was spent.
type RestoreOptions struct {
	// Lost is an event that the charges after the backup amount to at most. It is
	// debited at once, as far as there is budget left.
	Lost dp.Event
	// LostEverything debits all that the backup has left: the only safe choice
	// where nothing is known. [Ledger.SetBudget] can then grant more, visibly.
	LostEverything bool
	// LostNothing declares that nothing was charged after the backup, for example
	// because the ledger was moved.
	LostNothing bool
	// Releases are releases that left under this ledger. One whose charge the
	// backup lacks contradicts LostNothing and is [ErrBehind]. One whose charge is
	// pending in the backup is recorded again.
	Releases [][]byte
	// Witnesses are places that knew the ledger's head ([Ledger.AddWitness]). One that
	// is ahead of the backup contradicts LostNothing and is [ErrBehind].
	Witnesses []string
	// Reason is kept in the chain.
	Reason string
}

// Restore makes a ledger from a backup, at a location that does not hold its
// dataset, nor any whose fingerprints are under another key ([ErrConfig]). The backup is verified as a whole before anything is written, and an
// entry is appended that says what was restored and what was declared lost.
//
// The ledger that was backed up must not be charged any more: two ledgers of one
// dataset would each grant the whole rest of the budget. Nothing here can prevent
// that; a release of the one is found by [Ledger.VerifyRelease] of the other.
func Restore(ctx context.Context, backup io.Reader, location string, o RestoreOptions) (*Ledger, error) {
	b, err := readBackup(backup)
	if err != nil {
		return nil, err
	}
	body, err := b.declare(ctx, o)
	if err != nil {
		return nil, err
	}
	s, err := store.Create(ctx, location)
	if err != nil {
		return nil, err
	}
	if err := s.Add(ctx, b.header.Dataset, func(tx *store.Tx) error { return b.write(tx, body) }); err != nil {
		s.Discard()
		return nil, err
	}
	l, err := newLedger(ctx, s, b.replay.open)
	if err != nil {
		s.Close()
	}
	return l, err
}

// backupData is a backup that was read and verified.
type backupData struct {
	header    backupHeader
	replay    *replay
	rows      []store.Row
	releases  map[int64][]byte
	recovered map[int64][]byte // releases that left, of charges that are pending here
}

func readBackup(r io.Reader) (*backupData, error) {
	b := &backupData{releases: map[int64][]byte{}, recovered: map[int64][]byte{}}
	in := newLines(r)
	sum := sha256.New()
	for n := 1; ; n++ {
		line, err := in.next()
		if err == io.EOF {
			return nil, fmt.Errorf("%w: it ends after line %d, without its trailer: it was cut short", ErrBackup, n-1)
		} else if err != nil {
			return nil, err
		}
		var x backupLine
		if err := json.Unmarshal(line, &x); err != nil {
			return nil, fmt.Errorf("%w: line %d: %v", ErrBackup, n, err)
		}
		if x.End != nil {
			return b, b.end(x.End, sumOf(sum))
		}
		sum.Write(line)
		if err := b.line(n, x); err != nil {
			return nil, err
		}
	}
}

func (b *backupData) line(n int, x backupLine) error {
	switch {
	case n == 1 && x.Header != nil && x.Header.Format == backupFormat:
		if len(x.Header.FingerprintKey) != store.KeySize {
			return fmt.Errorf("%w: line %d: a key of the fingerprints of %d bytes; want %d", ErrBackup, n, len(x.Header.FingerprintKey), store.KeySize)
		}
		b.header = *x.Header
		b.replay = newReplay(b.header.Dataset, b.header.FingerprintKey)
	case n > 1 && x.Line != nil:
		row := store.Row{Seq: b.replay.next(), Hash: x.Line.Hash[:], Body: x.Line.Entry}
		if err := b.replay.apply(row.Seq, row.Hash, row.Body); err != nil {
			return fmt.Errorf("%w: line %d: %w", ErrBackup, n, err)
		}
		b.rows = append(b.rows, row)
	case n > 1 && x.Release != nil:
		c, ok := b.replay.charges[x.Release.Charge]
		if _, twice := b.releases[x.Release.Charge]; !ok || twice || c.recorded == 0 || chain.SumRelease(x.Release.Body) != c.release {
			return fmt.Errorf("%w: line %d: not the release that was recorded of entry %d", ErrBackup, n, x.Release.Charge)
		}
		b.releases[x.Release.Charge] = x.Release.Body
	default:
		return fmt.Errorf("%w: line %d: not a line of %s", ErrBackup, n, backupFormat)
	}
	return nil
}

func (b *backupData) end(end *backupEnd, sum chain.Hash) error {
	if b.replay == nil || b.replay.head == nil || end.SHA256 != sum || end.Entries != int64(len(b.rows)) || *b.replay.head != b.header.Head {
		return fmt.Errorf("%w: its trailer does not fit what is before it: it was changed or cut short", ErrBackup)
	}
	for seq, c := range b.replay.charges {
		if _, has := b.releases[seq]; c.recorded != 0 && !has {
			return fmt.Errorf("%w: the release of entry %d is missing", ErrBackup, seq)
		}
	}
	return nil
}

// declare turns the steward's options into the entry that is appended.
func (b *backupData) declare(ctx context.Context, o RestoreOptions) (*chain.RestoreBody, error) {
	if n := count(o.Lost != nil, o.LostEverything, o.LostNothing); n != 1 {
		return nil, fmt.Errorf("%w: say what was charged after the backup of %s: nothing, at most an event, or it is not known and everything left is debited", ErrConfig, b.header.Taken.Format("2006-01-02 15:04 MST"))
	}
	if err := plainText("reason", o.Reason, true); err != nil {
		return nil, fmt.Errorf("%w: %v; say why the ledger is restored", ErrConfig, err)
	}
	if err := b.behind(ctx, o); err != nil {
		return nil, err
	}
	limits, err := b.replay.limit(b.replay.totals.Budget, b.replay.open.Reserve)
	if err != nil {
		return nil, err
	}
	body := &chain.RestoreBody{Backup: b.header.Head, Taken: b.header.Taken, Declared: chain.LostNothing, Reason: o.Reason}
	rest := left(b.replay.totals.Spent, limits.Most)
	switch {
	case o.LostEverything:
		body.Declared, body.Cost = chain.LostEverything, rest
	case o.Lost != nil:
		lost, err := ownEvent(o.Lost)
		if err != nil {
			return nil, err
		}
		cost, err := b.replay.cost(lost)
		if err != nil {
			return nil, err
		}
		body.Declared, body.Lost, body.Cost = chain.LostEvent, lost, least(cost, rest)
	}
	return body, nil
}

// write puts the ledger into an empty dataset and appends the restore.
func (b *backupData) write(tx *store.Tx, body *chain.RestoreBody) error {
	if same, err := tx.AdoptFingerprintKey(b.header.FingerprintKey); err != nil {
		return err
	} else if !same {
		return store.Abort(fmt.Errorf("%w: the store holds datasets whose fingerprints are under another key than those of the backup of dataset %q: copies of data could no longer be detected; restore it into a separate store", ErrConfig, b.header.Dataset))
	}
	for _, row := range b.rows {
		if err := tx.Append(row); err != nil {
			return err
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(b.replay.charges)) {
		c := b.replay.charges[seq]
		if err := tx.AddCharge(c.key, seq); err != nil {
			return err
		}
		if c.recorded == 0 {
			continue
		}
		if err := tx.AddRelease(seq, c.recorded, b.releases[seq]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.replay.analysts)) {
		if err := setAnalyst(tx, name, b.replay.analysts[name]); err != nil {
			return err
		}
	}
	for _, fingerprint := range slices.Sorted(maps.Keys(b.replay.seen)) {
		if _, _, err := tx.RecordFingerprint(fingerprint); err != nil {
			return err
		}
	}
	totals := b.replay.totals
	totals.Spent = totals.Spent.Plus(body.Cost)
	totals.Restores++
	w := &writer{tx: tx}
	if _, err := w.append(&chain.Entry{Kind: chain.Restore, Restore: body, Totals: totals}); err != nil {
		return err
	}
	return b.recordAdopted(w)
}

// VerifyBackup checks a backup as Restore would, without restoring it.
func VerifyBackup(r io.Reader) (*Opening, chain.Head, error) {
	b, err := readBackup(r)
	if err != nil {
		return nil, chain.Head{}, err
	}
	return (*Opening)(b.replay.open), b.header.Head, nil
}

// left is the largest cost that still fits, rounded down.
func left(spent, most account.Cost) account.Cost {
	return account.Cost{
		Sum:     math.Max(xmath.AddDown(most.Sum, -spent.Sum), 0),
		Epsilon: math.Max(xmath.AddDown(most.Epsilon, -spent.Epsilon), 0),
		Delta:   math.Max(xmath.AddDown(most.Delta, -spent.Delta), 0),
	}
}

// least caps each component of a cost.
func least(cost, cap account.Cost) account.Cost {
	return account.Cost{Sum: math.Min(cost.Sum, cap.Sum), Epsilon: math.Min(cost.Epsilon, cap.Epsilon), Delta: math.Min(cost.Delta, cap.Delta)}
}

func count(bs ...bool) (n int) {
	for _, b := range bs {
		if b {
			n++
		}
	}
	return n
}
