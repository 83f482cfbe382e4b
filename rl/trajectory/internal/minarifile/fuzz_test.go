package minarifile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// sound checks what a reader made of any bytes at all: columns whose numbers are
// whole rows, or an error for the curator.
func sound(t *testing.T, leaves []leaf, err error) {
	t.Helper()
	if err != nil {
		if !errors.Is(err, trajectory.ErrInput) {
			t.Fatalf("%v does not wrap ErrInput", err)
		}
		return
	}
	if len(leaves) == 0 {
		t.Fatal("no columns and no error")
	}
	for _, l := range leaves {
		if l.bad == "" && (l.width < 1 || len(l.values)%l.width != 0) {
			t.Fatalf("%d numbers in rows of %d", len(l.values), l.width)
		}
	}
}

func seeds(f *testing.F, layout string) {
	for _, k := range []string{"1", "2"} {
		seed, err := os.ReadFile(filepath.Join("testdata", "example-"+layout+"-v0", "data", k, "part-0."+layout))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
}

func FuzzArrow(f *testing.F) {
	seeds(f, "arrow")
	f.Fuzz(func(t *testing.T, data []byte) {
		leaves, err := parseArrow(data, "x")
		sound(t, leaves, err)
	})
}

func FuzzParquet(f *testing.F) {
	seeds(f, "parquet")
	f.Fuzz(func(t *testing.T, data []byte) {
		leaves, err := parseParquet(bytes.NewReader(data), int64(len(data)), "x")
		sound(t, leaves, err)
	})
}
