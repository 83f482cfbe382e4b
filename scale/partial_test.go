package scale

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/internal/fuzzmain"
)

func TestMain(m *testing.M) { os.Exit(fuzzmain.Main(m)) }

// TestSipHashOfItsAuthors: outputs from the reference implementation's vectors
// (key 00 01 ... 0f, text 00 01 ... n-1).
func TestSipHashOfItsAuthors(t *testing.T) {
	var key [16]byte
	text := make([]byte, 16)
	for i := range text {
		key[i], text[i] = byte(i), byte(i)
	}
	for n, want := range map[int]uint64{0: 0x726fdb47dd0e0e31, 1: 0x74f839c593dc67fd, 8: 0x93f5f5799a932462, 15: 0xa129ca6149be45e5} {
		if got := sipHash(key, string(text[:n])); got != want {
			t.Errorf("of %d bytes: %x; want %x", n, got, want)
		}
	}
}

// some is a task of round 2 and its hash.
func some(t testing.TB, shards int) (Task, Hash) {
	t.Helper()
	task := Task{Schema: taskSchema, Run: Hash{7}, Round: 2, Shards: shards, Question: "a: b", Transcript: []noisySum{{1, 2, []int64{-3}}}}
	text, err := task.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return task, hashOf(text)
}

// TestPartialsAddUpToTheSum in any order and in any tree, for any integers.
func TestPartialsAddUpToTheSum(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		shards := rapid.IntRange(1, 9).Draw(rt, "shards")
		dim := rapid.IntRange(1, 700).Draw(rt, "dim")
		task, hash := some(t, shards)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		want := make([]int64, dim)
		c := counts{sizes: make([]int64, rapid.IntRange(0, 3).Draw(rt, "sizes"))}
		var parts []Partial
		for s := range shards {
			own := make([]int64, dim)
			for i := range own {
				own[i] = rng.Int64N(math.MaxInt64/16) - math.MaxInt64/32
				want[i] += own[i]
			}
			of := counts{rng.Int64N(1e9), rng.Int64N(1e9), rng.Int64N(1e9), rng.Uint64(), make([]int64, len(c.sizes))}
			for i := range of.sizes {
				of.sizes[i] = rng.Int64N(1e9)
				c.sizes[i] += of.sizes[i]
			}
			c = counts{c.persons + of.persons, c.episodes + of.episodes, c.rows + of.rows, c.data + of.data, c.sizes}
			var n nonce
			n[0], n[15] = byte(rng.Uint32()), byte(s)
			parts = append(parts, seal(task, hash, shardPlace{Shard: s}, of, hook.Sum{Step: 0.5, Sigma: 3, Values: own}, RunKey{1}, n))
		}
		rng.Shuffle(shards, func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		for len(parts) > 1 {
			i := rng.IntN(len(parts) - 1)
			two, err := Merge(through(rt, parts[i+1]), parts[i])
			if err != nil {
				rt.Fatal(err)
			}
			parts = append(append(parts[:i:i], two), parts[i+2:]...)
		}
		got, sum, err := open(through(rt, parts[0]), task, hash, RunKey{1}, shardPlace{})
		if err != nil {
			rt.Fatal(err)
		}
		if !reflect.DeepEqual(got, c) || sum.Step != 0.5 || sum.Sigma != 3 {
			rt.Fatalf("counts %+v and lattice %v, %v; want %+v and 0.5, 3", got, sum.Step, sum.Sigma, c)
		}
		for i, v := range sum.Values {
			if v != want[i] {
				rt.Fatalf("coordinate %d: %d; want %d", i, v, want[i])
			}
		}
	})
}

// through writes and reads a partial.
func through(t *rapid.T, p Partial) Partial {
	text, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	out, err := ParsePartial(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestNoMaskCoversTwoSums: two answers of one shard to one task, as of a worker that is
// started again on other data, differ by more than their sums; and what is written holds
// no word of a sum. Were the masks equal, the difference of two answers would be that of
// the sums; that two random masks agree in a word has probability 2^-64.
func TestNoMaskCoversTwoSums(t *testing.T) {
	s := newStage(t)
	d := s.driver(t)
	var first, second []Partial
	d.Engine = broken{do: func(r Round, p []Partial) ([]Partial, error) {
		first = p
		for _, path := range r.Shards {
			second = append(second, answered(t, r.Task, path, r.Key))
		}
		return nil, errStopped
	}}
	if _, err := d.Evaluate(t.Context()); !errors.Is(err, errStopped) {
		t.Fatal(err)
	}
	for i := range first {
		for w := range first[i].words {
			if first[i].words[w] == second[i].words[w] {
				t.Fatalf("shard %d: word %d has the same mask in two answers", i, w)
			}
		}
		for j := range i {
			for w := range first[i].words {
				if first[i].words[w] == first[j].words[w] {
					t.Fatalf("shards %d and %d: word %d is equal under its masks", i, j, w)
				}
			}
		}
	}
	// The mask also depends on the task, the shard and the key.
	n := nonce{1}
	base := hex.EncodeToString(RunKey{1}.mask(n, Hash{1}, shardPlace{Shard: 1}))
	for name, other := range map[string][]byte{"key": RunKey{2}.mask(n, Hash{1}, shardPlace{Shard: 1}), "task": RunKey{1}.mask(n, Hash{2}, shardPlace{Shard: 1}), "shard": RunKey{1}.mask(n, Hash{1}, shardPlace{Shard: 2}), "set": RunKey{1}.mask(n, Hash{1}, shardPlace{Shard: 1, key: [16]byte{1}}), "nonce": RunKey{1}.mask(nonce{2}, Hash{1}, shardPlace{Shard: 1})} {
		if hex.EncodeToString(other) == base {
			t.Errorf("another %s has the same mask", name)
		}
	}
}

// TestCutAndChangedPartialsAreRefused: every prefix of one, and one with any byte changed.
func TestCutAndChangedPartialsAreRefused(t *testing.T) {
	task, hash := some(t, 2)
	text, err := seal(task, hash, shardPlace{Shard: 1}, counts{persons: 3}, hook.Sum{Step: 1, Sigma: 1, Values: []int64{5}}, RunKey{1}, nonce{1}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for n := range text {
		if _, err := ParsePartial(text[:n]); !errors.Is(err, ErrPartial) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
		bad := bytes.Clone(text)
		bad[n] ^= 1
		if _, err := ParsePartial(bad); !errors.Is(err, ErrPartial) {
			t.Fatalf("byte %d changed: %v", n, err)
		}
	}
}

// TestARunKeyIsReadFromItsPlacesAlone.
func TestARunKeyIsReadFromItsPlacesAlone(t *testing.T) {
	text := strings.Repeat("0a", 32)
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv(KeyVariable, "")
	t.Setenv(KeyFileVariable, "")
	if _, found, err := KeyFromEnvironment(); found || err != nil {
		t.Errorf("without variables: %v, %v", found, err)
	}
	t.Setenv(KeyFileVariable, path)
	if _, _, err := KeyFromEnvironment(); !errors.Is(err, ErrKey) {
		t.Errorf("a file that others may read: %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	k, found, err := KeyFromEnvironment()
	if err != nil || !found || k[31] != 10 {
		t.Errorf("from a file: %v, %v, %v", k, found, err)
	}
	t.Setenv(KeyVariable, "abc")
	if _, _, err := KeyFromEnvironment(); !errors.Is(err, ErrKey) || strings.Contains(err.Error(), "abc") {
		t.Errorf("a short key: %v", err)
	}
	run := filepath.Join(t.TempDir(), "run")
	a, errA := KeyOfRun(run)
	b, errB := KeyOfRun(run)
	if errA != nil || errB != nil || a != b || a == (RunKey{}) {
		t.Errorf("the key of a run: %v, then %v (%v, %v)", a, b, errA, errB)
	}
}

// FuzzPartial: what is read is written byte for byte.
func FuzzPartial(f *testing.F) {
	task, hash := some(f, 2)
	text, err := seal(task, hash, shardPlace{Shard: 1}, counts{persons: 3}, hook.Sum{Step: 1, Sigma: 1, Values: []int64{5}}, RunKey{1}, nonce{1}).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePartial(data)
		if err != nil {
			if !errors.Is(err, ErrPartial) {
				t.Fatalf("%v does not wrap ErrPartial", err)
			}
			return
		}
		if again, err := p.Encode(); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("written again it differs, %v", err)
		}
		if _, err := Merge(p, p); !errors.Is(err, ErrPartial) {
			t.Fatalf("it is added to itself: %v", err)
		}
	})
}

// FuzzTask: what is read is written byte for byte.
func FuzzTask(f *testing.F) {
	task, _ := some(f, 2)
	text, err := task.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		task, err := parseTask(data)
		if err != nil {
			if !errors.Is(err, ErrTask) {
				t.Fatalf("%v does not wrap ErrTask", err)
			}
			return
		}
		if again, err := task.Encode(); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("written again it differs, %v", err)
		}
	})
}
