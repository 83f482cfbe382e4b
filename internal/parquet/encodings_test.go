package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	goparquet "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/discreet-rl/discreet/internal/parquet"
)

// kinds are the types of columns that are read, and triedEncodings those that
// the module writes for them.
var kinds = map[string]goparquet.Node{"bool": goparquet.Leaf(goparquet.BooleanType), "int32": goparquet.Int(32), "int64": goparquet.Int(64), "uint32": goparquet.Uint(32),
	"uint64": goparquet.Uint(64), "float": goparquet.Leaf(goparquet.FloatType), "double": goparquet.Leaf(goparquet.DoubleType), "string": goparquet.String(),
	"fixed": goparquet.Leaf(goparquet.FixedLenByteArrayType(6))}

func triedEncodings(kind string) []encoding.Encoding {
	switch kind {
	case "bool":
		return []encoding.Encoding{&goparquet.Plain, &goparquet.RLE}
	case "float", "double":
		return []encoding.Encoding{&goparquet.Plain, &goparquet.RLEDictionary, &goparquet.ByteStreamSplit}
	case "string":
		return []encoding.Encoding{&goparquet.Plain, &goparquet.RLEDictionary, &goparquet.DeltaLengthByteArray, &goparquet.DeltaByteArray}
	case "fixed":
		return []encoding.Encoding{&goparquet.Plain, &goparquet.RLEDictionary, &goparquet.DeltaByteArray}
	}
	return []encoding.Encoding{&goparquet.Plain, &goparquet.RLEDictionary, &goparquet.DeltaBinaryPacked}
}

var triedCodecs = []compress.Codec{&goparquet.Uncompressed, &goparquet.Snappy, &goparquet.Gzip, &goparquet.Zstd, &goparquet.Brotli, &goparquet.Lz4Raw}

// The module's writer, in every encoding that it has for a type, against the
// decoders of this package: ids and numbers come back as they were.
func TestEncodingsOfTheModule(t *testing.T) {
	const rows = 3000
	rng := rand.New(rand.NewPCG(3, 4))
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		for i, e := range triedEncodings(kind) {
			for _, optional := range []bool{false, true} {
				roundTrip(t, kind, kinds[kind], e, triedCodecs[rng.IntN(len(triedCodecs))], optional, 1+i%2, rows, rng)
			}
		}
	}
}

// roundTrip writes a column by the module and reads it here.
func roundTrip(t *testing.T, kind string, leaf goparquet.Node, e encoding.Encoding, codec compress.Codec, optional bool, version, rows int, rng *rand.Rand) {
	t.Helper()
	node := goparquet.Encoded(leaf, e)
	if optional {
		node = goparquet.Optional(node)
	}
	what := fmt.Sprintf("%s, %v, %v, optional %v, pages of version %d, %d rows", kind, e, codec, optional, version, rows)
	file, want := moduleFile(t, kind, node, rows, version, codec, rng)
	c, err := readAll(file, 1024)
	if err != nil {
		t.Errorf("%s: %v (%v)", what, err, cause(err))
		return
	}
	for r := range want {
		got := ""
		if kind == "string" || kind == "fixed" {
			got = c.keys["episode_id"][r]
		} else {
			got = fmt.Sprint(c.numbers["obs_x"][r])
		}
		if got != want[r] {
			t.Errorf("%s: row %d: got %q, want %q", what, r, got, want[r])
			return
		}
	}
}

// moduleFile has a column "x" of random values, an id or an observation, and
// what is to come of it, as text: zero, or a name of its own, where it is missing.
func moduleFile(t *testing.T, kind string, node goparquet.Node, rows, version int, codec compress.Codec, rng *rand.Rand) ([]byte, []string) {
	t.Helper()
	isKey := kind == "string" || kind == "fixed"
	g := goparquet.Group{"reward": goparquet.Leaf(goparquet.DoubleType)}
	x, reward := 0, 1 // columns are sorted by name
	if isKey {
		g["episode_id"] = node
	} else {
		g["obs_x"] = node
		g["episode_id"] = goparquet.Uint(64)
		x, reward = 1, 2
	}
	var file bytes.Buffer
	w := goparquet.NewGenericWriter[any](&file, goparquet.NewSchema("x", g), goparquet.Compression(codec), goparquet.DataPageVersion(version), goparquet.PageBufferSize(1500))
	var want []string
	for r := range rows {
		v, text := someValue(kind, r, rng)
		v = v.Level(0, 0, x)
		if node.Optional() {
			v = v.Level(0, 1, x)
			// Missing values come in runs and alone. An id is never missing.
			if !isKey && (rng.IntN(3) == 0 || r/100%4 == 0) {
				v, text = goparquet.NullValue().Level(0, 0, x), fmt.Sprint(null)
			}
		}
		want = append(want, text)
		row := goparquet.Row{v, goparquet.DoubleValue(1).Level(0, 0, reward)}
		if !isKey {
			row = append(goparquet.Row{goparquet.ValueOf(uint64(r)).Level(0, 0, 0)}, row...)
		}
		if _, err := w.WriteRows([]goparquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), want
}

func someValue(kind string, r int, rng *rand.Rand) (goparquet.Value, string) {
	shift := rng.IntN(40) // of many sizes
	switch kind {
	case "bool":
		b := rng.IntN(2)
		return goparquet.BooleanValue(b == 1), fmt.Sprint(b)
	case "int32":
		v := int32(rng.Uint64()) >> (shift % 32)
		return goparquet.Int32Value(v), fmt.Sprint(float64(v))
	case "int64":
		v := int64(rng.Uint64()) >> shift
		return goparquet.Int64Value(v), fmt.Sprint(float64(v))
	case "uint32":
		v := uint32(rng.Uint64()) >> (shift % 32)
		return goparquet.ValueOf(v), fmt.Sprint(float64(v))
	case "uint64":
		v := rng.Uint64() >> shift
		return goparquet.ValueOf(v), fmt.Sprint(float64(v))
	case "float":
		v := float32(rng.IntN(1000)) / 8
		return goparquet.FloatValue(v), fmt.Sprint(float64(v))
	case "double":
		v := float64(rng.IntN(1000)) / 8
		return goparquet.DoubleValue(v), fmt.Sprint(v)
	case "fixed":
		s := fmt.Sprintf("%06d", r)
		return goparquet.FixedLenByteArrayValue([]byte(s)), s
	}
	s := fmt.Sprintf("person-%0*d", 1+shift%7, r)
	return goparquet.ByteArrayValue([]byte(s)), s
}

// Damaged files are input errors, or read; none of them takes much memory.
func TestDamagedFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, path := range files {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := range damages {
			file := damage(bytes.Clone(whole), rng)
			asked := allocated(func() { _, err = readAll(file, 1024) })
			var known *parquet.Error
			if err != nil && !errors.As(err, &known) {
				t.Fatalf("%s, seed %d, damage %d: %v is no error of this package", path, seed, n, err)
			}
			if asked > 1<<27 {
				t.Errorf("%s, seed %d, damage %d: asked for %d bytes", path, seed, n, asked)
			}
		}
	}
}

// damage changes a few bytes, more often near the end, where the footer is, to
// values that are likely to be lengths.
func damage(b []byte, rng *rand.Rand) []byte {
	likely := []byte{0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x15, 0x1c}
	for range 1 + rng.IntN(6) {
		i := rng.IntN(len(b))
		if rng.IntN(3) == 0 {
			i = len(b) - 1 - rng.IntN(min(len(b), 1000))
		}
		switch rng.IntN(4) {
		case 0:
			b[i] = byte(rng.Uint32())
		case 1:
			b[i] ^= 1 << rng.IntN(8)
		case 2:
			b[i] = likely[rng.IntN(len(likely))]
		default:
			for j := i; j < min(i+5, len(b)); j++ {
				b[j] = 0xff
			}
		}
	}
	return b
}
