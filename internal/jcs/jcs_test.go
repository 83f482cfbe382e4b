package jcs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/internal/jcs"
)

func ExampleWithout() {
	a, _ := jcs.Without([]byte(`{"b": 1.50, "a": "x", "signature": "..."}`), "signature")
	b, _ := jcs.Without([]byte(`{"a":"x","b":1.5}`), "signature")
	fmt.Println(string(a), bytes.Equal(a, b))
	// Output: {"a":"x","b":1.5} true
}

// The sample of RFC 8785, section 3.2.2, and its canonical form of section 3.2.3.
func TestTheSampleOfTheRFC(t *testing.T) {
	in := `{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}`
	want := `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`
	got, err := jcs.Canonical([]byte(in))
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

// RFC 8785, section 3.2.3: members sort by UTF-16 code units, so that a
// character beyond the basic plane comes before U+FB33.
func TestMembersSortByCodeUnits(t *testing.T) {
	in := `{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",` +
		`"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`
	got, err := jcs.Canonical([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	last := -1
	for _, v := range []string{"Carriage Return", "One", "Control", "Latin Small Letter O With Diaeresis", "Euro Sign", "Emoji: Grinning Face", "Hebrew Letter Dalet With Dagesh"} {
		at := bytes.Index(got, []byte(v))
		if at < last {
			t.Errorf("%q stands too early in %s", v, got)
		}
		last = at
	}
}

// RFC 8785, appendix B.
func TestNumbersOfTheRFC(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0", 0x8000000000000000: "0",
		0x0000000000000001: "5e-324", 0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308", 0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992", 0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22", 0x44b52d02c7e14af6: "1e+23", 0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000", 0x444b1ae4d6e2ef4f: "999999999999999900000", 0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7", 0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332", 0x41b3de4355555554: "333333333.33333325", 0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334", 0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		in := fmt.Sprintf("%.17e", math.Float64frombits(bits))
		if got, err := jcs.Canonical([]byte(in)); err != nil || string(got) != want {
			t.Errorf("%x: %s, %v; want %s", bits, got, err, want)
		}
	}
}

func TestWhatHasNoCanonicalForm(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"a":2}`:            "repeated",
		`{"x":{"a":1,"\u0061":2}}`: "/x",
		`9007199254740993`:         "2^53",
		`9223372036854774784`:      "2^53", // a float64, printed with fewer digits
		`18446744073709551615`:     "2^53", // of 64 bits without a sign
		`100000000000000000000001`: "2^53",
		`1e400`:                    "beyond float64",
		`1e-2000000`:               "beyond float64",
		`-0.1e-999999`:             "beyond float64",
		`{"a":[{"b":1e400}]}`:      "/a/0/b: a number beyond float64",
		`"\ud800"`:                 "surrogate",
		`"\ud800\ud800"`:           "surrogate",
		`"\udc00"`:                 "surrogate",
		"\"\xff\"":                 "UTF-8",
		`{} {}`:                    "after the document",
		`{"a":}`:                   "",
		`[1,]`:                     "",
		`{`:                        "",
		``:                         "",
		strings.Repeat("[", 1000) + strings.Repeat("]", 1000): "nested",
	} {
		got, err := jcs.Canonical([]byte(text))
		if !errors.Is(err, jcs.ErrForm) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%.40s: %s, %v; want ErrForm with %q", text, got, err, want)
		}
	}
	digits := strings.Repeat("1", 2000)
	if got, err := jcs.Canonical([]byte("0." + digits)); !errors.Is(err, jcs.ErrForm) || !strings.Contains(fmt.Sprint(err), "characters") {
		t.Errorf("%.40s, %v; want ErrForm", got, err)
	}
	// An error repeats no more of a document than a person reads.
	if _, err := jcs.Canonical([]byte(`{"` + strings.Repeat("n", 1<<20) + `":{"m":1e400}}`)); err == nil || len(err.Error()) > 1000 || !strings.Contains(err.Error(), "/m: ") {
		t.Errorf("%.1000v", err)
	}
	for text, want := range map[string]string{"1000000000000000000000": "1e+21", "-0": "0", "0e-2000000": "0", "5e-324": "5e-324"} {
		if got, err := jcs.Canonical([]byte(text)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	if got, err := jcs.Canonical([]byte(`"\\ud800 \ud83d\ude00"`)); err != nil || string(got) != `"\\ud800 😀"` {
		t.Errorf("%s, %v", got, err)
	}
}

// Indenting and escaping change nothing, the form is a fixed point, and it reads
// back as the same value.
func TestTheFormIsCanonical(t *testing.T) {
	value := rapid.Deferred(func() *rapid.Generator[any] { return anyJSON(3) })
	rapid.Check(t, func(t *rapid.T) {
		v := value.Draw(t, "value")
		plain, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		indented, err := json.MarshalIndent(v, " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		a, err := jcs.Canonical(plain)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{indented, a} {
			b, err := jcs.Canonical(text)
			if err != nil || !bytes.Equal(a, b) {
				t.Fatalf("%s\n%s, %v", a, b, err)
			}
		}
		var back any
		if err := json.Unmarshal(a, &back); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(back)
		if err != nil || !bytes.Equal(again, plain) {
			t.Fatalf("%s is not %s", again, plain)
		}
	})
}

func anyJSON(depth int) *rapid.Generator[any] {
	// A negative zero has the form of zero, as ECMAScript has it.
	float := rapid.Float64().Filter(func(x float64) bool {
		return x != 0 && !math.IsInf(x, 0) && !math.IsNaN(x) && (math.Abs(x) < 1<<53 || x != math.Trunc(x) || math.Abs(x) > 1e21)
	})
	leaves := []*rapid.Generator[any]{rapid.Bool().AsAny(), float.AsAny(), rapid.String().AsAny()}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	below := anyJSON(depth - 1)
	return rapid.OneOf(append(leaves, rapid.SliceOfN(below, 0, 4).AsAny(), rapid.MapOfN(rapid.String(), below, 0, 4).AsAny())...)
}

func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`1e17`))
	f.Add([]byte(`{"a":[1,2.5e-7,"\ud83d\ude00"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := jcs.Canonical(text)
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q is not JSON", text)
		}
		b, err := jcs.Canonical(a)
		if err != nil || !bytes.Equal(a, b) {
			t.Fatalf("%q: %q is no fixed point: %q, %v", text, a, b, err)
		}
	})
}
