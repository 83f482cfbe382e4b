package mechanism

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
)

// A walk of eight steps over two coordinates whose gradients depend on what was
// read: coordinate 0 is touched in steps 3 and 6, coordinate 1 in step 6. The
// positions that are read, and the final ones, have the mean and the covariance
// of the walk that draws all noise in its step, worked out by hand.
//
// The gradient of a step at coordinate i is x_i / 10, well inside the clip, so
// with rate r a touched coordinate becomes (1 - r/10) x.
func TestLazyWalkHasTheLawOfTheEagerOne(t *testing.T) {
	const (
		runs       = 200_000
		clip       = 1000.0
		multiplier = 1e-3 // a normal of standard deviation 1 in every step
	)
	start, rates := []float64{2, -1}, []float64{0.5, 2}
	src := noise.NewSeeded(41)
	var mean [4]float64
	var square [4][4]float64
	at := make([]float64, 2)
	for range runs {
		w, err := NewLazyWalk(start, rates, clip, multiplier, 8)
		if err != nil {
			t.Fatal(err)
		}
		var seen [4]float64 // x0 read before step 3; x0 before step 6; final x0, x1
		for step := 1; step <= 8; step++ {
			var index []int32
			switch step {
			case 3:
				index = []int32{0}
			case 6:
				index = []int32{0, 1}
			}
			w.Read(at, index, src)
			if step == 3 {
				seen[0] = at[0]
			} else if step == 6 {
				seen[1] = at[0]
			}
			g := at[:len(index)]
			for k := range g {
				g[k] /= 10
			}
			if err := w.Step(index, g); err != nil {
				t.Fatal(err)
			}
		}
		final, err := w.Finish(src)
		if err != nil {
			t.Fatal(err)
		}
		seen[2], seen[3] = final[0], final[1]
		for i, a := range seen {
			mean[i] += a
			for j, b := range seen {
				square[i][j] += a * b
			}
		}
	}
	// Coordinate 0: variance .25 a step, factor .95 in steps 3 and 6. Before step
	// 3 two normals were drawn, before step 6 five, the first two shrunk.
	v3 := 2 * 0.25
	v6 := 0.95*0.95*v3 + 3*0.25
	end0 := 0.95*0.95*v6 + 3*0.25
	// Coordinate 1: variance 4 a step, factor .8 in step 6.
	end1 := 0.8*0.8*(5*4) + 3*4
	wantMean := [4]float64{2, 2 * 0.95, 2 * 0.95 * 0.95, -0.8}
	want := [4][4]float64{
		{v3, 0.95 * v3, 0.95 * 0.95 * v3, 0},
		{0.95 * v3, v6, 0.95 * v6, 0},
		{0.95 * 0.95 * v3, 0.95 * v6, end0, 0},
		{0, 0, 0, end1},
	}
	// False alarms: 14 comparisons at 5.6 standard errors, 3e-7 in all.
	for i := range mean {
		m := mean[i] / runs
		if math.Abs(m-wantMean[i]) > 5.6*math.Sqrt(want[i][i]/runs) {
			t.Errorf("mean %d is %v; want %v", i, m, wantMean[i])
		}
		for j := range i + 1 {
			c := square[i][j]/runs - m*mean[j]/runs
			se := math.Sqrt((want[i][i]*want[j][j] + want[i][j]*want[i][j]) / runs)
			if math.Abs(c-want[i][j]) > 5.6*se {
				t.Errorf("covariance %d, %d is %v; want %v", i, j, c, want[i][j])
			}
		}
	}
}

func TestLazyWalkClips(t *testing.T) {
	w, err := NewLazyWalk([]float64{0, 0}, []float64{1, 10}, 0.5, 1e-9, 2)
	if err != nil {
		t.Fatal(err)
	}
	src := noise.NewSeeded(1)
	if err := w.Step([]int32{1, 0}, []float64{300, 400}); err != nil {
		t.Fatal(err)
	}
	if err := w.Step([]int32{0}, []float64{math.NaN()}); err != nil {
		t.Fatal(err)
	}
	got, err := w.Finish(src)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{-0.4, -3} {
		if math.Abs(got[i]-want) > 1e-7 {
			t.Errorf("coordinate %d: %v; want %v", i, got[i], want)
		}
	}
}

func TestLazyWalkCountsItsSteps(t *testing.T) {
	w, err := NewLazyWalk([]float64{0}, []float64{1}, 1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	src := noise.NewSeeded(1)
	if _, err := w.Finish(src); !errors.Is(err, ErrReleased) {
		t.Errorf("finish before the last step: %v", err)
	}
	if err := w.Step(nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Step(nil, nil); !errors.Is(err, ErrReleased) {
		t.Errorf("a second of one step: %v", err)
	}
}
