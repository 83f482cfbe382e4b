package chart_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/chart"
)

func Example() {
	p := chart.New("Error", chart.Axis{Name: "persons", Log: true}.Over(1000, 30000), chart.Axis{Name: "error"}.Over(0, .5))
	p.Line("line "+chart.Colour(0), []chart.Dot{{X: 1000, Y: .5}, {X: 30000, Y: .1}})
	if err := (chart.Drawing{Title: "Error", Panels: []*chart.Panel{p}}).Write(io.Discard); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// words parses a drawing and returns its texts.
func words(t *testing.T, svg string) []string {
	t.Helper()
	var out []string
	inside := false
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inside = token.Name.Local == "text"
		case xml.CharData:
			if inside {
				out = append(out, string(token))
			}
		case xml.EndElement:
			inside = false
		}
	}
}

// A panel is well-formed whatever its words are, and each number lies where its axis says.
func TestNumbersLieOnTheirAxes(t *testing.T) {
	p := chart.New("", chart.Axis{Name: "a & b", Low: 1, High: 100, Log: true, Ticks: []float64{1, 10, 100}}, chart.Axis{High: 1})
	p.Line("curve", []chart.Dot{{X: 1, Y: 0}, {X: 10, Y: .5}, {X: 100, Y: 7}})
	p.Line("curve", nil)
	p.Band("band", []chart.Dot{{X: 1, Y: 1}, {X: 10, Y: 1}}, []chart.Dot{{X: 1, Y: -3}, {X: 10, Y: .5}})
	p.Bars("bars", []chart.Dot{{X: 10, Y: 1}, {X: 1, Y: .5}}, []chart.Dot{{X: 10, Y: .5}, {X: 1, Y: .5}})
	p.Mark("here", chart.Disc, 4, chart.Dot{X: 100})
	p.Level("level", "<words>", .25)
	svg := string(p.SVG(`"<b>`))
	words(t, svg)
	// The inside is from 60 to 460 and from 312 up to 12.
	for _, want := range []string{
		`class="curve" d="M60.0 312.0L260.0 162.0L460.0 12.0"`, `class="band" d="M60.0 12.0L260.0 12.0L260.0 162.0L60.0 312.0Z"`,
		`class="bars" d="M256.0 12.0h8m-4 0V162.0m-4 0h8"`, `cx="460.0" cy="312.0" r="4"`, `class="level" d="M60.0 237.0H460.0"`, "&lt;words&gt;", "a &amp; b", "&#34;&lt;b&gt;",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in %s", want, svg)
		}
	}
	if n := strings.Count(svg, `class="curve"`); n != 1 {
		t.Errorf("%d lines; want 1: none is drawn of no points", n)
	}
}

// Every range has a few ticks with labels, no two of them alike.
func TestRangesHaveTicks(t *testing.T) {
	for _, values := range [][]float64{{}, {0}, {7}, {-2, 3}, {.25, .9}, {1, 2e7}, {1e-300, 1}, {5e-324, 1e300}, {0, 1e-12}, {-1e307, 1e307}} {
		for _, log := range []bool{false, true} {
			a := chart.Axis{Log: log}.Over(values...)
			seen := map[string]bool{}
			for _, l := range words(t, string(chart.New("", a, chart.Axis{High: 1, Ticks: []float64{}}).SVG(""))) {
				if seen[l] {
					t.Errorf("%v, logarithmic %v: label %s twice", values, log, l)
				}
				seen[l] = true
			}
			if len(seen) < 1 || len(seen) > 12 {
				t.Errorf("%v, logarithmic %v: labels %v", values, log, seen)
			}
		}
	}
	// Numbers too near to each other, and too far, end all the same.
	for _, values := range [][]float64{{1e16, 1e16 + 2}, {-1e308, 1e308}, {5e-324, math.MaxFloat64}} {
		chart.New("", chart.Axis{}.Over(values...), chart.Axis{Log: true}.Over(values...))
	}
}

// A file names what it shows to a reader who does not see it, brings its style, asks for nothing from elsewhere,
// and has legend and footnote below its panels, all of it inside.
func TestDrawingsStandByThemselves(t *testing.T) {
	d := chart.Drawing{Title: "A & B", Columns: 2, Foot: strings.Repeat("long words ", 40)}
	for i := range 3 {
		p := chart.New(fmt.Sprint("panel ", i), chart.Axis{Name: "x", High: 1}, chart.Axis{Name: "y", High: 1})
		p.Line("line", []chart.Dot{{}, {X: 1, Y: 1}})
		d.Panels = append(d.Panels, p)
	}
	for i := range 9 {
		d.Legend = append(d.Legend, chart.Entry{Name: fmt.Sprint("series ", i, " <of many words that take room>"), Line: "line " + chart.Colour(i), Mark: "mark " + chart.Colour(i), Shape: chart.Marker(i)})
	}
	var b strings.Builder
	if err := d.Write(&b); err != nil {
		t.Fatal(err)
	}
	svg := b.String()
	all := strings.Join(words(t, svg), "\n")
	for _, want := range []string{"panel 2", "series 8 <of many words that take room>", "long words long"} {
		if !strings.Contains(all, want) {
			t.Errorf("no text %q in %s", want, all)
		}
	}
	for _, want := range []string{`role="img"`, "<title id=\"title\">A &amp; B</title>", "panel 1: y against x.", "prefers-color-scheme:dark", "system-ui"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in %s", want, svg)
		}
	}
	if got := strings.Count(svg, "://"); got != 1 { // the name of the format
		t.Errorf("%d addresses; want one: %s", got, svg)
	}
	var size struct {
		W float64 `xml:"width,attr"`
		H float64 `xml:"height,attr"`
	}
	if err := xml.Unmarshal([]byte(svg), &size); err != nil {
		t.Fatal(err)
	}
	below := 2 * (30 + 300 + 46.) // panels
	_, rest, _ := strings.Cut(svg[strings.LastIndex(svg, "</g>"):], "\n")
	found := regexp.MustCompile(`<text(?: class="foot")? x="([0-9.]+)" y="([0-9.]+)"`).FindAllStringSubmatch(rest, -1)
	for _, m := range found {
		x, _ := strconv.ParseFloat(m[1], 64)
		y, _ := strconv.ParseFloat(m[2], 64)
		if y < below || y > size.H || x > size.W*3/4 {
			t.Errorf("a line at %v, %v of %v by %v; want it below %v, in three columns", x, y, size.W, size.H, below)
		}
	}
	if len(found) < 9+3 {
		t.Errorf("%d lines below the panels; want 9 of the legend, and the footnote in several", len(found))
	}
}

// Eight colours have eight shapes.
func TestMarkersDiffer(t *testing.T) {
	seen := map[string]int{}
	for i := range 8 {
		p := chart.New("", chart.Axis{High: 1}, chart.Axis{High: 1})
		p.Mark("", chart.Marker(i), 4, chart.Dot{})
		svg := string(p.SVG(""))
		if before, ok := seen[svg]; ok {
			t.Errorf("markers %d and %d are alike", before, i)
		}
		seen[svg] = i
	}
}
