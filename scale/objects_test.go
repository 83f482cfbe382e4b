package scale

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/source"
)

// shelf is a store in memory.
type shelf struct {
	mutex   sync.Mutex
	objects fstest.MapFS
	names   []string
}

const onShelf = "shelf://"

func (*shelf) Scheme() string { return onShelf }

type opened struct {
	fs.File
	*bytes.Reader
}

func (f opened) Read(p []byte) (int, error) { return f.Reader.Read(p) }

func (s *shelf) Open(_ context.Context, name string) (source.File, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.names = append(s.names, name)
	f, err := s.objects.Open(strings.TrimPrefix(name, onShelf))
	if err != nil {
		return nil, err
	}
	return opened{f, bytes.NewReader(s.objects[strings.TrimPrefix(name, onShelf)].Data)}, nil
}

func (s *shelf) Stat(_ context.Context, name string) (fs.FileInfo, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.objects.Stat(strings.TrimPrefix(name, onShelf))
}

func (s *shelf) List(context.Context, string) ([]string, error) { return nil, nil }

func (s *shelf) Write(_ context.Context, name string, text []byte) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.put(name, text)
	return nil
}

func (s *shelf) put(name string, text []byte) {
	s.objects[strings.TrimPrefix(name, onShelf)] = &fstest.MapFile{Data: text, Mode: 0o600, Sys: source.Version(fmt.Sprintf("%x", sha256.Sum256(text)))}
}

func (s *shelf) Remove(_ context.Context, name string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.objects, strings.TrimPrefix(name, onShelf))
	return nil
}

// TestObjectsAreShards: they release the bytes of files, are opened in the check alone, and
// one that is another in a later round, or from one look to the next, is refused.
func TestObjectsAreShards(t *testing.T) {
	s := newStage(t, "method={name: dp-refine}", "target={kind: logged}", "data.behavior=null")
	want, err := s.driver(t).Evaluate(t.Context(), discreet.WithSource(noise.NewSeeded(5)))
	if err != nil {
		t.Fatal(err)
	}
	store := &shelf{objects: fstest.MapFS{}}
	ctx := source.With(t.Context(), store)
	for i, path := range s.shards {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s.shards[i] = fmt.Sprintf("%sdata/s%d.parquet", onShelf, i)
		store.put(s.shards[i], text)
	}
	d := s.driver(t)
	d.Dir, d.Engine = s.dir+"/once", Local{}
	var checked int
	d.Progress = func(round int) {
		if round == 2 {
			checked = len(store.names)
		}
	}
	got, err := d.Evaluate(ctx, discreet.WithSource(noise.NewSeeded(5)))
	if err != nil || !bytes.Equal(got.JSON, want.JSON) {
		t.Fatalf("%v, other bytes than of files", err)
	}
	if checked == 0 || len(store.names) != checked {
		t.Errorf("after the check objects are opened: %v", store.names[checked:])
	}
	before := store.objects["data/s1.parquet"]
	others, err := write(people(t, 120, 4), s.dir+"/others", 4, [16]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(others[1])
	if err != nil {
		t.Fatal(err)
	}
	d.Dir = s.dir + "/changed"
	d.Progress = func(round int) {
		if round == 2 {
			store.put(s.shards[1], after)
		}
	}
	if _, err := d.Evaluate(ctx); !errors.Is(err, ErrShard) {
		t.Errorf("another object in round 2: %v", err)
	}
	store.objects["data/s1.parquet"] = before
	d.Dir, d.Progress = s.dir+"/in", nil
	n := 0
	ctx = source.With(ctx, &restless{store, &n})
	if _, err := d.Evaluate(ctx); !errors.Is(err, ErrShard) {
		t.Errorf("an object that changes in a reading: %v", err)
	}
	told := slices.Collect(func(yield func(string) bool) {
		for name, f := range store.objects {
			if strings.HasSuffix(name, faultsSuffix) && !yield(string(f.Data)) {
				return
			}
		}
	})
	if len(told) == 0 || !strings.Contains(told[0], "was changed while it was read") {
		t.Errorf("told beside the objects: %q", told)
	}
}

// restless is a store in which an object is of another version at each look.
type restless struct {
	*shelf
	looks *int
}

func (s *restless) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	s.mutex.Lock()
	*s.looks++
	if f := s.objects[strings.TrimPrefix(name, onShelf)]; f != nil {
		s.objects[strings.TrimPrefix(name, onShelf)] = &fstest.MapFile{Data: f.Data, Mode: f.Mode, Sys: source.Version(fmt.Sprint(*s.looks))}
	}
	s.mutex.Unlock()
	return s.shelf.Stat(ctx, name)
}
