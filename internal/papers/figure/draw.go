package figure

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// okabeIto returns the colours of Okabe and Ito (2008), which people with any
// common colour vision can tell apart; yellow is left out as too light for lines.
func okabeIto(i int) color.Color {
	return [...]color.RGBA{
		{0, 0, 0, 255}, {230, 159, 0, 255}, {86, 180, 233, 255}, {0, 158, 115, 255},
		{0, 114, 178, 255}, {213, 94, 0, 255}, {204, 121, 167, 255}, {120, 120, 120, 255},
	}[i%8]
}

// glyph tells series apart without colour.
func glyph(i int) vgdraw.GlyphDrawer {
	return [...]vgdraw.GlyphDrawer{
		vgdraw.CircleGlyph{}, vgdraw.SquareGlyph{}, vgdraw.TriangleGlyph{}, vgdraw.CrossGlyph{},
		vgdraw.RingGlyph{}, vgdraw.BoxGlyph{}, vgdraw.PyramidGlyph{}, vgdraw.PlusGlyph{},
	}[i%8]
}

// Sizes of a drawing.
const (
	panelWidth  = 5.2 * vg.Inch
	panelHeight = 4.2 * vg.Inch
	legendRow   = 0.18 * vg.Inch
	footRoom    = 0.3 * vg.Inch
	legendCols  = 2
	labelRoom   = 24 // points, beside an axis
)

// label writes what the axes are, centred outside the tile c. Package plot keeps
// room for a label as if it stood at the arithmetic middle of the range, which
// leaves a gap on a logarithmic axis.
func (p Panel) label(of *plot.Plot, c vgdraw.Canvas) {
	inner := of.DataCanvas(c)
	style := of.X.Label.TextStyle
	style.Font.Size, style.XAlign, style.YAlign = 11, text.XCenter, text.YTop
	c.FillText(style, vg.Point{X: inner.Center().X, Y: c.Min.Y - 2}, p.X)
	style.Rotation, style.YAlign = math.Pi/2, text.YBottom
	c.FillText(style, vg.Point{X: c.Min.X - 8, Y: inner.Center().Y}, p.Y)
}

// draw draws the panels in rows of so many columns, with one legend below them.
func draw(w io.Writer, format string, item Item, t *Table) error {
	panels, columns := item.Panels, item.Columns
	across := len(panels)
	if columns > 0 {
		across = min(columns, across)
	}
	down := (len(panels) + across - 1) / across
	grid := make([][]*plot.Plot, down)
	for i := range grid {
		grid[i] = make([]*plot.Plot, across)
	}
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.TextStyle.Font.Size, legend.Padding = 10, 2
	listed := map[string]bool{}
	var names []string
	var thumbs []plot.Thumbnailer
	for i, p := range panels {
		var err error
		if grid[i/across][i%across], err = p.plot(t, func(name string, of plot.Thumbnailer) {
			if !listed[name] {
				listed[name] = true
				names, thumbs = append(names, name), append(thumbs, of)
			}
		}); err != nil {
			return fmt.Errorf("panel %s: %w", p.Name, err)
		}
	}
	ranges(panels, grid, item.SameY)
	entries := legendCols * across
	if across > 1 {
		entries = 3
	}
	rows := (len(names) + entries - 1) / entries
	width, height := panelWidth*vg.Length(across), panelHeight*vg.Length(down)
	below := legendRow*vg.Length(rows) + footRoom
	canvas, err := newCanvas(format, width, height+below)
	if err != nil {
		return err
	}
	whole := vgdraw.New(canvas)
	whole.FillPolygon(color.White, []vg.Point{{}, {X: whole.Max.X}, whole.Max, {Y: whole.Max.Y}})
	area := vgdraw.Crop(whole, 0, 0, below, 0)
	tiles := vgdraw.Tiles{Rows: down, Cols: across, PadX: labelRoom + 14, PadY: labelRoom + 6, PadTop: 4, PadRight: 10, PadLeft: labelRoom, PadBottom: labelRoom}
	canvases := plot.Align(grid, tiles, area)
	for i, p := range panels {
		of, c := grid[i/across][i%across], canvases[i/across][i%across]
		of.Draw(c)
		p.label(of, c)
	}
	for column := range entries {
		part := legend
		from := column * rows
		for i := from; i < min(from+rows, len(names)); i++ {
			part.Add(names[i], thumbs[i])
		}
		step := width / vg.Length(entries)
		part.Draw(vgdraw.Crop(whole, step*vg.Length(column)+12, 0, 0, -height-0.02*vg.Inch))
	}
	foot := legend.TextStyle
	foot.XAlign, foot.YAlign = text.XLeft, text.YBottom
	whole.FillText(foot, vg.Point{X: 12, Y: 5}, footnote(panels, t))
	_, err = canvas.WriteTo(w)
	return err
}

func newCanvas(format string, w, h vg.Length) (vg.CanvasWriterTo, error) {
	switch format {
	case "svg":
		return vgsvg.New(w, h), nil
	case "png":
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(130))}, nil
	}
	return nil, fmt.Errorf("format %q: want svg or png", format)
}

// plot draws one panel and reports its legend entries.
func (p Panel) plot(t *Table, entry func(string, plot.Thumbnailer)) (*plot.Plot, error) {
	out := plot.New()
	out.Title.Text = p.Title
	out.Title.TextStyle.Font.Size = 12
	for _, a := range []*plot.Axis{&out.X, &out.Y} {
		a.Tick.Label.Font.Size = 10
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{225}, color.Gray{240}
	out.Add(grid)
	lowest := math.Inf(1)
	for _, c := range p.Curves {
		for _, x := range t.Xs(p.Name, c.Series) {
			if y := t.At(p.Name, c.Series, x).Mean; y > 0 {
				lowest = min(lowest, y)
			}
		}
	}
	for _, c := range p.Curves {
		points := p.points(t, c, lowest/2)
		if len(points.XYs) == 0 {
			continue
		}
		if err := c.add(out, points, p.Bands, entry); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Series, err)
		}
	}
	return out, nil
}

// bars are points with error bars, in the form that the plotter takes.
type bars struct {
	plotter.XYs
	plotter.YErrors
}

// error is what bars show on either side of a mean.
func (p Panel) error(c Cell) float64 {
	if p.Bars == StandardDeviation {
		return c.SD
	}
	return c.SE()
}

// points reads a curve. On a logarithmic axis what is not above 0 cannot be
// shown: such points are left out, and bars end at floor.
func (p Panel) points(t *Table, c Curve, floor float64) bars {
	var b bars
	for _, x := range t.Xs(p.Name, c.Series) {
		cell := t.At(p.Name, c.Series, x)
		if p.LogY && !(cell.Mean > 0) || p.LogX && !(x > 0) {
			continue
		}
		e := p.error(cell)
		low := e
		if p.LogY && cell.Mean-e < floor {
			low = max(cell.Mean-floor, 0)
		}
		b.XYs = append(b.XYs, plotter.XY{X: x, Y: cell.Mean})
		b.YErrors = append(b.YErrors, struct{ Low, High float64 }{low, e})
	}
	return b
}

// name is the curve's in the legend.
func (c Curve) name() string { return cmp.Or(c.Label, c.Series) }

func (c Curve) add(out *plot.Plot, b bars, bands bool, entry func(string, plot.Thumbnailer)) error {
	line, points, err := plotter.NewLinePoints(b.XYs)
	if err != nil {
		return err
	}
	line.Color, line.Width = okabeIto(c.Colour), 1.3
	switch {
	case c.Dashed:
		line.Dashes = []vg.Length{5, 3}
	case c.Dotted:
		line.Dashes = []vg.Length{1.5, 2.5}
	}
	points.Color, points.Shape, points.Radius = okabeIto(c.Colour), glyph(c.Colour), 3.5
	if c.Plain && bands {
		if err := c.addBand(out, b); err != nil {
			return err
		}
	}
	out.Add(line)
	if c.Plain {
		entry(c.name(), line)
		return nil
	}
	errorBars, err := plotter.NewYErrorBars(b)
	if err != nil {
		return err
	}
	errorBars.Color = okabeIto(c.Colour)
	out.Add(errorBars, points)
	entry(c.name(), pair{line, points})
	return nil
}

// addBand shades what error bars would show.
func (c Curve) addBand(out *plot.Plot, b bars) error {
	edge := make(plotter.XYs, 0, 2*len(b.XYs))
	for i, at := range b.XYs {
		edge = append(edge, plotter.XY{X: at.X, Y: at.Y + b.YErrors[i].High})
	}
	for i := len(b.XYs) - 1; i >= 0; i-- {
		edge = append(edge, plotter.XY{X: b.XYs[i].X, Y: b.XYs[i].Y - b.YErrors[i].Low})
	}
	band, err := plotter.NewPolygon(edge)
	if err != nil {
		return err
	}
	solid := color.NRGBAModel.Convert(okabeIto(c.Colour)).(color.NRGBA)
	solid.A = 45
	band.Color, band.LineStyle.Width = solid, 0
	out.Add(band)
	return nil
}

// pair shows a line and its marker in the legend.
type pair [2]plot.Thumbnailer

// Thumbnail implements [plot.Thumbnailer].
func (p pair) Thumbnail(c *vgdraw.Canvas) {
	p[0].Thumbnail(c)
	p[1].Thumbnail(c)
}
