package file_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// anyFloat draws any finite float64, from all bit patterns as well as round
// numbers.
func anyFloat(t *rapid.T, label string) float64 {
	if rapid.Bool().Draw(t, "round") {
		return float64(rapid.IntRange(-1000, 1000).Draw(t, label)) / 8
	}
	v := math.Float64frombits(rapid.Uint64().Draw(t, label))
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return math.Copysign(0, -1)
	}
	return v
}

// anyName draws the name of a person or an episode, awkward ones included.
func anyName(i int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := rapid.SampledFrom([]string{"", "a,b", "\"q\"", "two\nlines", "\r\n", " x ", "ü", "NaN", "#"}).Draw(t, "name")
		return s + strconv.Itoa(i)
	})
}

// anyDataset draws a dataset such as reading one gives: persons with names, in
// the order of their first episode.
func anyDataset(t *rapid.T) *trajectory.Dataset {
	d := &trajectory.Dataset{Columns: []string{}, Obs: []float64{}, PersonStart: []int{0}, EpisodeStart: []int{0}}
	d.Columns = append(d.Columns, []string{"obs_z", "obs_a", "obs_,m"}[:rapid.IntRange(0, 3).Draw(t, "columns")]...)
	draw := func(label string) bool { return rapid.Bool().Draw(t, label) }
	action, behavior, target, discount := draw("action"), draw("behaviour"), draw("target"), draw("discount")
	if action && draw("distribution") {
		d.Actions = rapid.IntRange(1, 4).Draw(t, "actions")
	}
	finals := draw("finals") && len(d.Columns) > 0
	for p := range rapid.IntRange(1, 4).Draw(t, "persons") {
		d.PersonID = append(d.PersonID, anyName(p).Draw(t, "person"))
		for range rapid.IntRange(1, 3).Draw(t, "episodes") {
			e := d.Episodes()
			d.EpisodeID = append(d.EpisodeID, anyName(e).Draw(t, "episode"))
			for range rapid.IntRange(1, 5).Draw(t, "rows") {
				for range d.Columns {
					d.Obs = append(d.Obs, anyFloat(t, "obs"))
				}
				d.Reward = append(d.Reward, anyFloat(t, "reward"))
				a := rapid.IntRange(0, max(d.Actions-1, 0)).Draw(t, "a")
				prob := rapid.Float64Range(math.SmallestNonzeroFloat64, 1).Draw(t, "prob")
				if action {
					d.Action = append(d.Action, int32(a))
				}
				if d.Actions > 0 {
					rest := 1.0
					probs := make([]float64, d.Actions)
					for k := range probs[1:] {
						probs[k] = rest * rapid.Float64Range(0, 1).Draw(t, "share")
						rest -= probs[k]
					}
					probs[len(probs)-1] = rest
					if probs[a] == 0 {
						probs = make([]float64, d.Actions)
						probs[a] = 1
					}
					prob = probs[a]
					d.ActionProbs = append(d.ActionProbs, probs...)
				}
				if behavior {
					d.BehaviorProb = append(d.BehaviorProb, prob)
				}
				if target {
					d.TargetProb = append(d.TargetProb, rapid.Float64Range(0, 1).Draw(t, "target"))
				}
				if discount {
					d.Discount = append(d.Discount, rapid.Float64Range(0, 1).Draw(t, "discount"))
				}
			}
			d.Terminated = append(d.Terminated, draw("terminated"))
			has := finals && draw("final")
			d.HasFinal = append(d.HasFinal, has)
			for range d.Columns {
				v := 0.0
				if has {
					v = anyFloat(t, "final")
				}
				d.Final = append(d.Final, v)
			}
			d.EpisodeStart = append(d.EpisodeStart, d.Rows())
		}
		d.PersonStart = append(d.PersonStart, d.Episodes())
	}
	known := false
	for _, has := range d.HasFinal {
		known = known || has
	}
	if !known {
		d.Final, d.HasFinal = nil, nil
	}
	return d
}

// sameBits compares floats bit by bit, so that -0 is not 0.
var sameBits = cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })

func TestWhatIsWrittenReadsBack(t *testing.T) {
	dir := t.TempDir()
	for _, ext := range []string{"csv", "parquet", "ndjson"} {
		t.Run(ext, func(t *testing.T) {
			path := filepath.Join(dir, "x."+ext)
			rapid.Check(t, func(t *rapid.T) {
				want := anyDataset(t)
				if err := file.Write(path, "", want); err != nil {
					t.Fatal(err)
				}
				o := everything()
				o.Multiline = ext == "csv" // ids may hold line ends
				got, _, err := file.Read(context.Background(), []string{path}, "", o)
				if err != nil {
					text, _ := os.ReadFile(path)
					t.Fatalf("%v\n%s", err, text)
				}
				if d := cmp.Diff(want, got, origins, sameBits); d != "" {
					t.Fatalf("(-written +read)\n%s", d)
				}
			})
		})
	}
}

// Data without names, as a simulator makes it, is numbered, and a dataset read
// from it and written again is the same file.
func TestNamelessDataIsNumbered(t *testing.T) {
	for _, ext := range []string{"csv", "parquet", "ndjson"} {
		path := filepath.Join(t.TempDir(), "x."+ext)
		d := generate(60, 6, true)
		d.PersonStart = []int{0, 3, 4, 10}
		if err := file.Write(path, "", d); err != nil {
			t.Fatal(err)
		}
		got, _, err := file.Read(context.Background(), []string{path}, "", everything())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"0", "1", "2"}, got.PersonID); diff != "" {
			t.Errorf("%s: persons (-want +got)\n%s", ext, diff)
		}
		d.PersonID, d.EpisodeID = got.PersonID, got.EpisodeID
		if diff := cmp.Diff(d, got, origins, sameBits); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", ext, diff)
		}
	}
}
