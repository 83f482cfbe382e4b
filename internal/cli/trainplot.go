package cli

import (
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/discreet-rl/discreet/train/simulate"
)

// plotTraining draws the score along a run and, below it, what evaluating agents
// told, as svg or png.
func plotTraining(w io.Writer, format string, r *simulate.Result) error {
	score, err := scorePlot(r.Scores)
	if err != nil {
		return err
	}
	rows := [][]*plot.Plot{{score}}
	if len(r.Success) > 0 {
		share, err := sharePlot(r.Success)
		if err != nil {
			return err
		}
		rows = append(rows, []*plot.Plot{share})
	}
	const width = 16 * vg.Centimeter
	height := vg.Length(len(rows)) * 8 * vg.Centimeter
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	} = vgsvg.New(width, height)
	if format == "png" {
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(150))}
	}
	tiles := vgdraw.Tiles{Rows: len(rows), Cols: 1, PadX: vg.Points(6), PadY: vg.Points(10), PadTop: vg.Points(6), PadBottom: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Points(10)}
	for i, c := range plot.Align(rows, tiles, vgdraw.New(canvas)) {
		rows[i][0].Draw(c[0])
	}
	_, err = canvas.WriteTo(w)
	return err
}

// scorePlot shows means of scores over a hundredth of the run.
func scorePlot(scores []float64) (*plot.Plot, error) {
	window := max(1, len(scores)/100)
	var points plotter.XYs
	for from := 0; from+window <= len(scores); from += window {
		sum := 0.0
		for _, s := range scores[from : from+window] {
			sum += s
		}
		points = append(points, plotter.XY{X: float64(from + window), Y: sum / float64(window)})
	}
	title := fmt.Sprintf("Score of the training agents, mean of %d (simulation only)", window)
	return curvePlot(title, "reports", "score", points)
}

// sharePlot shows the private estimates of the share of successful agents, with
// two standard errors.
func sharePlot(estimates []simulate.Estimate) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "Share of successful agents, by randomised response, two standard errors"
	p.X.Label.Text, p.Y.Label.Text = "reports", "share"
	points := plotter.XYs{}
	bars := plotter.YErrors{}
	for _, e := range estimates {
		points = append(points, plotter.XY{X: float64(e.Submissions), Y: e.Share})
		bars = append(bars, struct{ Low, High float64 }{2 * e.StdError, 2 * e.StdError})
	}
	errors, err := plotter.NewYErrorBars(struct {
		plotter.XYs
		plotter.YErrors
	}{points, bars})
	if err != nil {
		return nil, err
	}
	marks, err := plotter.NewScatter(points)
	if err != nil {
		return nil, err
	}
	p.Add(plotter.NewGrid(), errors, marks)
	return p, nil
}
