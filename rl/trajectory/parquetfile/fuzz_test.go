package parquetfile_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/parquetfile"
)

// Any bytes are an input error or a dataset of finite numbers; nothing panics.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.parquet")
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
		format := trajectory.Format{Name: "parquet", Open: func(path string) (trajectory.Table, error) {
			return parquetfile.New(bytes.NewReader(data), int64(len(data)), path)
		}}
		d, _, err := trajectory.Read(context.Background(), format, []string{"x.parquet"},
			trajectory.Options{Optional: trajectory.AllParts, Missing: trajectory.MissingZero})
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
