package webpage_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/discreet-rl/discreet/internal/webpage"
)

func Example() {
	own := fstest.MapFS{"hello.html": {Data: []byte(`{{define "hello"}}{{template "top" .}}<h1>{{.Title}}</h1>{{template "bottom" .}}{{end}}`)}}
	all := webpage.Parse(own, "*.html")
	answer := httptest.NewRecorder()
	err := webpage.Show(answer, 200, func(w io.Writer) error {
		return all.ExecuteTemplate(w, "hello", webpage.Frame{Title: "<Hello>"})
	})
	fmt.Println(err, strings.Contains(answer.Body.String(), "<h1>&lt;Hello&gt;</h1>"))
	// Output: <nil> true
}

// A page that cannot be made is not sent in part.
func TestPagesAreWholeOrNotThere(t *testing.T) {
	broken := errors.New("broken")
	answer := httptest.NewRecorder()
	err := webpage.Show(answer, 200, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half of it")
		return broken
	})
	if !errors.Is(err, broken) || answer.Code != 500 || strings.Contains(answer.Body.String(), "half") {
		t.Errorf("%v, %d %s", err, answer.Code, answer.Body)
	}
}

// A plot is well-formed whatever its words are, and each number lies where its axis says.
func TestPlotsLieOnTheirAxes(t *testing.T) {
	p := webpage.NewPlot(`"<b>`, webpage.Axis{Name: "a & b", Low: 1, High: 100, Log: true, Ticks: []float64{1, 10, 100}}, webpage.Axis{High: 1})
	p.Line("curve", []webpage.Dot{{X: 1, Y: 0}, {X: 10, Y: .5}, {X: 100, Y: 7}})
	p.Line("curve", nil)
	p.Band("band", []webpage.Dot{{X: 1, Y: 1}, {X: 10, Y: 1}}, []webpage.Dot{{X: 1, Y: -3}, {X: 10, Y: .5}})
	p.Mark("here", webpage.Dot{X: 100}, 4)
	p.Level("level", "words", .25)
	svg := string(p.SVG())
	d := xml.NewDecoder(bytes.NewReader([]byte(svg)))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
	// The inside is from 60 to 468 and from 220 up to 12.
	for _, want := range []string{`class="curve" d="M60.0 220.0L264.0 116.0L468.0 12.0"`, `class="band" d="M60.0 12.0L264.0 12.0L264.0 116.0L60.0 220.0Z"`, `cx="468.0" cy="220.0" r="4"`, `class="level" d="M60 168.0H468"`, "a &amp; b", "&#34;&lt;b&gt;"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in %s", want, svg)
		}
	}
	if n := len(regexp.MustCompile(`class="curve"`).FindAllString(svg, -1)); n != 1 {
		t.Errorf("%d lines; want 1: none is drawn of no points", n)
	}
}
