package report_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/evaluate"
)

// element is a node of a parsed page. The page is written as well-formed XML but
// for its void elements, so that the standard library can read it.
type element struct {
	name     string
	attrs    map[string]string
	text     string // of this element and all below
	children []*element
}

func parse(page string) (*element, error) {
	d := xml.NewDecoder(strings.NewReader(page))
	d.Entity = xml.HTMLEntity
	root := &element{name: "page"}
	stack := []*element{root}
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			top := stack[len(stack)-1]
			if e.name == "td" { // a cell of its own, where its text would run on
				for _, x := range stack {
					x.text += " "
				}
			}
			top.children = append(top.children, e)
			if e.name != "meta" && e.name != "br" {
				stack = append(stack, e)
			}
		case xml.EndElement:
			top := stack[len(stack)-1]
			if top.name != token.Name.Local {
				return nil, fmt.Errorf("<%s> ends with </%s>", top.name, token.Name.Local)
			}
			stack = stack[:len(stack)-1]
		case xml.CharData:
			for _, e := range stack {
				e.text += string(token)
			}
		}
	}
	if len(stack) != 1 {
		return nil, fmt.Errorf("<%s> has no end", stack[len(stack)-1].name)
	}
	return root, nil
}

func (e *element) walk(visit func(*element)) {
	visit(e)
	for _, c := range e.children {
		c.walk(visit)
	}
}

// find lists the elements with a name and, unless it is empty, a class.
func (e *element) find(name, class string) []*element {
	var out []*element
	e.walk(func(x *element) {
		if x.name == name && (class == "" || slices.Contains(strings.Fields(x.attrs["class"]), class)) {
			out = append(out, x)
		}
	})
	return out
}

func mustParse(t testing.TB, page string) *element {
	t.Helper()
	root, err := parse(page)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestNoElementIsEmpty(t *testing.T) {
	full := []string{"section", "p", "ul", "ol", "li", "dl", "dt", "dd", "table", "tbody", "tr", "th", "td",
		"figure", "figcaption", "details", "summary", "pre", "code", "h1", "h2", "h3", "small", "text", "title", "style"}
	for name, r := range samples() {
		root := mustParse(t, render(t, r))
		root.walk(func(e *element) {
			if slices.Contains(full, e.name) && strings.TrimSpace(e.text) == "" {
				t.Errorf("%s: <%s %v> is empty", name, e.name, e.attrs)
			}
			if e.name == "section" && len(e.children) < 2 {
				t.Errorf("%s: a section holds its heading alone: %s", name, e.text)
			}
		})
		if n := len(root.find("h1", "")); n != 1 {
			t.Errorf("%s: %d <h1>", name, n)
		}
	}
}

func TestAnEmptyReleaseHasOnlyWhatItHolds(t *testing.T) {
	root := mustParse(t, render(t, emptyRelease()))
	var got []string
	for _, h := range root.find("h2", "") {
		got = append(got, strings.TrimSpace(h.text))
	}
	want := []string{"■ No privacy: a reference, not for release", "What is protected, and what is not", "How to verify this page"}
	if !slices.Equal(got, want) {
		t.Errorf("headings %q, want %q", got, want)
	}
	if len(root.find("svg", "")) > 0 {
		t.Error("a release without numbers has a chart")
	}
}

func TestNothingIsLoadedAndNothingRuns(t *testing.T) {
	for name, r := range samples() {
		page := render(t, r)
		for _, bad := range []string{"http://", "https://", "url(", "@import", "javascript:"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s: the page holds %q", name, bad)
			}
		}
		checkInert(t, mustParse(t, page))
	}
}

// checkInert asserts that no element or attribute can load or run anything.
func checkInert(t testing.TB, root *element) {
	t.Helper()
	root.walk(func(e *element) {
		if slices.Contains([]string{"script", "img", "image", "iframe", "object", "embed", "link", "base", "a", "form", "use",
			"foreignObject", "audio", "video", "source", "animate", "set"}, e.name) {
			t.Errorf("the page holds <%s>", e.name)
		}
		for a := range e.attrs {
			if strings.HasPrefix(a, "on") || slices.Contains([]string{"src", "href", "srcset", "action", "data", "style", "background"}, a) {
				t.Errorf("<%s> has the attribute %s", e.name, a)
			}
		}
	})
}

func TestHostileTextIsOnlyText(t *testing.T) {
	hostile := `</title></style></pre>--><script>alert(1)</script><img src=x onerror="alert(2)">' onload='x' {{.}} &lt;`
	harmless := render(t, hostileRelease("harmless"))
	page := render(t, hostileRelease(hostile))
	root := mustParse(t, page)
	checkInert(t, root)
	var names, harmlessNames []string
	root.walk(func(e *element) { names = append(names, e.name) })
	mustParse(t, harmless).walk(func(e *element) { harmlessNames = append(harmlessNames, e.name) })
	if !slices.Equal(names, harmlessNames) {
		t.Error("hostile text changes the elements of the page")
	}
	if got, want := strings.Count(root.text, hostile), strings.Count(mustParse(t, harmless).text, "harmless"); got < 10 || got != want {
		t.Errorf("the hostile text is legible %d times, a harmless one %d times", got, want)
	}
}

// hostileRelease puts text wherever a release holds free text.
func hostileRelease(text string) *evaluate.Release {
	r := scalarRelease()
	r.Method = text
	r.Notes = []string{text, text}
	r.Answers[0].Estimate.Sampling = evaluate.SamplingSource(text)
	r.Privacy.Unit, r.Privacy.Accountant, r.Privacy.Noise = evaluate.Unit(text), text, text
	r.Ledger.Dataset, r.Ledger.Analyst, r.Ledger.Purpose, r.Ledger.Key, r.Ledger.Rule = text, text, text, text, text
	r.Disclosure = &evaluate.Disclosure{Tuning: text, Justification: text, Unprotected: []string{text}, Mechanisms: []evaluate.MechanismUse{{Kind: text, Runs: 2}}}
	r.Signature = &evaluate.Signature{KeyID: text}
	r.Public["target"] = map[string]any{"kind": text, text: text}
	r.Public["list"] = []any{text, map[string]any{"k": 1}}
	r.Answers[0].Diagnostics = map[string]any{text: map[string]any{text: text}}
	return r
}

// number reads a coordinate; percent signs are dropped.
func number(s string) (float64, error) { return strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64) }

// checkCharts asserts that all coordinates are finite and inside their chart.
func checkCharts(t testing.TB, root *element) {
	t.Helper()
	for _, svg := range root.find("svg", "") {
		svg.walk(func(e *element) {
			for _, a := range []string{"x", "y", "x1", "x2", "y1", "y2", "width", "height"} {
				s, ok := e.attrs[a]
				if !ok {
					continue
				}
				v, err := number(s)
				if err != nil || math.IsNaN(v) || v < -1e-2 || (strings.HasSuffix(s, "%") && v > 100) || v > 1000.001 {
					t.Errorf("<%s %s=%q>", e.name, a, s)
				}
			}
			for _, s := range strings.FieldsFunc(e.attrs["d"], func(r rune) bool { return strings.ContainsRune("MLHVZ ", r) }) {
				if v, err := number(s); err != nil || !(v >= -1.01 && v <= 1001.01) {
					t.Errorf("path with %q", s)
				}
			}
		})
	}
}

func TestChartsStayInsideAndFinite(t *testing.T) {
	for _, r := range samples() {
		checkCharts(t, mustParse(t, render(t, r)))
	}
	// Any finite release, however odd, makes a page with finite charts.
	extreme := rapid.OneOf(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), rapid.Float64Range(-1, 1),
		rapid.SampledFrom([]float64{0, math.MaxFloat64, -math.MaxFloat64, 5e-324, 1e-300, 1e16}))
	draws, passed := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		// A page takes long to draw and to read, so the first ones do; once one has not
		// passed, rapid needs all that follow to shrink it.
		if draws == passed && passed >= 30 {
			return
		}
		draws++
		r := scalarRelease()
		ends := []float64{extreme.Draw(rt, "end"), extreme.Draw(rt, "end")}
		slices.Sort(ends)
		r.Answers[0].Estimate.Interval = [2]float64{ends[0], ends[1]}
		r.Answers[0].Estimate.Value = extreme.Draw(rt, "value")
		r.Answers[0].Estimate.StdSampling = min(math.Abs(extreme.Draw(rt, "sampling")), 1e300)
		r.Answers[0].Estimate.StdPrivacy = min(math.Abs(extreme.Draw(rt, "privacy")), 1e300)
		bounds := []float64{extreme.Draw(rt, "bound"), extreme.Draw(rt, "bound")}
		slices.Sort(bounds)
		r.Public["return"] = evaluate.Range{Min: bounds[0], Max: bounds[1]}
		r.Values = rapid.SliceOfN(extreme, 0, 40).Draw(rt, "values")
		r.Privacy.Epsilon = rapid.SampledFrom([]float64{5e-324, 1e-9, 1, 700, 1e6, math.MaxFloat64}).Draw(rt, "epsilon")
		r.Privacy.Accounted = account.Bracket{}
		page := render(t, r)
		root := mustParse(t, page)
		checkCharts(t, root)
		for _, bad := range []string{"NaN", "Inf", "%!"} {
			if strings.Contains(root.text, bad) {
				rt.Fatalf("the page holds %q", bad)
			}
		}
		if t.Failed() {
			rt.FailNow()
		}
		passed++
	})
}

func TestEveryKindOfEventIsExplained(t *testing.T) {
	leaf := dp.Gaussian{NoiseMultiplier: 1.25}
	for _, e := range []dp.Event{
		leaf, dp.Laplace{NoiseMultiplier: 1.25}, dp.DiscreteGaussian{Sigma: 2.5, Norm: 3, Dimension: 12}, dp.DiscreteLaplace{Scale: 2.5, Norm: 3},
		dp.RandomizedResponse{Buckets: 7, NoiseParameter: 0.375}, dp.SmoothGaussian{Alpha: 24.5, Beta: 0.0625, Dimension: 9},
		dp.Shuffled{Count: 903, LocalEpsilon: 0.625, UniformSlots: true, OneRandomizer: true},
		dp.GaussianDP{Mu: 0.625}, dp.TreeAggregation{NoiseMultiplier: 3, Steps: 8, Participations: 1}, dp.ZeroConcentratedDP{Rho: 0.375}, dp.PureDP{Epsilon: 0.625},
		dp.RenyiCurve{Orders: []float64{2.5}, Values: []float64{0.125}},
		dp.PrivacyLoss{Losses: []float64{0.375}, Masses: []float64{0.875}, Infinity: 0.125},
		dp.SelectBest{Runs: "geometric", Gamma: 0.125, Event: leaf}, dp.SelectBest{Runs: "poisson", Mean: 7.5, Event: leaf},
		dp.Exponential{Epsilon: 0.625}, dp.PermuteAndFlip{Epsilon: 0.375}, dp.ReportNoisyMax{Noise: "laplace", Scale: 2.5, Sensitivity: 1.5, Monotone: true},
		dp.ApproximateDP{Epsilon: 0.75, Delta: 0.125}, dp.PoissonSampled{Rate: 0.0625, Event: leaf},
		dp.SampledWithoutReplacement{Population: 901, Sample: 17, Event: leaf}, dp.SelfComposed{Count: 1001, Event: leaf},
		dp.Composed{Events: []dp.Event{leaf, dp.Laplace{NoiseMultiplier: 3.5}}},
	} {
		r := scalarRelease()
		r.Privacy.Event = e
		root := mustParse(t, render(t, r))
		raw, err := dp.MarshalEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		tree := root.find("ul", "tree")[0]
		// Every parameter of the JSON form stands in the tree with its value.
		d := strings.NewReplacer("{", ",", "}", ",", "[", ",", "]", ",", `"`, "")
		for _, field := range strings.Split(d.Replace(string(raw)), ",") {
			name, value, _ := strings.Cut(field, ":")
			switch {
			case name == "" || value == "":
			case name == "kind":
				if !strings.Contains(tree.text, value) {
					t.Errorf("%s: kind %s is not named", raw, value)
				}
			case !strings.Contains(tree.text, name+" = "+value+" – "):
				t.Errorf("%s: %s = %s is not explained in %s", raw, name, value, tree.text)
			}
		}
		if !strings.Contains(root.text, string(raw)) {
			t.Errorf("%s: the JSON form is missing", raw)
		}
	}
}

func TestALongCompositionIsCutAndCounted(t *testing.T) {
	var events []dp.Event
	for i := range 90 {
		events = append(events, dp.Gaussian{NoiseMultiplier: float64(i/3 + 1)})
	}
	for i := range 70 {
		events = append(events, dp.Laplace{NoiseMultiplier: float64(i + 1)})
	}
	r := scalarRelease()
	r.Privacy.Event = dp.Composed{Events: events}
	tree := mustParse(t, render(t, r)).find("ul", "tree")[0]
	if n := strings.Count(tree.text, "3 times the same"); n != 30 {
		t.Errorf("%d triples, want 30", n)
	}
	if n := strings.Count(tree.text, "laplace"); n != 20 {
		t.Errorf("%d Laplace events are shown, want the 20 that fit", n)
	}
	if !strings.Contains(tree.text, "and 50 more") {
		t.Error("the 50 events that do not fit are not counted")
	}
}
