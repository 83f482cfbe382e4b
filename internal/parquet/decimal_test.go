package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	goparquet "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/internal/parquet"
)

// widths are the ways to store decimals: their type, the most digits that are drawn, and
// how a value of the type is made of the units.
var widths = map[string]struct {
	typed  goparquet.Type
	digits int
	value  func(*big.Int) goparquet.Value
}{
	"INT32": {goparquet.Int32Type, 9, func(u *big.Int) goparquet.Value { return goparquet.Int32Value(int32(u.Int64())) }},
	"INT64": {goparquet.Int64Type, 18, func(u *big.Int) goparquet.Value { return goparquet.Int64Value(u.Int64()) }},
	"FIXED_LEN_BYTE_ARRAY": {goparquet.FixedLenByteArrayType(16), 38, func(u *big.Int) goparquet.Value {
		return goparquet.FixedLenByteArrayValue(complement(u, 16))
	}},
	"FIXED_LEN_BYTE_ARRAY of 32": {goparquet.FixedLenByteArrayType(32), 76, func(u *big.Int) goparquet.Value {
		return goparquet.FixedLenByteArrayValue(complement(u, 32))
	}},
	"BYTE_ARRAY": {goparquet.ByteArrayType, 38, func(u *big.Int) goparquet.Value {
		return goparquet.ByteArrayValue(complement(u, u.BitLen()/8+1))
	}},
}

// complement is a whole number in two's complement, the highest byte first.
func complement(u *big.Int, n int) []byte {
	if u.Sign() < 0 {
		u = new(big.Int).Add(u, new(big.Int).Lsh(big.NewInt(1), uint(8*n)))
	}
	return u.FillBytes(make([]byte, n))
}

// Decimals of every width and encoding are the float64 nearest to them and, as ids, the
// shortest text of their value: math/big says which these are.
func TestDecimalsAreReadExactly(t *testing.T) {
	for name, w := range widths {
		encodings := []encoding.Encoding{&goparquet.Plain, &goparquet.RLEDictionary}
		switch {
		case strings.HasPrefix(name, "INT"):
			encodings = append(encodings, &goparquet.DeltaBinaryPacked)
		case name == "BYTE_ARRAY":
			encodings = append(encodings, &goparquet.DeltaLengthByteArray, &goparquet.DeltaByteArray)
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				scale := rapid.IntRange(0, w.digits).Draw(t, "scale")
				node := goparquet.Optional(goparquet.Encoded(goparquet.Decimal(scale, w.digits, w.typed), rapid.SampledFrom(encodings).Draw(t, "encoding")))
				schema := goparquet.NewSchema("log", goparquet.Group{"x": node})
				var b bytes.Buffer
				out := goparquet.NewGenericWriter[any](&b, schema)
				var wantNumbers []float64
				var wantTexts []string
				for range rapid.IntRange(1, 20).Draw(t, "rows") {
					digits := rapid.StringMatching(fmt.Sprintf(`-?([0-9]{1,4}|[1-9][0-9]{%d})`, w.digits-1)).Draw(t, "units")
					units, _ := new(big.Int).SetString(digits, 10)
					v := w.value(units).Level(0, 1, 0)
					exact := new(big.Rat).SetFrac(units, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
					number, _ := exact.Float64()
					text := exact.FloatString(scale)
					if scale > 0 {
						text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
					}
					if rapid.IntRange(0, 5).Draw(t, "missing") == 0 {
						v, number, text = goparquet.NullValue(), null, ""
					}
					wantNumbers, wantTexts = append(wantNumbers, number), append(wantTexts, text)
					if _, err := out.WriteRows([]goparquet.Row{{v}}); err != nil {
						t.Fatal(err)
					}
				}
				if err := out.Close(); err != nil {
					t.Fatal(err)
				}
				numbers, texts := decimals(t, b.Bytes())
				if !slices.Equal(numbers, wantNumbers) || !slices.Equal(texts, wantTexts) {
					t.Fatalf("%v, %q\nwant %v, %q", numbers, texts, wantNumbers, wantTexts)
				}
			})
		})
	}
}

// decimals reads the first column as numbers and as keys.
func decimals(t interface{ Fatal(...any) }, data []byte) ([]float64, []string) {
	c := contents{numbers: map[string][]float64{}, keys: map[string][]string{}}
	f, err := parquet.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c.rows = int(f.Rows())
	if err := errors.Join(c.number(f, 0, 3), c.key(f, 0, 3)); err != nil {
		t.Fatal(err)
	}
	return c.numbers["x"], c.keys["x"]
}

// What DuckDB and Arrow write for 0.5, for numbers of many digits and for ids.
func TestDecimalsAndUUIDsOfOtherWriters(t *testing.T) {
	for _, name := range []string{"duckdb_decimals.parquet", "pyarrow_decimals.parquet"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parquet.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c := contents{rows: int(f.Rows()), numbers: map[string][]float64{}, keys: map[string][]string{}}
		for i, field := range f.Fields() {
			switch field.Name {
			case "person":
				if err := c.number(f, i, 2); !errors.Is(err, parquet.ErrText) {
					t.Errorf("%s: a UUID as a number: %v", name, err)
				}
				err = c.key(f, i, 2)
			case "huge":
				var known *parquet.Error
				if err := c.key(f, i, 2); !errors.As(err, &known) || !strings.Contains(known.What, "above 2^53") || !strings.Contains(known.Remedy, "BIGINT") {
					t.Errorf("%s: ids in DOUBLE: %v", name, err)
				}
				err = nil
			default:
				err = errors.Join(c.number(f, i, 2), c.key(f, i, 2))
			}
			if err != nil {
				t.Fatal(name, field.Name, err)
			}
		}
		for column, want := range map[string][]float64{"half": {0.5, null, -0.5}, "price": {12345678.1234, null, -0.0001}, "large": {1e27, null, -1e-10}} {
			if got := c.numbers[column]; !slices.Equal(got, want) {
				t.Errorf("%s: %s %v; want %v", name, column, got, want)
			}
		}
		for column, want := range map[string][]string{"half": {"0.5", "", "-0.5"}, "price": {"12345678.1234", "", "-0.0001"}, "large": {"1" + strings.Repeat("0", 27), "", "-0.0000000001"},
			"person": {"0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9", "", "ffffffff-ffff-ffff-ffff-fffffffffff0"}} {
			if got := c.keys[column]; !slices.Equal(got, want) {
				t.Errorf("%s: %s %q; want %q", name, column, got, want)
			}
		}
	}
}
