package file_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// generate makes a dataset of 8 numeric columns: four observations of about six
// digits (or full precision), action, probability, reward and discount, in
// episodes of the given length.
func generate(rows, length int, full bool) *trajectory.Dataset {
	r := rand.New(rand.NewPCG(1, 2))
	var b trajectory.Builder
	e := trajectory.Episode{Columns: []string{"obs_a", "obs_b", "obs_c", "obs_d"}}
	value := func() float64 {
		if full {
			return r.NormFloat64()
		}
		return float64(r.IntN(2_000_000)-1_000_000) / 1e5
	}
	for at := 0; at < rows; at += length {
		e.Person = at / length
		e.Obs, e.Action, e.Reward, e.BehaviorProb, e.Discount = e.Obs[:0], e.Action[:0], e.Reward[:0], e.BehaviorProb[:0], e.Discount[:0]
		for range length {
			e.Obs = append(e.Obs, value(), value(), value(), value())
			e.Action = append(e.Action, int32(r.IntN(4)))
			e.BehaviorProb = append(e.BehaviorProb, .25)
			e.Reward = append(e.Reward, float64(r.IntN(100))/100)
			e.Discount = append(e.Discount, .99)
		}
		e.Terminated = at%2 == 0
		b.Add(&e)
	}
	return b.Dataset()
}

func benchmarkRead(b *testing.B, ext string, rows, length int, full bool) {
	path := filepath.Join(b.TempDir(), "x"+ext)
	d := generate(rows, length, full)
	if err := file.Write(path, "", d); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	o := trajectory.Options{Need: trajectory.AllParts &^ (trajectory.ActionProbs | trajectory.TargetProb | trajectory.Final),
		Reward: &trajectory.Range{Max: 1}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.ResetTimer()
	for b.Loop() {
		got, _, err := file.Read(context.Background(), []string{path}, "", o)
		if err != nil || got.Rows() != rows {
			b.Fatal(err, got.Rows())
		}
	}
	runtime.ReadMemStats(&after)
	n := float64(b.N) * float64(rows)
	b.ReportMetric(n/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/n, "B/row")
	b.SetBytes(info.Size())
}

func BenchmarkReadCSV(b *testing.B) {
	for _, length := range []int{1, 20, 1000} {
		b.Run("episodes="+strconv.Itoa(length), func(b *testing.B) { benchmarkRead(b, ".csv", 200_000, length, false) })
	}
	b.Run("digits=17", func(b *testing.B) { benchmarkRead(b, ".csv", 200_000, 20, true) })
}

func BenchmarkReadParquet(b *testing.B) {
	for _, length := range []int{1, 20, 1000} {
		b.Run("episodes="+strconv.Itoa(length), func(b *testing.B) { benchmarkRead(b, ".parquet", 1_000_000, length, false) })
	}
	b.Run("digits=17", func(b *testing.B) { benchmarkRead(b, ".parquet", 1_000_000, 20, true) })
}

func BenchmarkReadBandit(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x.parquet")
	const rows = 1_000_000
	if err := file.Write(path, "", generate(rows, 1, false)); err != nil {
		b.Fatal(err)
	}
	o := trajectory.Options{OneRowEpisodes: true, Need: trajectory.Action | trajectory.BehaviorProb, Optional: trajectory.Discount}
	for b.Loop() {
		if _, _, err := file.Read(context.Background(), []string{path}, "", o); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
}
