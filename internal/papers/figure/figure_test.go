package figure_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/discreet-rl/discreet/internal/papers/figure"
)

// study has one item of n jobs, whose numbers are 1 to n; run counts the calls
// and job k fails when fail returns an error for it.
func study(n int, run *atomic.Int64, fail func(k int) error) figure.Study {
	return figure.Study{
		Paper: "test", Version: 1, Title: "A <study>", Abstract: []string{"Nothing & all."},
		Items: []figure.Item{{
			Name: "numbers", Title: "Numbers", Caption: "1 to n.",
			Panels: []figure.Panel{{
				Name: "p", Title: "Numbers", X: "x", Y: "y", LogX: true, LogY: true, Bars: figure.StandardError,
				Curves: []figure.Curve{{Series: "s"}, {Series: "never sampled", Colour: 1}},
			}},
			Jobs: func(bool) []figure.Job {
				jobs := make([]figure.Job, 0, n)
				for k := 1; k <= n; k++ {
					jobs = append(jobs, figure.Job{Key: fmt.Sprint(k), Cost: 1, Run: func(context.Context) ([]figure.Sample, error) {
						run.Add(1)
						if err := fail(k); err != nil {
							return nil, err
						}
						return []figure.Sample{{Panel: "p", Series: "s", X: 10, Y: float64(k)}, {Panel: "p", Series: "s", X: 20, Y: -1}}, nil
					}})
				}
				return jobs
			},
			Claims: func(t *figure.Table) []figure.Claim {
				c := t.At("p", "s", 10)
				return []figure.Claim{{ID: "mean", Paper: "test", Claim: "The mean is (n+1)/2.", Holds: c.Mean == float64(n+1)/2, Ours: c.Mean, StdErr: c.SE()}}
			},
		}},
	}
}

func never(int) error { return nil }

func Example() {
	dir, err := os.MkdirTemp("", "figure")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s := study(5, new(atomic.Int64), never)
	done, err := figure.Run(context.Background(), s, figure.Options{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(done.Claims[0].ID, done.Claims[0].Holds, done.Claims[0].Ours)
	// Output: mean true 3
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Mean and standard error of 1 to 9: 5, and sqrt(7.5/9).
func TestFilesHoldMeansAndErrorsWhateverTheWorkers(t *testing.T) {
	var before string
	for _, workers := range []int{1, 4} {
		dir, run := t.TempDir(), new(atomic.Int64)
		if _, err := figure.Run(context.Background(), study(9, run, never), figure.Options{Dir: dir, Workers: workers}); err != nil {
			t.Fatal(err)
		}
		csv := read(t, dir, "numbers.csv")
		if want := fmt.Sprintf("p,s,10,5,%v,%v,9\n", math.Sqrt(7.5)/3, math.Sqrt(7.5)); !strings.Contains(csv, want) {
			t.Errorf("%d workers: CSV is\n%s; want a row %s", workers, csv, want)
		}
		all := csv + read(t, dir, "numbers.svg") + read(t, dir, "claims.json") + read(t, dir, "index.html")
		if before != "" && all != before {
			t.Errorf("%d workers give other files than one", workers)
		}
		before = all
	}
}

func TestFilesAreWellFormed(t *testing.T) {
	dir := t.TempDir()
	if _, err := figure.Run(context.Background(), study(3, new(atomic.Int64), never), figure.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	var claims []figure.Claim
	if err := json.Unmarshal([]byte(read(t, dir, "claims.json")), &claims); err != nil || len(claims) != 1 {
		t.Errorf("claims.json: %v, %v", claims, err)
	}
	if s := read(t, dir, "claims.json"); !strings.Contains(s, `"paper_value": null`) {
		t.Errorf("claims.json says no paper_value: %s", s)
	}
	if html := read(t, dir, "index.html"); !strings.Contains(html, "A &lt;study&gt;") || !strings.Contains(html, "numbers.svg") {
		t.Errorf("index.html: %s", html)
	}
	if html, row := read(t, dir, "index.html"), `<td>The mean is (n&#43;1)/2.</td><td>yes</td><td class="n">&ndash;</td><td class="n">2 (0.6)</td>`; !strings.Contains(html, row) {
		t.Errorf("index.html: %s; want %s", html, row)
	}
	for d := xml.NewDecoder(strings.NewReader(read(t, dir, "numbers.svg"))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("numbers.svg: %v", err)
		}
	}
}

func TestInterruptedRunsContinue(t *testing.T) {
	dir, run := t.TempDir(), new(atomic.Int64)
	ctx, cancel := context.WithCancel(context.Background())
	_, err := figure.Run(ctx, study(10, run, func(k int) error {
		if k == 4 {
			cancel()
		}
		return nil
	}), figure.Options{Dir: dir, Workers: 1})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted run: %v; want context.Canceled", err)
	}
	first := run.Load()
	if first < 4 || first > 5 {
		t.Errorf("%d jobs ran; want to stop after the fourth", first)
	}
	if _, err := os.Stat(filepath.Join(dir, "claims.json")); err == nil {
		t.Error("an interrupted run wrote claims")
	}
	// The process died while it wrote a line.
	f, err := os.OpenFile(filepath.Join(dir, "trials.ndjson"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"item":"numbers","key":"9","sam`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var last figure.Progress
		done, err := figure.Run(context.Background(), study(10, run, never), figure.Options{Dir: dir, Progress: func(p figure.Progress) { last = p }})
		if err != nil {
			t.Fatal(err)
		}
		if !done.Claims[0].Holds || last.Done != 10 || last.Jobs != 10 {
			t.Errorf("continued: %+v, progress %+v", done.Claims, last)
		}
		if got := run.Load(); got != 10 {
			t.Errorf("%d jobs ran in all; want 10, each once", got)
		}
	}
}

// Of a full run of 4 trials of two points, trial 3 of one of them fails: a later
// run of another item shows the mean of the 2 trials that both have.
func TestUnfinishedItemsShowTheTrialsThatAllPointsHave(t *testing.T) {
	failing := errors.New("no")
	s := study(1, new(atomic.Int64), never)
	some := s.Items[0]
	some.Name, some.Claims = "some", nil
	some.Jobs = func(quick bool) []figure.Job {
		var jobs []figure.Job
		for trial := 1; trial <= 4; trial++ {
			for _, x := range []float64{1, 2} {
				jobs = append(jobs, figure.Job{Key: fmt.Sprint(quick, x, trial), Cost: 2 - x, Trial: trial, Run: func(context.Context) ([]figure.Sample, error) {
					if trial == 3 && x == 2 {
						return nil, failing
					}
					return []figure.Sample{{Panel: "p", Series: "s", X: x, Y: float64(trial)}}, nil
				}})
			}
		}
		return jobs
	}
	s.Items = append(s.Items, some)
	dir := t.TempDir()
	ctx := context.Background()
	if _, err := figure.Run(ctx, s, figure.Options{Dir: dir, Items: []string{"some"}, Workers: 1}); !errors.Is(err, failing) {
		t.Fatalf("run: %v; want the job's error", err)
	}
	if _, err := figure.Run(ctx, s, figure.Options{Dir: dir, Items: []string{"numbers"}}); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, dir, "some.csv"), "p,s,1,1.5,0.5,0.7071067811865476,2\np,s,2,1.5,0.5,0.7071067811865476,2\n"; !strings.HasSuffix(got, want) {
		t.Errorf("some.csv is\n%s; want\n%s", got, want)
	}
	if html, want := read(t, dir, "index.html"), "of each point 2 trials in place of 4"; !strings.Contains(html, want) {
		t.Errorf("index.html: %s; want %q", html, want)
	}
}

// A logarithmic axis of less than a decade names its ticks shortly: 3 times a
// tenth is not 0.30000000000000004.
func TestTicksOfAShortRange(t *testing.T) {
	s := study(1, new(atomic.Int64), never)
	s.Items[0].Jobs = func(bool) []figure.Job {
		return []figure.Job{{Key: "1", Run: func(context.Context) ([]figure.Sample, error) {
			return []figure.Sample{{Panel: "p", Series: "s", X: 0.25, Y: 1}, {Panel: "p", Series: "s", X: 0.9, Y: 2}}, nil
		}}}
	}
	dir := t.TempDir()
	if _, err := figure.Run(context.Background(), s, figure.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{">0.3<", ">0.6<"} {
		if svg := read(t, dir, "numbers.svg"); !strings.Contains(svg, label) {
			t.Errorf("numbers.svg has no label %s", label)
		}
	}
}

// picture runs a study of one item that has these panels and samples, and returns
// its SVG.
func picture(t *testing.T, item figure.Item, samples ...figure.Sample) string {
	t.Helper()
	s := study(1, new(atomic.Int64), never)
	item.Name = "numbers"
	item.Jobs = func(bool) []figure.Job {
		return []figure.Job{{Key: "1", Run: func(context.Context) ([]figure.Sample, error) { return samples, nil }}}
	}
	s.Items[0] = item
	dir := t.TempDir()
	if _, err := figure.Run(context.Background(), s, figure.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	return read(t, dir, "numbers.svg")
}

// has reports labels that the picture lacks; the footnote may be in several lines.
func has(t *testing.T, svg string, labels ...string) {
	t.Helper()
	svg = regexp.MustCompile(`</text><text class="foot"[^>]*>`).ReplaceAllString(svg, " ")
	for _, label := range labels {
		if !strings.Contains(svg, ">"+label+"<") {
			t.Errorf("numbers.svg has no label %s", label)
		}
	}
}

func TestTicksArePlainShortNumbers(t *testing.T) {
	p := figure.Panel{Name: "p", Curves: []figure.Curve{{Series: "s"}}}
	svg := picture(t, figure.Item{Panels: []figure.Panel{p}},
		figure.Sample{Panel: "p", Series: "s", X: 0, Y: -0.2}, figure.Sample{Panel: "p", Series: "s", X: 90_000, Y: 0.4})
	has(t, svg, "0", "20,000", "80,000", "-0.2", "0.1")
	if strings.Contains(svg, ">-0<") || strings.Contains(svg, ">0.30") {
		t.Error("a tick is -0, or has digits that say nothing")
	}
	p.LogX, p.LogY = true, true
	has(t, picture(t, figure.Item{Panels: []figure.Panel{p}},
		figure.Sample{Panel: "p", Series: "s", X: 1e-5, Y: 1000}, figure.Sample{Panel: "p", Series: "s", X: 10, Y: 1e7}),
		"1e-5", "0.001", "10", "1000", "100,000", "1e7")
}

// Of panels up to 1 and up to 100, the first has a tick at 100 when they share a
// range, and only then.
func TestPanelsShareARange(t *testing.T) {
	of := func(y string) figure.Item {
		return figure.Item{Panels: []figure.Panel{
			{Name: "p", Y: "y", Curves: []figure.Curve{{Series: "s"}}}, {Name: "q", Y: y, Curves: []figure.Curve{{Series: "s"}}},
		}}
	}
	for _, c := range []struct {
		y    string
		same bool
		want int
	}{{"y", false, 1}, {"y", true, 2}, {"another", true, 1}} {
		item := of(c.y)
		item.SameY = c.same
		svg := picture(t, item, figure.Sample{Panel: "p", Series: "s", X: 0, Y: 0}, figure.Sample{Panel: "p", Series: "s", X: 1, Y: 1},
			figure.Sample{Panel: "q", Series: "s", X: 0, Y: 0}, figure.Sample{Panel: "q", Series: "s", X: 1, Y: 100})
		if got := strings.Count(svg, ">100<"); got != c.want {
			t.Errorf("labels y and %s, same %v: %d ticks at 100; want %d", c.y, c.same, got, c.want)
		}
	}
}

// Three trials at one point and two at the next.
func TestPicturesSayWhatBarsAndBandsAre(t *testing.T) {
	var samples []figure.Sample
	for i, x := range []float64{0, 0, 0, 1, 1} {
		samples = append(samples, figure.Sample{Panel: "p", Series: "s", X: x, Y: float64(i)})
	}
	p := figure.Panel{Name: "p", Bars: figure.StandardError, Curves: []figure.Curve{{Series: "s", Label: "a name"}}}
	has(t, picture(t, figure.Item{Panels: []figure.Panel{p}}, samples...), "means of 2 to 3 trials; bars: standard error", "a name")
	p.Curves[0].Plain = true
	plain := picture(t, figure.Item{Panels: []figure.Panel{p}}, samples...)
	has(t, plain, "means of 2 to 3 trials")
	p.LogY = true
	samples[0].Y = 0.1 // at 0: mean 1.03, standard error 0.55; at 1: 3.5, 0.5
	p.Curves[0].Plain = false
	has(t, picture(t, figure.Item{Panels: []figure.Panel{p}}, samples...), "means of 2 to 3 trials; bars: standard error")
	p.Bars = figure.StandardDeviation // 0.95 at 0
	samples[2].Y = 4                  // mean 1.7, standard deviation 2.0
	has(t, picture(t, figure.Item{Panels: []figure.Panel{p}}, samples...), "means of 2 to 3 trials; bars: standard deviation; what would reach 0 ends at half the least mean of its panel")
	samples[0].Y, samples[2].Y = 0, 2
	p.LogY, p.Bars, p.Curves[0].Plain, p.Bands = false, figure.StandardError, true, true
	band := picture(t, figure.Item{Panels: []figure.Panel{p}}, samples...)
	has(t, band, "means of 2 to 3 trials; bands: standard error")
	if n, m := strings.Count(plain, `class="band`), strings.Count(band, `class="band`); m <= n {
		t.Errorf("%d bands where they are asked for, %d elsewhere", m, n)
	}
	if svg := picture(t, figure.Item{Panels: []figure.Panel{p}}, samples[0]); strings.Contains(svg, "means of") {
		t.Error("a single number is called a mean")
	}
}

func TestUnknownStandardErrorsAreNull(t *testing.T) {
	for se, want := range map[float64]string{0: `"stderr":null`, 0.5: `"stderr":0.5`} {
		c := figure.Claim{ID: "a", Paper: "p", Claim: "c", Holds: true, Ours: 3, StdErr: se, Note: "n"}
		text, err := json.Marshal(c)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("standard error %g: %s, %v; want %s", se, text, err, want)
		}
		var back figure.Claim
		if err := json.Unmarshal(text, &back); err != nil || back != c {
			t.Errorf("read back: %+v, %v; want %+v", back, err, c)
		}
	}
}

// A grid of panels is as high as its rows.
func TestPanelsInRows(t *testing.T) {
	s := study(2, new(atomic.Int64), never)
	p := s.Items[0].Panels[0]
	s.Items[0].Panels, s.Items[0].Columns = []figure.Panel{p, p, p}, 2
	dir := t.TempDir()
	if _, err := figure.Run(context.Background(), s, figure.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	var size struct {
		W float64 `xml:"width,attr"`
		H float64 `xml:"height,attr"`
	}
	if err := xml.Unmarshal([]byte(read(t, dir, "numbers.svg")), &size); err != nil {
		t.Fatal(err)
	}
	if size.H < size.W*2/3 || size.H > size.W {
		t.Errorf("three panels in two columns: %v by %v; want two rows", size.W, size.H)
	}
}

func TestRefusals(t *testing.T) {
	ctx := context.Background()
	s := study(2, new(atomic.Int64), never)
	if _, err := figure.Run(ctx, s, figure.Options{Dir: t.TempDir(), Items: []string{"letters"}}); !errors.Is(err, figure.ErrItem) {
		t.Errorf("unknown item: %v; want ErrItem", err)
	}
	dir := t.TempDir()
	if _, err := figure.Run(ctx, s, figure.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	s.Version = 2
	if _, err := figure.Run(ctx, s, figure.Options{Dir: dir}); !errors.Is(err, figure.ErrStale) {
		t.Errorf("other version: %v; want ErrStale", err)
	}
	broken := errors.New("broken")
	_, err := figure.Run(ctx, study(2, new(atomic.Int64), func(int) error { return broken }), figure.Options{Dir: t.TempDir()})
	if !errors.Is(err, figure.ErrJob) || !errors.Is(err, broken) {
		t.Errorf("job that fails: %v; want ErrJob and its cause", err)
	}
	s = study(1, new(atomic.Int64), never)
	s.Items[0].Jobs = func(bool) []figure.Job {
		return []figure.Job{{Key: "nan", Run: func(context.Context) ([]figure.Sample, error) {
			return []figure.Sample{{Panel: "p", Series: "s", X: 1, Y: math.NaN()}}, nil
		}}}
	}
	if _, err := figure.Run(ctx, s, figure.Options{Dir: t.TempDir()}); !errors.Is(err, figure.ErrJob) {
		t.Errorf("job that returns NaN: %v; want ErrJob", err)
	}
}
