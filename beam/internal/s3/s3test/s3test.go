// Package s3test is a store of objects on this machine, for tests: start with [Start].
package s3test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Store is a running store.
type Store struct {
	backend *s3mem.Backend
	mutex   sync.Mutex
	fault   func(*http.Request) Fault
	sent    int64
}

// Fault is what the store does in place of an answer.
type Fault struct {
	Status int  // of the answer, 0 for that of the store
	Cut    bool // the answer's body ends in its middle
}

// Start starts one with a bucket, and has the environment of the test name it.
func Start(t testing.TB, bucket string) *Store {
	t.Helper()
	s := &Store{backend: s3mem.New()}
	if err := s.backend.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	inner := gofakes3.New(s.backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, inner) }))
	t.Cleanup(server.Close)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "secret of the test",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull} {
		t.Setenv(name, value)
	}
	return s
}

func (s *Store) answer(w http.ResponseWriter, r *http.Request, inner http.Handler) {
	s.mutex.Lock()
	var f Fault
	if s.fault != nil {
		f = s.fault(r)
	}
	s.mutex.Unlock()
	if f.Status != 0 {
		w.WriteHeader(f.Status)
		return
	}
	out := httptest.NewRecorder()
	inner.ServeHTTP(out, r)
	s.mutex.Lock()
	s.sent += int64(out.Body.Len())
	s.mutex.Unlock()
	for name, values := range out.Header() {
		w.Header()[name] = values
	}
	body := out.Body.Bytes()
	if f.Cut {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		body = body[:len(body)/2]
	}
	w.WriteHeader(out.Code)
	_, _ = w.Write(body) // who went away needs none
}

// Faults has the store do what f says of every request, nil for nothing.
func (s *Store) Faults(f func(*http.Request) Fault) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.fault = f
}

// Sent counts the bytes of answers' bodies.
func (s *Store) Sent() int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.sent
}

// Put makes an object.
func (s *Store) Put(t testing.TB, bucket, key string, text []byte) {
	t.Helper()
	if err := s.Add(bucket, key, text); err != nil {
		t.Fatal(err)
	}
}

// Add is [Store.Put] where there is no test.
func (s *Store) Add(bucket, key string, text []byte) error {
	_, err := s.backend.PutObject(bucket, key, map[string]string{}, bytes.NewReader(text), int64(len(text)), nil)
	return err
}

// PutFiles makes objects of files, under a prefix, and returns their names.
func (s *Store) PutFiles(t testing.TB, bucket, prefix string, files []string) []string {
	t.Helper()
	var names []string
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		key := prefix + filepath.Base(path)
		s.Put(t, bucket, key, text)
		names = append(names, "s3://"+bucket+"/"+key)
	}
	return names
}

// Get gives an object, and whether there is one.
func (s *Store) Get(t testing.TB, bucket, key string) (string, bool) {
	t.Helper()
	o, err := s.backend.GetObject(bucket, key, nil)
	if gofakes3.HasErrorCode(err, gofakes3.ErrNoSuchKey) {
		return "", false
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(o.Contents)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), true
}

// Keys lists the keys of a bucket that begin with a text.
func (s *Store) Keys(t testing.TB, bucket, prefix string) []string {
	t.Helper()
	all, err := s.backend.ListBucket(bucket, &gofakes3.Prefix{}, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, c := range all.Contents {
		if strings.HasPrefix(c.Key, prefix) {
			keys = append(keys, c.Key)
		}
	}
	return keys
}
