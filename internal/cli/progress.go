package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// progress shows how far reading has come, on a terminal. Elsewhere it is
// silent, so that logs stay clean.
type progress struct {
	bars *mpb.Progress
	bar  *mpb.Bar
	file int
}

func newProgress(w io.Writer) *progress {
	if f, ok := w.(*os.File); !ok || !terminal(f) {
		return &progress{}
	}
	return &progress{bars: mpb.New(mpb.WithOutput(w), mpb.WithWidth(40)), file: -1}
}

func terminal(f *os.File) bool { return cwriter.IsTerminal(int(f.Fd())) }

func (p *progress) update(at trajectory.Progress) {
	if p.bars == nil {
		return
	}
	if at.Index != p.file {
		p.finish()
		p.file = at.Index
		p.bar = p.bars.AddBar(at.Size,
			mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Name(fmt.Sprintf("reading %d/%d ", at.Index+1, at.Files))),
			mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO)))
	}
	p.bar.SetCurrent(at.Bytes)
}

// finish ends a bar wherever it stands: nobody fills the rest of one where reading was ended by
// a fault or a signal.
func (p *progress) finish() {
	if p.bar != nil {
		p.bar.Abort(true)
	}
}

// done takes the bars off the screen.
func (p *progress) done() {
	if p.bars == nil {
		return
	}
	p.finish()
	p.bars.Wait()
}
