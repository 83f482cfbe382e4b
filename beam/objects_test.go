package beam

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/beam/internal/s3"
	"github.com/discreet-rl/discreet/beam/internal/s3/s3test"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/scale"
)

const bucket = "trial"

var hashes = regexp.MustCompile(`[0-9a-f]{64}`)

// inStore puts the shards of a stage into a store.
func (s *stage) inStore(t testing.TB) *s3test.Store {
	t.Helper()
	objects = s3.Client{} // which read the environment of another test
	store := s3test.Start(t, bucket)
	s.shards = store.PutFiles(t, bucket, "shards/", s.shards)
	return store
}

// release is that of a driver, with noise that is always the same.
func (s stage) release(t testing.TB, run string, e scale.Engine, overrides ...string) ([]byte, error) {
	t.Helper()
	d, err := s.driver(run, e, overrides...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Evaluate(reaching(t.Context()), discreet.WithSource(noise.NewSeeded(5)))
	if err != nil {
		return nil, err
	}
	return got.JSON, nil
}

// TestShardsInAStoreReleaseTheBytesOfFiles, by workers of Beam and of one process, though
// answers are lost on the way. After the check nothing of an object is read again.
func TestShardsInAStoreReleaseTheBytesOfFiles(t *testing.T) {
	s := newStage(t, 120, 5)
	files := s
	store := s.inStore(t)
	e := onPrism(t, Config{})
	for _, overrides := range [][]string{wis, refine} {
		name := fmt.Sprint(len(overrides))
		want, err := files.release(t, "files"+name, scale.Local{}, overrides...)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		store.Faults(func(r *http.Request) s3test.Fault {
			n++
			return s3test.Fault{Cut: n%7 == 0 && r.Method == http.MethodGet && r.Header.Get("Range") != "", Status: map[bool]int{true: 503}[n%11 == 0]}
		})
		for run, e := range map[string]scale.Engine{"local": scale.Local{}, "beam": e} {
			if got, err := s.release(t, run+name, e, overrides...); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %v: %v, other bytes than of files", run, overrides, err)
			}
		}
		store.Faults(nil)
		d, err := s.driver("once"+name, scale.Local{}, overrides...)
		if err != nil {
			t.Fatal(err)
		}
		d.Progress = func(round int) {
			store.Faults(func(r *http.Request) s3test.Fault {
				if round > 0 && r.Method == http.MethodGet {
					t.Errorf("round %d reads %s", round, r.URL.Path)
				}
				return s3test.Fault{}
			})
		}
		if _, err := d.Evaluate(reaching(t.Context())); err != nil {
			t.Error(err)
		}
		store.Faults(nil)
	}
	for _, key := range store.Keys(t, bucket, "") {
		if !strings.HasSuffix(key, ".parquet") && !strings.HasSuffix(key, ".parquet.remarks.txt") {
			t.Errorf("left %s", key)
		}
	}
}

// TestObjectsThatChangeBetweenRounds are refused by name, also when the driver is started
// again; once they are back it goes on.
func TestObjectsThatChangeBetweenRounds(t *testing.T) {
	s := newStage(t, 120, 3)
	store := s.inStore(t)
	before, _ := store.Get(t, bucket, "shards/s1.parquet")
	other := newStage(t, 120, 3)
	after, err := os.ReadFile(other.shards[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []scale.Engine{scale.Local{}, onPrism(t, Config{})} {
		run := fmt.Sprintf("%T", e)
		d, err := s.driver(run, e, refine...)
		if err != nil {
			t.Fatal(err)
		}
		d.Progress = func(round int) {
			if round == 2 {
				store.Put(t, bucket, "shards/s1.parquet", after)
			}
		}
		if _, err := d.Evaluate(reaching(t.Context()), discreet.WithSource(noise.NewSeeded(5))); err == nil {
			t.Errorf("%s: another object passed", run)
		}
		if _, err := s.release(t, run, e, refine...); err == nil {
			t.Errorf("%s: another object passed a driver that goes on", run)
		}
		store.Put(t, bucket, "shards/s1.parquet", []byte(before))
		if _, err := s.release(t, run, e, refine...); err != nil {
			t.Errorf("%s: %v", run, err)
		}
	}
}

// TestWhatIsWrongWithAnObject is told beside it, to who reads the bucket, and an object that
// cannot be reached is no fault of the data.
func TestWhatIsWrongWithAnObject(t *testing.T) {
	s := newStage(t, 120, 3)
	store := s.inStore(t)
	_, err := s.release(t, "wrong", scale.Local{}, "problem.reward={min: 0, max: 0.001}", "data.on_violation=reject")
	if !errors.Is(err, scale.ErrShard) || !strings.Contains(err.Error(), "s3://"+bucket+"/shards/") {
		t.Errorf("%v", err)
	}
	faults := func() (texts []string) {
		for _, key := range store.Keys(t, bucket, "") {
			if strings.HasSuffix(key, ".faults.txt") {
				text, _ := store.Get(t, bucket, key)
				texts = append(texts, text)
			}
		}
		return texts
	}
	if beside := faults(); len(beside) == 0 || !strings.Contains(beside[0], "reward") {
		t.Errorf("beside them: %q", beside)
	}
	if _, err := s.release(t, "right", scale.Local{}); err != nil {
		t.Error(err)
	}
	if beside := faults(); len(beside) > 0 {
		t.Errorf("left beside shards that passed: %q", beside)
	}
	store.Faults(func(r *http.Request) s3test.Fault {
		return s3test.Fault{Status: map[bool]int{true: 403}[strings.HasSuffix(r.URL.Path, "s2.parquet") && r.Header.Get("Range") != ""]}
	})
	_, err = s.release(t, "refused", scale.Local{})
	if !errors.Is(err, s3.ErrAccess) || !strings.Contains(err.Error(), "s3://trial/shards/s2.parquet") {
		t.Errorf("%v", err)
	}
	store.Faults(nil)
	if beside := faults(); len(beside) > 0 {
		t.Errorf("an object out of reach is told as a fault of the data: %q", beside)
	}
}

// TestDataInAStore are read as files, from a glob and a directory of partitions, and shards
// are made of them, by one process and by Beam.
func TestDataInAStore(t *testing.T) {
	s := newStage(t, 120, 3)
	pieces := s.pieces(t)
	local := s
	store := s.inStore(t)
	for i, path := range pieces {
		store.PutFiles(t, bucket, fmt.Sprintf("log/part=%d/", i), []string{path})
	}
	store.Put(t, bucket, "log/_SUCCESS", nil)
	evaluate := func(path string) []byte {
		d, err := local.driver("none", scale.Local{}, "data.path="+path, "data.format=csv", "problem.horizon=200", "problem.episodes=null")
		if err != nil {
			t.Fatal(err)
		}
		got, err := discreet.Evaluate(reaching(t.Context()), d.Config, discreet.WithSource(noise.NewSeeded(5)))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return hashes.ReplaceAll(got.JSON, nil) // of the configuration, which names the path
	}
	want := evaluate(filepath.Join(s.dir, "piece*.csv"))
	for _, path := range []string{"s3://trial/log/*/*.csv", "s3://trial/log"} {
		if got := evaluate(path); !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes than of files", path)
		}
	}
	ctx := reaching(t.Context())
	of := local.sharding([]string{"s3://trial/log"}, "one")
	one, err := of.Write(ctx)
	if err != nil {
		t.Fatal(err)
	}
	of.Dir = filepath.Join(s.dir, "many")
	many, err := of.Spread(ctx, onPrism(t, Config{}).spread)
	if err != nil || len(many) != len(one) {
		t.Fatalf("%v, %v", many, err)
	}
	for _, made := range [][]string{one, many} {
		if set, err := scale.Set(ctx, made); err != nil || len(set) != 4 {
			t.Errorf("%v, %v", set, err)
		}
	}
	of.Dir = "s3://trial/made"
	if _, err := of.Write(ctx); !errors.Is(err, scale.ErrShard) || !strings.Contains(err.Error(), "copy them") {
		t.Errorf("shards in a store: %v", err)
	}
	if _, err := of.Write(t.Context()); err == nil {
		t.Error("no store reached")
	}
	if _, err := source.Find(t.Context(), "s3://trial/log"); !errors.Is(err, source.ErrScheme) {
		t.Errorf("without a store: %v", err)
	}
}
