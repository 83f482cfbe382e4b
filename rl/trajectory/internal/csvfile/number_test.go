package csvfile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// same compares bits, so that -0 is not 0.
func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// check compares a text with strconv; it reports whether the quick path took it.
func check(t *testing.T, text string) bool {
	t.Helper()
	want, err := strconv.ParseFloat(text, 64)
	got, next, ok := scanNumber([]byte(text+",\n"), 0, ',')
	if ok && (next != len(text) || err != nil || !same(got, want)) {
		t.Fatalf("scanNumber(%q) = %v (%#x), %d; strconv gives %v (%#x), %v", text, got, math.Float64bits(got), next, want, math.Float64bits(want), err)
	}
	if err == nil && text != "" {
		got, err := parseNumber([]byte(text))
		if err != nil || !same(got, want) {
			t.Fatalf("parseNumber(%q) = %v, %v; strconv gives %v", text, got, err, want)
		}
	}
	return ok
}

func TestNumbersAreTheNearestFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	quick := 0
	const rounds = 60_000
	for range rounds {
		f := math.Float64frombits(r.Uint64())
		texts := []string{
			strconv.FormatFloat(r.NormFloat64(), 'g', -1, 64),
			strconv.FormatFloat(r.NormFloat64(), 'e', -1, 64),
			fmt.Sprintf("%de%d", r.Uint64()>>r.IntN(64), r.IntN(60)-40),
			fmt.Sprintf("%d.%019d", r.Uint64()>>(44+r.IntN(20)), r.Uint64()>>1),
			strconv.FormatFloat(float64(r.IntN(1e6))/1e3, 'f', -1, 64),
		}
		if !math.IsNaN(f) && !math.IsInf(f, 0) {
			texts = append(texts, strconv.FormatFloat(f, 'g', -1, 64))
		}
		for j, text := range texts {
			if check(t, text) && j == 0 {
				quick++
			}
		}
	}
	// The quick path is there for such numbers: one in a thousand may be too small for it.
	if quick < rounds*99/100 {
		t.Errorf("the quick path took %d of %d normal numbers", quick, rounds)
	}
}

// Decimals half-way between two floats, and their neighbours in the last digit,
// are the hard cases of rounding.
func TestHalfwayNumbersRoundToEven(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	taken := 0
	for range 40_000 {
		// m * 2^-s with m of 54 bits, odd: half-way between two of 53 bits.
		m := r.Uint64()>>10 | 1<<53 | 1
		s := r.IntN(5)
		text := strconv.FormatUint(m>>s, 10)
		frac := m & (1<<s - 1)
		if s > 0 {
			five := uint64(1)
			for range s {
				five *= 5
			}
			text += "." + fmt.Sprintf("%0*d", s, frac*five)
		}
		for _, tail := range []string{"", "0", "00"} {
			if s == 0 && tail != "" {
				tail = "." + tail
			}
			if check(t, text+tail) {
				taken++
			}
		}
		check(t, text+"1")
	}
	if taken < 40_000 {
		t.Errorf("the quick path took only %d half-way numbers", taken)
	}
}

func TestOddSpellingsOfNumbers(t *testing.T) {
	for _, text := range []string{"0", "-0", "0.0", "-0.0", "00012", "5.", ".5", "-.5", "+5", "1e0", "1E+2", "1e-0", "1e00001", "1e22", "1e23", "1e-22", "1e-23",
		"9007199254740992", "9007199254740993", "9007199254740993e-19", "9999999999999999999", "18446744073709551615", "18446744073709551616",
		"0.0000000000000000000000001", "5e-324", "2.2250738585072014e-308", "2.2250738585072011e-308", "1.7976931348623157e308", "1e-400", "123456789012345678901234567890"} {
		check(t, text)
	}
	for _, text := range []string{".", "-", "+", "e5", "1e", "1e+", "1.2.3", "0x10", "1_000", " 1", "1 ", "--1", "1-", "NA", "null", "tru", "١"} {
		if _, err := parseNumber([]byte(text)); err != errNotNumber {
			t.Errorf("parseNumber(%q): %v, want %v", text, err, errNotNumber)
		}
		if v, _, ok := scanNumber([]byte(text+",\n"), 0, ','); ok {
			t.Errorf("scanNumber(%q) = %v", text, v)
		}
	}
	for _, text := range []string{"NaN", "nan", "-nan", "inf", "Inf", "-INFINITY", "+inf", "1e309", "-1e999"} {
		if _, err := parseNumber([]byte(text)); err != errNotFinite {
			t.Errorf("parseNumber(%q): %v, want %v", text, err, errNotFinite)
		}
	}
	for text, want := range map[string]float64{"true": 1, "True": 1, "TRUE": 1, "false": 0, "False": 0, "FALSE": 0} {
		if v, err := parseNumber([]byte(text)); v != want || err != nil {
			t.Errorf("parseNumber(%q) = %v, %v", text, v, err)
		}
	}
	if v, err := parseNumber(nil); err != nil || !table.IsNull(v) {
		t.Errorf("an empty field is %v, %v, want null", v, err)
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0.029411764705882353", "-7.221375562949106e-05", "1e22", "9007199254740993", ".5", "5.", "1e-400"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range text {
			if !(c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E') {
				return
			}
		}
		check(t, text)
	})
}

// The quick path takes flags that are whole fields, to their end, and nothing else.
func TestFlagsAreWholeFields(t *testing.T) {
	for _, end := range []string{";", "\n", "\r\n", ";\n"} {
		for text, want := range map[string]float64{"true": 1, "false": 0} {
			v, next, ok := scanFlag([]byte("x;"+text+end+"\n"), 2, ';')
			if !ok || v != want || next != 2+len(text) {
				t.Errorf("%q%q is %v, %d, %v", text, end, v, next, ok)
			}
		}
	}
	for _, text := range []string{"", "t", "f", "tru", "fals", "truer", "true ", "falsey", "True", "FALSE", "\"true\"", "true,", "false\r", "true\rx"} {
		if v, _, ok := scanFlag([]byte(text+"\n"), 0, ';'); ok && text != "false\r" {
			t.Errorf("%q is %v", text, v)
		}
	}
}

// A marker of missing values sends flags, and texts like them, the slow way: what is read
// is the same, unless a flag is the marker.
func TestFlagsAreTheSameWithMarkers(t *testing.T) {
	text := "a;b\ntrue;false\r\nfalse;true\n;false\ntrue;x\nfalse;true"
	read := func(na ...string) (out []float64) {
		in, err := Dialect{Separator: ';', NA: na}.New(strings.NewReader(text), "x")
		if err != nil {
			t.Fatal(err)
		}
		if err := in.Select([]table.Pick{{}, {Field: 1, Offset: 1}}); err != nil {
			t.Fatal(err)
		}
		b := table.NewBatch([]int{2}, 0)
		if err := in.Read(b); err != nil || len(b.Faults) != 1 || b.Faults[0].Row != 3 {
			t.Fatalf("%v, faults %v; want one, of row 3", err, b.Faults)
		}
		return b.Blocks[0].Values[:2*b.Rows]
	}
	null := table.Null()
	for _, c := range []struct {
		na   []string
		want []float64
	}{
		{nil, []float64{1, 0, 0, 1, null, 0, 1, null, 0, 1}},
		{[]string{"?"}, []float64{1, 0, 0, 1, null, 0, 1, null, 0, 1}},
		{[]string{"false"}, []float64{1, null, null, 1, null, null, 1, null, null, 1}},
	} {
		got := read(c.na...)
		if !slices.EqualFunc(got, c.want, same) {
			t.Errorf("markers %q: %v, want %v", c.na, got, c.want)
		}
	}
}
