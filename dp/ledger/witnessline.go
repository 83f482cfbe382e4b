package ledger

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/dp/ledger/internal/witness"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// witnessLine is what a witness stores of a ledger: its head, as a line of JSON.
type witnessLine struct {
	Ledger  string `json:"ledger"`
	Dataset string `json:"dataset"`
	chain.Head
}

func (w witnessLine) text() []byte {
	line, _ := json.Marshal(w) // names, a number and a hash: it cannot fail
	return append(line, '\n')
}

// longestLine bounds a line of a witness, in bytes; a longer one is no head.
const longestLine = 1 << 14

// highest reads the highest head that a witness knows of a ledger, wherever it stands.
// What is no whole line of JSON, such as what a crash cut short, is passed over; a
// witness without one, or with two entries of the highest number, is an error.
func highest(ctx context.Context, place witness.Place, ledger string) (best chain.Head, err error) {
	text, err := witness.Read(ctx, place)
	if err != nil {
		return best, err
	}
	defer func() { err = errors.Join(err, text.Close()) }()
	found := false
	lines := bufio.NewReaderSize(text, longestLine)
	for {
		line, err := wholeLine(lines)
		if err != nil && err != io.EOF {
			return best, err
		}
		if ctx.Err() != nil {
			return best, ctx.Err()
		}
		var w witnessLine
		if json.Unmarshal(line, &w) == nil && w.Ledger != "" {
			switch {
			case w.Ledger != ledger:
				return best, fmt.Errorf("it is a witness of ledger %s of dataset %q; want one for each ledger", w.Ledger, w.Dataset)
			case found && w.Seq == best.Seq && w.Hash != best.Hash:
				return best, fmt.Errorf("it knows two entries %d", w.Seq)
			case !found || w.Seq > best.Seq:
				best, found = w.Head, true
			}
		}
		if err == io.EOF {
			break
		}
	}
	if !found {
		return best, errors.New("it holds no head of a ledger")
	}
	return best, nil
}

// wholeLine reads a line, nothing of one that is too long. At the end of the text it
// gives what stands after the last newline, and io.EOF.
func wholeLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	for long := err == bufio.ErrBufferFull; long; {
		if _, err = r.ReadSlice('\n'); err != bufio.ErrBufferFull {
			return nil, err
		}
	}
	return line, err
}
