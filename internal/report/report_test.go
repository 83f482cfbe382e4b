package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
)

func Example() {
	release := &evaluate.Release{
		Schema: evaluate.ReleaseSchema,
		Method: "dp-is",
		Answers: []evaluate.PolicyAnswer{{Name: "value", Kind: evaluate.OfPolicy, Estimate: &evaluate.Estimate{
			Value: 0.512, Interval: [2]float64{0.41, 0.61}, Confidence: 0.95,
			StdSampling: 0.04, Sampling: evaluate.Paid, StdPrivacy: 0.03,
		}}},
		Privacy: &evaluate.Statement{
			Unit: "person", Adjacency: dp.ReplaceOne, Epsilon: 1, Delta: 1e-5,
			Accountant: "gaussian", Accounted: account.Bracket{Lower: 0.9999, Upper: 1},
			Event: dp.Gaussian{NoiseMultiplier: 7.5}, Noise: "exact",
		},
	}
	var page bytes.Buffer
	if err := report.Write(&page, release); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Contains(page.String(), "Not charged to a ledger"))
	fmt.Println(strings.Contains(page.String(), "0.41 to 0.61"))
	// Output:
	// true
	// true
}

// A name that turns the direction of text round is shown by its code points.
func TestDirectionsAreNotTurnedRound(t *testing.T) {
	r := scalarRelease()
	r.Ledger = ledgerEntry()
	r.Ledger.Purpose = "limit \u202e005.1\u2066 \u200f"
	r.Notes = []string{"a \u2069note\u061c"}
	page := string(render(t, r))
	for _, c := range "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" {
		if strings.ContainsRune(page, c) {
			t.Errorf("the page holds %U", c)
		}
	}
	for _, want := range []string{"limit ⟨U+202E⟩005.1⟨U+2066⟩ ⟨U+200F⟩", "a ⟨U+2069⟩note⟨U+061C⟩"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
}

func TestEachWarningAppearsExactlyWhenDue(t *testing.T) {
	headings := []string{"Seeded noise", "above the promised one", "Not charged to a ledger", "Fast noise", "cannot answer the question"}
	for bits := range 1 << len(headings) {
		due := func(i int) bool { return bits>>i&1 == 1 }
		r := scalarRelease()
		r.Privacy.Seeded = due(0)
		if due(1) {
			r.Privacy.Accounted.Upper = math.Nextafter(r.Privacy.Epsilon, 2)
		}
		r.Privacy.Charged = !due(2)
		if due(3) {
			r.Privacy.Noise = "fast"
		}
		if due(4) {
			r.Answers[0].Estimate.Interval = [2]float64{0, 2}
		}
		boxes := mustParse(t, render(t, r)).find("section", "warning")
		want := 0
		for i, h := range headings {
			n := 0
			for _, box := range boxes {
				if strings.Contains(box.text, h) {
					n++
				}
			}
			if (n == 1) != due(i) || n > 1 {
				t.Errorf("case %05b: %q stands in %d boxes, due: %v", bits, h, n, due(i))
			}
			if due(i) {
				want++
			}
		}
		if len(boxes) != want {
			t.Errorf("case %05b: %d boxes, want %d", bits, len(boxes), want)
		}
	}
}

// The page must not say that no error bar holds what the interval was lengthened
// for.
func TestClippingIsInTheIntervalOrIsNot(t *testing.T) {
	const nowhere, within = "by an amount that no error bar includes", "the interval is lengthened by 0.01234 below and 0.03456 above"
	r := scalarRelease()
	if page := render(t, r); !strings.Contains(page, nowhere) || strings.Contains(page, "the interval is lengthened") {
		t.Error("the error of clipping that is in no error bar is not told")
	}
	r.Answers[0].Estimate.Clipping = [2]float64{0.01234, 0.03456}
	if page := render(t, r); !strings.Contains(page, nowhere) || !strings.Contains(page, "To allow for outcomes so rare that the data happen not to contain them, "+within) {
		t.Error("an interval that was lengthened for rare outcomes alone is not told")
	}
	r.Answers[0].Diagnostics = map[string]any{"clip": map[string]any{"min": 0.0, "max": 1.0}}
	if page := render(t, r); strings.Contains(page, nowhere) || !strings.Contains(page, within) {
		t.Error("an interval that was lengthened for clipping is not told")
	}
}

func TestAReferenceIsNotForRelease(t *testing.T) {
	root := mustParse(t, render(t, referenceRelease()))
	if boxes := root.find("section", "stop"); len(boxes) != 1 || !strings.Contains(boxes[0].text, "No privacy: a reference, not for release") {
		t.Errorf("%d red boxes", len(boxes))
	}
	for _, bad := range []string{"ε", "promised", "Protected"} {
		if strings.Contains(root.text, bad) {
			t.Errorf("a reference without privacy speaks of %q", bad)
		}
	}
}

func TestAVoidPromiseIsNotExplained(t *testing.T) {
	for name, spoil := range map[string]func(*evaluate.Statement){
		"seeded":      func(s *evaluate.Statement) { s.Seeded = true },
		"over budget": func(s *evaluate.Statement) { s.Accounted.Upper = 1.5 },
	} {
		r := scalarRelease()
		if whole := render(t, r); !strings.Contains(whole, "2.719 times") || !strings.Contains(whole, "<h3>Protected</h3>") {
			t.Fatal("a sound release is not explained")
		}
		spoil(r.Privacy)
		page := render(t, r)
		if !strings.Contains(page, "This guarantee is void") || strings.Contains(page, "2.719 times") || strings.Contains(page, "<h3>Protected</h3>") {
			t.Errorf("%s: the page explains a promise that does not hold", name)
		}
	}
}

// The figures are exact values of the theorems that doc.go cites, rounded away
// from the flattering side.
func TestTheGuaranteeInNumbers(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta float64
		want           []string
	}{
		// Randomised response with odds 3:1 attains ln 3 and is guessed in 3 of 4 cases.
		{math.Log(3), 0, []string{"at most 3.001 times", "at most 75.01%"}},
		{1, 0, []string{"at most 2.719 times", "at most 73.11%"}},
		// 1 - 0.5/(1 + e) = 0.8655293...; two persons: 0.5 (e + 1) > 1.
		{1, 0.5, []string{"at most 86.56%", "For two together it is no bound"}},
		// (2^k - 1) delta at epsilon ln 2: 3 and 31 delta.
		{math.Ln2, 1.0 / (1 << 10), []string{"δ\u00a0=\u00a00.00293", "δ\u00a0=\u00a00.03028", "ε\u00a0=\u00a01.3863", "ε\u00a0=\u00a03.46574"}},
		{1000, 0, []string{"at most e^1000 times", "at most 100%"}},
	} {
		r := scalarRelease()
		r.Privacy.Epsilon, r.Privacy.Delta = c.epsilon, c.delta
		r.Privacy.Accounted = account.Bracket{}
		text := mustParse(t, render(t, r)).text
		for _, w := range c.want {
			if !strings.Contains(text, w) {
				t.Errorf("epsilon %v, delta %v: %q is missing", c.epsilon, c.delta, w)
			}
		}
		if c.delta == 0 && strings.Contains(text, "given away outright") {
			t.Error("a pure guarantee speaks of delta")
		}
	}
}

func TestTheAdjacencyIsSaid(t *testing.T) {
	replaced, added := scalarRelease(), scalarRelease()
	added.Privacy.Adjacency = dp.AddRemoveOne
	for _, c := range []struct {
		page string
		has  []string
		not  []string
	}{
		{render(t, replaced), []string{"record had been different", "The number of persons (1312)", "at most 0.01312 such cases are expected"}, []string{"add_remove_one", "not been in the data"}},
		{render(t, added), []string{"not been in the data", "The lower bound on the number of persons (1312)"}, []string{"replace_one", "record had been different", "0.01312 such cases"}},
	} {
		for _, w := range c.has {
			if !strings.Contains(c.page, w) {
				t.Errorf("%q is missing", w)
			}
		}
		for _, w := range c.not {
			if strings.Contains(c.page, w) {
				t.Errorf("%q does not belong here", w)
			}
		}
	}
}

func TestTheNumbersAreThere(t *testing.T) {
	root := mustParse(t, render(t, scalarRelease()))
	text := strings.Join(strings.Fields(root.text), " ")
	for _, w := range []string{
		"0.5124 return", "95% interval 0.4144 to 0.6104", // ends rounded outward
		"± 0.0784", "± 0.0588", // 1.959964 times 0.04 and 0.03
		"standard deviation of the noise 0.031", "of sampling, about 0.0873", "half width of the 95% interval 0.1817",
		"1312", "0 to 2", "−3 to 20", "noise_multiplier = 7.5", "0.9999 to 1", "discreet/release/v1", "A note of the method.",
		"discreet account epsilon event.json --adjacency replace_one --delta 1e-05",
	} {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing", w)
		}
	}
}

func TestTheAccountingCanBeRepeated(t *testing.T) {
	text := mustParse(t, render(t, functionRelease(40))).text
	for _, w := range []string{
		"must not exceed 24.7 (field privacy.event.alpha)",
		"discreet account smooth-sensitivity --epsilon 1 --delta 1e-05 --dimension 40 --beta 0.0078",
	} {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing", w)
		}
	}
	if !strings.Contains(text, "discreet ledger verify") {
		t.Error("a charged release does not say how to ask the ledger")
	}
	uncharged := scalarRelease()
	uncharged.Privacy.Charged = false
	if strings.Contains(render(t, uncharged), "discreet ledger verify") {
		t.Error("an uncharged release sends its reader to a ledger")
	}
}

func TestAPageIsTheSameFromJSON(t *testing.T) {
	for name, r := range samples() {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var again evaluate.Release
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		if render(t, r) != render(t, &again) {
			t.Errorf("%s: the page from the file differs", name)
		}
	}
}

func TestEveryMethodHasAPage(t *testing.T) {
	for _, m := range evaluate.Methods() {
		r := scalarRelease()
		r.Method = m.Name
		if !strings.Contains(render(t, r), "<code>"+m.Name+"</code>") {
			t.Errorf("%s is not named", m.Name)
		}
	}
}

func TestWhatCannotBeShownIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*evaluate.Release){
		"schema":      func(r *evaluate.Release) { r.Schema = "discreet/release/v2" },
		"value":       func(r *evaluate.Release) { r.Answers[0].Estimate.Value = math.NaN() },
		"interval":    func(r *evaluate.Release) { r.Answers[0].Estimate.Interval[1] = math.Inf(1) },
		"reversed":    func(r *evaluate.Release) { r.Answers[0].Estimate.Interval = [2]float64{1, 0} },
		"confidence":  func(r *evaluate.Release) { r.Answers[0].Estimate.Confidence = 0 },
		"negative sd": func(r *evaluate.Release) { r.Answers[0].Estimate.StdPrivacy = -1 },
		"theta":       func(r *evaluate.Release) { r.Theta = []float64{1, math.NaN()} },
		"values":      func(r *evaluate.Release) { r.Values = []float64{math.Inf(-1)} },
		"expected":    func(r *evaluate.Release) { r.Expected.RMSE = math.NaN() },
		"adjacency":   func(r *evaluate.Release) { r.Privacy.Adjacency = 0 },
		"epsilon":     func(r *evaluate.Release) { r.Privacy.Epsilon = 0 },
		"delta":       func(r *evaluate.Release) { r.Privacy.Delta = 1 },
		"accounted":   func(r *evaluate.Release) { r.Privacy.Accounted.Upper = math.NaN() },
		"no event":    func(r *evaluate.Release) { r.Privacy.Event = nil },
		"bad event":   func(r *evaluate.Release) { r.Privacy.Event = dp.Gaussian{} },
		"public":      func(r *evaluate.Release) { r.Public["x"] = math.NaN() },
		"diagnostics": func(r *evaluate.Release) { r.Answers[0].Diagnostics = map[string]any{"x": make(chan int)} },
	} {
		r := scalarRelease()
		spoil(r)
		var b bytes.Buffer
		if err := report.Write(&b, r); !errors.Is(err, report.ErrRelease) || b.Len() > 0 {
			t.Errorf("%s: %v, %d bytes written; want ErrRelease and none", name, err, b.Len())
		}
	}
	if err := report.Write(&bytes.Buffer{}, nil); !errors.Is(err, report.ErrRelease) {
		t.Errorf("nil: %v", err)
	}
}

type fullDisk struct{}

var errFull = errors.New("disk full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestAWriteErrorIsReturned(t *testing.T) {
	if err := report.Write(fullDisk{}, scalarRelease()); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, c := range []struct {
		name string
		r    *evaluate.Release
	}{{"scalar", scalarRelease()}, {"function of 5000 states", functionRelease(5000)}} {
		b.Run(c.name, func(b *testing.B) {
			var page bytes.Buffer
			for b.Loop() {
				page.Reset()
				if err := report.Write(&page, c.r); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(page.Len()))
		})
	}
}

// The weights of columns have the names of the columns and of their products, where
// the release has one for each.
func TestWeightsAreNamed(t *testing.T) {
	r := thetaRelease()
	names := []string{"a", "b", "c", "d"}
	spec := map[string]any{"kind": "columns", "names": names, "intercept": true, "products": [][]string{names[:2], names[2:]}}
	r.Public["features"] = spec
	rows := func() (heads []string) {
		for _, table := range mustParse(t, render(t, r)).find("table", "numbers") {
			for _, tr := range table.find("tr", "")[1:] {
				heads = append(heads, tr.find("th", "")[0].text)
			}
		}
		return heads
	}
	if got, want := rows(), []string{"intercept", "a", "b", "c", "d", "a × b", "c × d"}; !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	spec["names"] = append(names, "e")
	if got, want := rows(), []string{"0", "1", "2", "3", "4", "5", "6"}; !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
}
