package discreet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// witnessed takes a release that stands in the output directory for a witness of
// the ledger: what it says was the head of the chain must still be there. A
// release of another ledger, or of none, says nothing.
func (j *job) witnessed(ctx context.Context, l *ledger.Ledger) error {
	if j.config.Output.Dir == "" {
		return nil
	}
	path := filepath.Join(j.config.path(j.config.Output.Dir), releaseFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil // whether it can be written over is asked elsewhere
	}
	stamp, err := ledger.StampOf(text)
	if err != nil || stamp.Ledger != l.Config().Ledger || stamp.Dataset != l.Dataset() {
		return nil
	}
	for _, head := range []chain.Head{stamp.Head, {Seq: stamp.Seq, Hash: stamp.Entry}} {
		err := l.VerifyHead(ctx, head)
		if errors.Is(err, ledger.ErrBehind) || errors.Is(err, ledger.ErrTampered) {
			return fmt.Errorf("%w: %s was paid for by entry %d: %w; nothing is charged: bring back the newest copy of the ledger, or restore its newest backup", ledger.ErrWitness, path, stamp.Seq, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
