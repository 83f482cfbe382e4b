package golden

import (
	"math"
	"regexp"
	"runtime"
	"strconv"
)

// What is masked in releases and entries: times and random identities, hashes
// over them, the sizes of texts that hold them, the version of the code, and the
// hash of a configuration, which changes with every key that configurations gain.
var (
	hidden = regexp.MustCompile(`"(time|taken|ledger|head|entry|hash|prev|fingerprint|release|code_version|config_hash)":(\s?)"[^"]*"`)
	sizes  = regexp.MustCompile(`"size":(\s?)\d+`)
)

func masked(text []byte) []byte {
	text = hidden.ReplaceAll(text, []byte(`"$1":$2"*"`))
	return sizes.ReplaceAll(text, []byte(`"size":${1}0`))
}

// fused tells whether this machine rounds as that of the net: math.Exp of the
// Go library uses fused multiply-add on amd64 where the CPU has it (not with
// GODEBUG=cpu.fma=off), and on other architectures the compiler fuses elsewhere.
// Without it the last digits of some bounds differ: of dp-lsw, dp-lsl, and of gpope
// with subsampling.
func fused() bool {
	sum := uint64(0)
	for i := range 1000 {
		sum = sum*31 + math.Float64bits(math.Exp(float64(i)/7))
	}
	return runtime.GOARCH == "amd64" && sum == 0x2d45bc29350b76a
}

var number = regexp.MustCompile(`-?\b\d+(\.\d+)?([eE][-+]?\d+)?\b`)

// nearly tells whether two texts are equal but for the last digits of numbers.
func nearly(got, want []byte) bool {
	if string(number.ReplaceAll(got, []byte("0"))) != string(number.ReplaceAll(want, []byte("0"))) {
		return false
	}
	a, b := number.FindAllString(string(got), -1), number.FindAllString(string(want), -1)
	for i := range a {
		x, err1 := strconv.ParseFloat(a[i], 64)
		y, err2 := strconv.ParseFloat(b[i], 64)
		if err1 != nil || err2 != nil || math.Abs(x-y) > 1e-9*(1+math.Abs(y)) {
			return false
		}
	}
	return true
}
