package ledger

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// backupFormat names the form of a backup: lines of JSON, first a header, then
// the entries, then the releases, then a trailer with the hash of all before it.
const backupFormat = "discreet/ledger-backup/v1"

// exported is an entry as it leaves the ledger.
type exported struct {
	Hash  chain.Hash      `json:"hash"`
	Entry json.RawMessage `json:"entry"`
}

type backupLine struct {
	Header  *backupHeader  `json:"backup,omitempty"`
	Line    *exported      `json:"line,omitempty"`
	Release *backupRelease `json:"release,omitempty"`
	End     *backupEnd     `json:"end,omitempty"`
}

type backupHeader struct {
	Format         string     `json:"format"`
	Dataset        string     `json:"dataset"`
	Taken          time.Time  `json:"taken"`
	Head           chain.Head `json:"head"`
	FingerprintKey []byte     `json:"fingerprint_key"`
}

type backupRelease struct {
	Charge int64  `json:"charge"`
	Body   []byte `json:"body"`
}

type backupEnd struct {
	Entries  int64      `json:"entries"`
	Releases int64      `json:"releases"`
	SHA256   chain.Hash `json:"sha256"`
}

// Export writes all entries, one JSON object a line, each with its hash: enough to
// recompute the chain and the accounting anywhere ([VerifyExport]). It is for the
// curator; fingerprints are sealed in it, but for those of earlier versions.
func (l *Ledger) Export(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriter(w)
	for n, err := range l.entries(ctx, 0) {
		if err != nil {
			return err
		}
		if err := writeLine(out, exported{Hash: n.hash, Entry: n.line}); err != nil {
			return err
		}
	}
	return written(out.Flush())
}

// VerifyExport recomputes the chain and the accounting of an export, without its
// store, and returns its first entry and its head.
func VerifyExport(r io.Reader) (*Opening, chain.Head, error) {
	replay := newReplay("", nil)
	in := newLines(r)
	for {
		text, err := in.next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, chain.Head{}, err
		}
		var line exported
		if err := json.Unmarshal(text, &line); err != nil {
			return nil, chain.Head{}, fmt.Errorf("%w: after entry %d: %v", ErrBackup, replay.next()-1, err)
		}
		if replay.head == nil {
			if first, err := chain.Parse(line.Entry); err == nil && first.Open != nil {
				replay.dataset = first.Open.Dataset
			}
		}
		seq := replay.next()
		if e, err := chain.Parse(line.Entry); err == nil {
			seq = max(seq, e.Seq)
		}
		if err := replay.apply(seq, line.Hash[:], line.Entry); err != nil {
			return nil, chain.Head{}, err
		}
	}
	if replay.head == nil {
		return nil, chain.Head{}, fmt.Errorf("%w: it holds no entry", ErrBackup)
	}
	return (*Opening)(replay.open), *replay.head, nil
}

// Backup writes all that [Restore] needs: the entries, the recorded releases, and
// the key of the fingerprints, so keep it as secret as the ledger. Charges go on
// meanwhile; the backup holds all that were committed when it began.
func (l *Ledger) Backup(ctx context.Context, w io.Writer) error {
	sum := sha256.New()
	out := bufio.NewWriter(io.MultiWriter(w, sum))
	summary, err := l.State(ctx)
	if err != nil {
		return err
	}
	end := &backupEnd{}
	err = writeLine(out, backupLine{Header: &backupHeader{
		Format: backupFormat, Dataset: l.open.Dataset, Taken: time.Now().UTC().Truncate(time.Microsecond),
		Head: summary.Head, FingerprintKey: l.key,
	}})
	if err != nil {
		return err
	}
	var recorded []int64
	for n, err := range l.entries(ctx, 0) {
		if err != nil {
			return err
		}
		if n.Seq > summary.Head.Seq {
			break
		}
		if n.Kind == chain.Record {
			recorded = append(recorded, n.Record.Charge)
		}
		end.Entries++
		if err := writeLine(out, backupLine{Line: &exported{Hash: n.hash, Entry: n.line}}); err != nil {
			return err
		}
	}
	for _, charge := range recorded {
		var release []byte
		err := l.store.View(ctx, l.open.Dataset, func(tx *store.Tx) (err error) {
			release, err = tx.Release(charge)
			return err
		})
		if err != nil {
			return err
		}
		end.Releases++
		if err := writeLine(out, backupLine{Release: &backupRelease{Charge: charge, Body: release}}); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return written(err)
	}
	end.SHA256 = sumOf(sum)
	if err := writeLine(out, backupLine{End: end}); err != nil {
		return err
	}
	return written(out.Flush())
}

func sumOf(h hash.Hash) chain.Hash { return chain.Hash(h.Sum(nil)) }

// writeLine writes one JSON object and a line end. Entries go through byte for
// byte.
func writeLine(w io.Writer, line any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(line); err != nil {
		return written(err)
	}
	_, err := w.Write(b.Bytes())
	return written(err)
}

func written(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: it could not be written: %w", ErrBackup, err)
}
