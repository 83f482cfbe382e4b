package parquetfile_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Any bytes are an input error or a dataset of finite numbers; nothing panics.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob(shared + "/*.parquet")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := readBytes(data)
		if err != nil {
			if !errors.Is(err, trajectory.ErrInput) {
				t.Fatalf("%v is no input error", err)
			}
			return
		}
		for _, column := range [][]float64{d.Obs, d.Reward, d.BehaviorProb, d.ActionProbs, d.TargetProb, d.Discount, d.Final} {
			for _, v := range column {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatal("a value that is not finite came through")
				}
			}
		}
	})
}
