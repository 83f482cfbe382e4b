package parquetfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
)

// The module's writer, in every encoding that it has for a type, against the
// decoders of this package: ids and numbers come back as they were.
func TestEncodingsOfTheModule(t *testing.T) {
	const rows = 3000
	codecs := []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli}
	leaves := map[string]parquet.Node{"bool": parquet.Leaf(parquet.BooleanType), "int32": parquet.Int(32), "int64": parquet.Int(64), "uint32": parquet.Uint(32),
		"uint64": parquet.Uint(64), "float": parquet.Leaf(parquet.FloatType), "double": parquet.Leaf(parquet.DoubleType), "string": parquet.String(), "fixed": parquet.Leaf(parquet.FixedLenByteArrayType(6))}
	tried := map[string][]encoding.Encoding{
		"bool":   {&parquet.Plain, &parquet.RLE},
		"int32":  {&parquet.Plain, &parquet.RLEDictionary, &parquet.DeltaBinaryPacked},
		"float":  {&parquet.Plain, &parquet.RLEDictionary, &parquet.ByteStreamSplit},
		"string": {&parquet.Plain, &parquet.RLEDictionary, &parquet.DeltaLengthByteArray, &parquet.DeltaByteArray},
		"fixed":  {&parquet.Plain, &parquet.RLEDictionary, &parquet.DeltaByteArray},
	}
	tried["int64"], tried["uint32"], tried["uint64"], tried["double"] = tried["int32"], tried["int32"], tried["int32"], tried["float"]
	rng := rand.New(rand.NewPCG(3, 4))
	for name, leaf := range leaves {
		for i, e := range tried[name] {
			for _, optional := range []bool{false, true} {
				node := parquet.Encoded(leaf, e)
				if optional {
					node = parquet.Optional(node)
				}
				what := fmt.Sprintf("%s, %v, optional %v", name, e, optional)
				file, want := moduleFile(t, name, node, rows, 1+i%2, codecs[rng.IntN(len(codecs))], rng)
				d, err := readBytes(file)
				if err != nil {
					t.Errorf("%s: %v (%v)", what, err, cause(err))
					continue
				}
				for r := range want {
					got := d.EpisodeID[r]
					if name != "string" && name != "fixed" {
						got = fmt.Sprint(d.Obs[r])
					}
					if got != want[r] {
						t.Errorf("%s: row %d: got %q, want %q", what, r, got, want[r])
						break
					}
				}
			}
		}
	}
}

func cause(err error) error {
	var input *trajectory.InputError
	if errors.As(err, &input) {
		return input.Cause
	}
	return nil
}

// moduleFile has a column "x" of random values, an id or an observation, and
// what is to come of it, as text: zero, or a name of its own, where it is missing.
func moduleFile(t *testing.T, kind string, node parquet.Node, rows, version int, codec compress.Codec, rng *rand.Rand) ([]byte, []string) {
	t.Helper()
	isKey := kind == "string" || kind == "fixed"
	g := parquet.Group{"reward": parquet.Leaf(parquet.DoubleType)}
	x, reward := 0, 1 // columns are sorted by name
	if isKey {
		g["episode_id"] = node
	} else {
		g["obs_x"] = node
		g["episode_id"] = parquet.Uint(64)
		x, reward = 1, 2
	}
	var file bytes.Buffer
	w := parquet.NewGenericWriter[any](&file, parquet.NewSchema("x", g), parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(1500))
	var want []string
	for r := range rows {
		v, text := someValue(kind, r, rng)
		v = v.Level(0, 0, x)
		if node.Optional() {
			v = v.Level(0, 1, x)
			// Missing values come in runs and alone. An id is never missing.
			if !isKey && (rng.IntN(3) == 0 || r/100%4 == 0) {
				v, text = parquet.NullValue().Level(0, 0, x), "0"
			}
		}
		want = append(want, text)
		row := parquet.Row{v, parquet.DoubleValue(1).Level(0, 0, reward)}
		if !isKey {
			row = append(parquet.Row{parquet.ValueOf(uint64(r)).Level(0, 0, 0)}, row...)
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), want
}

func someValue(kind string, r int, rng *rand.Rand) (parquet.Value, string) {
	shift := rng.IntN(40) // of many sizes
	switch kind {
	case "bool":
		b := rng.IntN(2)
		return parquet.BooleanValue(b == 1), fmt.Sprint(b)
	case "int32":
		v := int32(rng.Uint64()) >> (shift % 32)
		return parquet.Int32Value(v), fmt.Sprint(float64(v))
	case "int64":
		v := int64(rng.Uint64()) >> shift
		return parquet.Int64Value(v), fmt.Sprint(float64(v))
	case "uint32":
		v := uint32(rng.Uint64()) >> (shift % 32)
		return parquet.ValueOf(v), fmt.Sprint(float64(v))
	case "uint64":
		v := rng.Uint64() >> shift
		return parquet.ValueOf(v), fmt.Sprint(float64(v))
	case "float":
		v := float32(rng.IntN(1000)) / 8
		return parquet.FloatValue(v), fmt.Sprint(float64(v))
	case "double":
		v := float64(rng.IntN(1000)) / 8
		return parquet.DoubleValue(v), fmt.Sprint(v)
	case "fixed":
		s := fmt.Sprintf("%06d", r)
		return parquet.FixedLenByteArrayValue([]byte(s)), s
	}
	s := fmt.Sprintf("person-%0*d", 1+shift%7, r)
	return parquet.ByteArrayValue([]byte(s)), s
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
			asked := allocated(func() { _, err = readBytes(file) })
			if err != nil && !errors.Is(err, trajectory.ErrInput) {
				t.Fatalf("%s, seed %d, damage %d: %v is no input error", path, seed, n, err)
			}
			if asked > 1<<28+1<<26 {
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
