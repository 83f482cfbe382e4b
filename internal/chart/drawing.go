package chart

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// style is that of a drawing in a file: classes line, band, bars and mark in a colour of [Colour], lines also dashed or dotted.
//
//go:embed style.css
var style string

// Colour is the class of the colours of Okabe and Ito (2008), which people with any common colour vision
// can distinguish, and of lighter ones on a dark ground; yellow is left out as too light for lines.
func Colour(i int) string { return fmt.Sprintf("c%d", i%8) }

// Shape is a mark, which distinguishes series without colour.
type Shape int

// Shapes; those of [Marker] are in the order of their colours.
const (
	NoShape Shape = iota
	Disc
	hollowSquare
	hollowTriangle
	cross
	ring
	square
	triangle
	plus
)

// Marker is the shape of the series with this colour.
func Marker(i int) Shape { return Disc + Shape(i%8) }

func (s Shape) draw(class string, x, y, r float64) string {
	d, hollow := "", ""
	switch s {
	case NoShape:
		return ""
	case hollowSquare, hollowTriangle, ring:
		hollow = " hollow"
	}
	switch s {
	case Disc, ring:
		return fmt.Sprintf(`<circle class="%s%s" cx="%.1f" cy="%.1f" r="%g"/>`, class, hollow, x, y, r)
	case hollowSquare, square:
		d = fmt.Sprintf("m%g %gh%gv%gh%gz", -r, -r, 2*r, 2*r, -2*r)
	case hollowTriangle, triangle:
		d = fmt.Sprintf("m0 %gl%g %gh%gz", -1.25*r, 1.1*r, 2*r, -2.2*r)
	case cross:
		d = fmt.Sprintf("m%g %gl%g %gm0 %gl%g %g", -r, -r, 2*r, 2*r, -2*r, -2*r, 2*r)
	case plus:
		d = fmt.Sprintf("m%g 0h%gm%g %gv%g", -r, 2*r, -r, -r, 2*r)
	}
	return fmt.Sprintf(`<path class="%s%s" d="M%.1f %.1f%s"/>`, class, hollow, x, y, d)
}

// Entry is a line of the legend.
type Entry struct {
	Name string
	// Line and Mark are classes as in the panels.
	Line, Mark string
	Shape      Shape
}

// Drawing is a file of panels in rows of Columns (0: all in one row), with one legend and a footnote below them.
type Drawing struct {
	Title   string
	Panels  []*Panel
	Columns int
	Legend  []Entry
	Foot    string
}

// Measures of a drawing. There are no fonts to measure words by, so that a letter is taken as wide as one of a wide font.
const (
	gap       = 14.
	rowHeight = 20.
	letter    = 6.9
	sample    = 34. // a legend's line
)

// Write writes the drawing.
func (d Drawing) Write(w io.Writer) error {
	columns := len(d.Panels)
	if d.Columns > 0 {
		columns = min(columns, d.Columns)
	}
	cellWidth, cellHeight := 0., 0.
	for _, p := range d.Panels {
		cellWidth, cellHeight = max(cellWidth, p.width()+gap), max(cellHeight, p.height()+gap)
	}
	width := cellWidth * float64(columns)
	var b strings.Builder
	for i, p := range d.Panels {
		fmt.Fprintf(&b, `<g transform="translate(%.0f %.0f)">%s</g>`, cellWidth*float64(i%columns), cellHeight*float64(i/columns), p.b.String())
		b.WriteByte('\n')
	}
	height := cellHeight * math.Ceil(float64(len(d.Panels))/float64(columns))
	height = d.legend(&b, width, height)
	if d.Foot != "" {
		for _, line := range wrap(d.Foot, int((width-2*gap)/letter)) {
			fmt.Fprintf(&b, `<text class="foot" x="%.0f" y="%.0f">%s</text>`, gap, height+14, html.EscapeString(line))
			height += rowHeight
		}
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]g" height="%[2]g" viewBox="0 0 %[1]g %[2]g" role="img" aria-labelledby="title words">
<title id="title">%[3]s</title>
<desc id="words">%[4]s</desc>
<style>
%[5]s</style>
<rect class="paper" width="100%%" height="100%%"/>
%[6]s
</svg>
`, width, height+gap/2, html.EscapeString(d.Title), html.EscapeString(d.words()), style, b.String())
	return err
}

// legend writes the entries below top, in as many columns as have room, and returns where it ends.
func (d Drawing) legend(b *strings.Builder, width, top float64) float64 {
	widest := 0
	for _, e := range d.Legend {
		widest = max(widest, utf8.RuneCountInString(e.Name))
	}
	columns := max(1, math.Floor((width-gap)/(sample+2*gap+letter*float64(widest))))
	rows := math.Ceil(float64(len(d.Legend)) / columns)
	for i, e := range d.Legend {
		column := math.Floor(float64(i) / rows)
		x, y := gap+(width-gap)/columns*column, top+rowHeight*(float64(i)-rows*column)+10
		if e.Line != "" {
			fmt.Fprintf(b, `<path class="%s" d="M%.1f %.1fh%g"/>`, e.Line, x, y, sample)
		}
		b.WriteString(e.Shape.draw(e.Mark, x+sample/2, y, 4))
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f">%s</text>`, x+sample+8, y+4, html.EscapeString(e.Name))
		b.WriteByte('\n')
	}
	return top + rowHeight*rows
}

// words describe the drawing to who does not see it.
func (d Drawing) words() string {
	var out []string
	for _, p := range d.Panels {
		out = append(out, fmt.Sprintf("%s: %s against %s.", p.title, p.y.Name, p.x.Name))
	}
	var names []string
	for _, e := range d.Legend {
		names = append(names, e.Name)
	}
	if names != nil {
		out = append(out, "Series: "+strings.Join(names, "; ")+".")
	}
	return strings.Join(out, " ")
}

// wrap breaks words into lines of so many letters.
func wrap(words string, letters int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(words) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= letters:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}
