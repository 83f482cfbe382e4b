package audit

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func sortOutcomes(all [][]float64) {
	slices.SortFunc(all, func(a, b []float64) int { return cmp.Compare(a[0], b[0]) })
}

func TestSamplesAreRead(t *testing.T) {
	text := "\ufeffa,world,b\n" + strings.Repeat("1,0,2.5\n-3,1,1e3\n", 30)
	s, err := ReadSamples(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Worlds[0]) != 30 || len(s.Worlds[1]) != 30 || !slices.Equal(s.Worlds[1][29], []float64{-3, 1000}) || !slices.Equal(s.Columns, []string{"a", "b"}) {
		t.Errorf("%v", s)
	}
}

func TestBadSamplesAreRefusedByPlace(t *testing.T) {
	rows := strings.Repeat("0,1\n1,2\n", 30)
	for name, c := range map[string]struct{ text, want string }{
		"empty":         {"", "empty"},
		"no world":      {"w,x\n" + rows, `"world"`},
		"no values":     {"world\n0\n", "0 columns"},
		"another world": {"world,x\n" + rows + "2,1\n", "row 62: world"},
		"a word":        {"world,x\n0,abc\n", `row 2: "x": "abc"`},
		"missing":       {"world,x\n0,\n", `row 2: "x"`},
		"infinite":      {"world,x\n0,Inf\n", `row 2: "x"`},
		"worlds":        {"world,world,x\n0,0,1\n", `two columns are named "world"`},
		"same names":    {"world,x,y,x\n0,0,1,2\n", `two columns are named "x"`},
		"two lines":     {"world,\"x\nverdict\"\n0,abc\n", `"x\nverdict": "abc"`},
		"short row":     {"world,x,y\n0,1\n", "wrong number of fields"},
		"one world":     {"world,x\n" + strings.Repeat("0,1\n", 50), "0 outcomes of world 1"},
	} {
		_, err := ReadSamples(strings.NewReader(c.text))
		if !errors.Is(err, ErrSamples) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

func TestBadOptionsAndOutcomesAreRefused(t *testing.T) {
	s := Draw(50, func(world int) []float64 { return []float64{float64(world)} })
	for _, o := range []Options{{Delta: -1}, {Delta: 1}, {Delta: math.NaN()}, {FalseAlarm: -1}, {FalseAlarm: 0.5}, {FalseAlarm: math.NaN()}} {
		if _, err := s.Bound(o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	s.Worlds[1][7] = []float64{math.NaN()}
	if _, err := s.Bound(Options{}); !errors.Is(err, ErrSamples) || !strings.Contains(err.Error(), "world 1, run 7") {
		t.Errorf("%v", err)
	}
	s.Worlds[1][7] = []float64{1, 2}
	if _, err := s.Bound(Options{}); !errors.Is(err, ErrSamples) {
		t.Errorf("%v", err)
	}
}

// TestTheSameSamplesGetTheSameAnswer.
func TestTheSameSamplesGetTheSameAnswer(t *testing.T) {
	a, b := bound(t, normals(t, 1, 2000, 3), Options{}), bound(t, normals(t, 1, 2000, 3), Options{})
	if a.Mu != b.Mu || a.Epsilon != b.Epsilon || !slices.Equal(a.Regions, b.Regions) {
		t.Errorf("%+v, then %+v", a, b)
	}
}

// TestConstantColumnsDoNoHarm: of equal worlds nothing is found, of those that differ
// in every run nearly all that the number of runs can show.
func TestConstantColumnsDoNoHarm(t *testing.T) {
	same := Draw(1000, func(int) []float64 { return []float64{1, 2} })
	if f := bound(t, same, Options{}); f.Mu != 0 || f.Epsilon != 0 {
		t.Errorf("equal worlds: %+v", f)
	}
	apart := Draw(1000, func(world int) []float64 { return []float64{1, float64(world)} })
	// Of 750 runs that count none disagrees: the limits are 1 - (5e-7/2)^(1/750) and its complement.
	limit := -math.Expm1(math.Log(2.5e-7/2) / 750)
	if f := bound(t, apart, Options{}); math.Abs(f.Epsilon-math.Log((1-limit)/limit)) > 0.3 {
		t.Errorf("worlds apart: epsilon %v; want near %v", f.Epsilon, math.Log((1-limit)/limit))
	}
}
