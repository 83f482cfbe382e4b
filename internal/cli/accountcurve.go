package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/atomicfile"
)

// privacyCurve is what account curve writes: delta at some epsilons, and a certain bound from
// below on the trade-off function that they give.
type privacyCurve struct {
	Adjacency  string                 `json:"adjacency"`
	Accountant string                 `json:"accountant"`
	Group      int                    `json:"group,omitempty"`
	Profile    []account.ProfilePoint `json:"profile"`
	TradeOff   []tradeOffPoint        `json:"trade_off"`
}

type tradeOffPoint struct {
	FalseAlarm float64 `json:"false_alarm"`
	Miss       float64 `json:"miss"` // at least
}

func newCurve() *cobra.Command {
	q := accountQuery{query: "curve"}
	var adjacency, out string
	var least float64
	var points int
	cmd := &cobra.Command{
		Use:   "curve EVENT.json -o curve.svg",
		Short: "Delta against epsilon and the trade-off function, as a picture or as numbers",
		Long: `Delta against epsilon, from 0 to the epsilon that holds at --least, and the trade-off
function that follows: for each false-alarm probability, the smallest miss probability of
any test that distinguishes two neighbouring datasets. The extension of -o chooses the format: svg, png, csv or json.`,
		Args: exactly(1, "one event file, or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if q.adjacency, err = dp.ParseAdjacency(adjacency); err != nil {
				return err
			}
			write, ok := curveWriters[filepath.Ext(out)]
			if !ok {
				return usage(fmt.Errorf("account curve: -o is %q; want a name that ends in .svg, .png, .csv or .json", out))
			}
			if points < 2 || points > 10000 || !(least > 0 && least < 1) {
				return usage(fmt.Errorf("account curve: %d points down to delta %v; want 2 to 10000, and a delta between 0 and 1", points, least))
			}
			text, err := readInput(cmd, args[0])
			if err != nil {
				return err
			}
			c, err := q.curve(cmd, text, least, points)
			if err != nil {
				return err
			}
			if err := atomicfile.Write(out, 0o666, func(w io.Writer) error { return write(w, c) }); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), out)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&adjacency, "adjacency", "", "replace_one or add_remove_one")
	f.StringVar(&q.accountant, "accountant", "pld", "pld or rdp")
	f.StringVarP(&out, "output", "o", "", "file to write: .svg, .png, .csv or .json")
	f.Float64Var(&least, "least", 1e-10, "the delta at which the curve ends")
	f.IntVar(&points, "points", 100, "how many epsilons")
	f.IntVar(&q.group, "group", 1, "how many linked persons neighbours may differ in")
	f.Float64Var(&q.width, "width", 2e-4, "relative width of a bracket to aim at, 1e-6 to 0.1: a narrower one takes longer")
	f.Float64Var(&q.fixDelta, "fix-delta", 0, "part of delta divided among smooth_gaussian and shuffled events, so that they can be composed")
	return cmd
}

// curve asks for delta on a grid that ends where delta is least.
func (q accountQuery) curve(cmd *cobra.Command, text []byte, least float64, points int) (privacyCurve, error) {
	a, fresh, err := q.begin()
	if err != nil {
		return privacyCurve{}, err
	}
	accountant, err := q.compose(cmd.Context(), &a, text, fresh)
	if err != nil {
		return privacyCurve{}, err
	}
	end, err := accountant.Epsilon(cmd.Context(), least)
	if err != nil {
		return privacyCurve{}, err
	}
	epsilons := make([]float64, points)
	for i := range epsilons {
		epsilons[i] = end.Upper * float64(i) / float64(points-1)
	}
	c := privacyCurve{Adjacency: a.Adjacency, Accountant: a.Accountant, Group: a.Group}
	if c.Profile, err = account.Profile(cmd.Context(), accountant, epsilons); err != nil {
		return c, err
	}
	for i := range 201 {
		alpha := float64(i) / 200
		c.TradeOff = append(c.TradeOff, tradeOffPoint{alpha, account.TradeOff(c.Profile, alpha)})
	}
	return c, nil
}

var curveWriters = map[string]func(w io.Writer, c privacyCurve) error{
	".json": func(w io.Writer, c privacyCurve) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(c)
	},
	".csv": writeCurveCSV,
	".svg": func(w io.Writer, c privacyCurve) error { return plotCurve(w, vgsvg.New(curveWidth, curveHeight), c) },
	".png": func(w io.Writer, c privacyCurve) error {
		canvas := vgimg.NewWith(vgimg.UseWH(curveWidth, curveHeight), vgimg.UseDPI(150))
		return plotCurve(w, vgimg.PngCanvas{Canvas: canvas}, c)
	},
}

// writeCurveCSV writes both curves below each other, told apart by the first column.
func writeCurveCSV(w io.Writer, c privacyCurve) error {
	out := csv.NewWriter(w)
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	rows := [][]string{{"curve", "x", "lower", "upper"}}
	for _, p := range c.Profile {
		rows = append(rows, []string{"delta_of_epsilon", number(p.Epsilon), number(p.Delta.Lower), number(p.Delta.Upper)})
	}
	for _, p := range c.TradeOff {
		rows = append(rows, []string{"miss_of_false_alarm", number(p.FalseAlarm), number(p.Miss), ""})
	}
	return out.WriteAll(rows)
}

const (
	curveWidth  = 24 * vg.Centimeter
	curveHeight = 10 * vg.Centimeter
)

// plotCurve draws delta against epsilon, on a logarithmic scale, and the trade-off function.
func plotCurve(w io.Writer, canvas interface {
	vg.CanvasSizer
	io.WriterTo
}, c privacyCurve) error {
	var profile, miss plotter.XYs
	for _, p := range c.Profile {
		if p.Delta.Upper > 0 {
			profile = append(profile, plotter.XY{X: p.Epsilon, Y: math.Log10(p.Delta.Upper)})
		}
	}
	for _, p := range c.TradeOff {
		miss = append(miss, plotter.XY{X: p.FalseAlarm, Y: p.Miss})
	}
	left, err := curvePlot("Delta that holds at an epsilon ("+c.Adjacency+")", "epsilon", "log10 delta", profile)
	if err != nil {
		return err
	}
	right, err := curvePlot("Trade-off function, a bound from below", "false alarms", "misses, at least", miss)
	if err != nil {
		return err
	}
	right.X.Min, right.X.Max, right.Y.Min, right.Y.Max = 0, 1, 0, 1
	row := [][]*plot.Plot{{left, right}}
	tiles := vgdraw.Tiles{Rows: 1, Cols: 2, PadX: vg.Points(16), PadTop: vg.Points(6), PadBottom: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Points(10)}
	for _, drawn := range plot.Align(row, tiles, vgdraw.New(canvas)) {
		for i, at := range drawn {
			row[0][i].Draw(at)
		}
	}
	_, err = canvas.WriteTo(w)
	return err
}

func curvePlot(title, x, y string, points plotter.XYs) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	if len(points) == 0 {
		return p, nil
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return nil, err
	}
	line.Color = color.RGBA{R: 0x1f, G: 0x5f, B: 0x99, A: 0xff}
	p.Add(plotter.NewGrid(), line)
	return p, nil
}
