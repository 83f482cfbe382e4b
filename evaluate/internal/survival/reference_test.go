package survival

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
)

// table reads a file of comma-separated values without its header.
func table(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

var (
	arms   = []string{"D-penicillamine", "placebo"}
	causes = []string{"censored", "death", "transplant"}
)

// pbc are the cells of the trial, with a bin for each day on which somebody left, up to a day.
func pbc(t *testing.T, last float64) (Question, []float64) {
	t.Helper()
	rows := table(t, "../../../examples/pbc/survival.csv")
	var ends []float64
	for _, r := range rows {
		ends = append(ends, number(t, r[2]))
	}
	ends = slices.DeleteFunc(ends, func(x float64) bool { return x > last })
	slices.Sort(ends)
	ends = slices.Compact(append(ends, last))
	q := Question{Layout: Layout{Arms: 2, Bins: len(ends), Causes: 2}, Ends: ends, Until: len(ends), Control: 1}
	cells := make([]float64, q.Cells())
	for _, r := range rows {
		arm := slices.Index(arms, r[1])
		if bin, _ := slices.BinarySearch(ends, number(t, r[2])); bin < len(ends) {
			cells[q.Exit(arm, 0, bin, slices.Index(causes, r[3]))]++
		} else {
			cells[q.End(arm, 0)]++
		}
	}
	return q, cells
}

// Without noise curves, incidences, restricted means and their standard errors are those of the
// R package survival (testdata/reference.R).
func TestWithoutNoiseItIsWhatRComputes(t *testing.T) {
	q, cells := pbc(t, 3652)
	r := q.Estimate(cells)
	far, farCells := pbc(t, 4556)
	all := far.Estimate(farCells)
	for _, row := range table(t, "testdata/reference.csv") {
		i, what, time, want := slices.Index(arms, row[0]), row[1], number(t, row[2]), number(t, row[3])
		bin, exact := slices.BinarySearch(far.Ends, time)
		if !exact {
			bin-- // the last time before, since curves are steps
		}
		var got float64
		switch what {
		case "survival":
			got = all.Arms[i].Curve.Values[bin]
		case "std_err":
			a := far.work(farCells, i)
			v, _ := a.variances(a.value.at(bin+1), 1)
			got = math.Sqrt(v)
		case "restricted_mean":
			got = r.Arms[i].Mean.Value
		case "std_err_mean":
			got = r.Arms[i].Mean.StdSampling
		case "death":
			got = all.Arms[i].Incidence[0].Values[bin]
		case "transplant":
			got = all.Arms[i].Incidence[1].Values[bin]
		case "median":
			j := slices.IndexFunc(all.Arms[i].Curve.Values, func(s float64) bool { return s <= 0.5 })
			got = far.Ends[j]
		}
		if !(math.Abs(got-want) <= 1e-9*math.Max(1, math.Abs(want))) {
			t.Errorf("%s, %s at %v: %v; R has %v", row[0], what, time, got, want)
		}
	}
}

// The restricted mean of a few cells by hand: of four persons one has the event in the first of
// three bins, one is censored in the second and one has the event in the third.
func TestAFewCellsByHand(t *testing.T) {
	q := Question{Layout: Layout{Arms: 1, Bins: 3, Causes: 1}, Ends: []float64{1, 2, 3}, Until: 3, Control: -1}
	cells := []float64{0, 1, 1, 0, 0, 1, 1}
	a := q.Estimate(cells).Arms[0]
	if want := []float64{0.75, 0.75, 0.375}; !slices.Equal(a.Curve.Values, want) {
		t.Errorf("survival %v; want %v", a.Curve.Values, want)
	}
	if want := 1 + 0.75 + 0.75; a.Mean.Value != want {
		t.Errorf("restricted mean %v; want %v", a.Mean.Value, want)
	}
}
