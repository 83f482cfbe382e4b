package noise

import (
	"fmt"
	"testing"
)

func BenchmarkUint64(b *testing.B) {
	src := NewSeeded(1)
	for b.Loop() {
		src.Uint64()
	}
}

func BenchmarkUint64Unseeded(b *testing.B) {
	src, err := NewSource()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		src.Uint64()
	}
}

func BenchmarkFill(b *testing.B) {
	src, err := NewSource()
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]int64, 1024)
	for _, law := range laws {
		for _, scale := range []float64{1, 1 << 10, 1 << 30, 1 << 40} {
			b.Run(fmt.Sprintf("%s/scale=%g", law.name, scale), func(b *testing.B) {
				s, err := law.make(scale)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					s.Fill(dst, src)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(dst)), "ns/sample")
			})
		}
	}
}

func BenchmarkFillFastGaussian(b *testing.B) {
	src, err := NewSource()
	if err != nil {
		b.Fatal(err)
	}
	g, err := NewFastGaussian(1)
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]float64, 1024)
	b.ReportAllocs()
	for b.Loop() {
		g.Fill(dst, src)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(dst)), "ns/sample")
}

func BenchmarkNewDiscreteGaussian(b *testing.B) {
	for b.Loop() {
		if _, err := NewDiscreteGaussian(12345); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBernoulliExp(b *testing.B) {
	src := NewSeeded(1)
	for b.Loop() {
		src.BernoulliExp(0.7)
	}
}

func BenchmarkNewDiscreteLaplace(b *testing.B) {
	for b.Loop() {
		if _, err := NewDiscreteLaplace(12345); err != nil {
			b.Fatal(err)
		}
	}
}
