package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/beam/internal/s3"
	"github.com/discreet-rl/discreet/beam/internal/s3/s3test"
	"github.com/discreet-rl/discreet/internal/source"
)

const bucket = "trial"

func session(t testing.TB) (*s3test.Store, source.Store) {
	store := s3test.Start(t, bucket)
	return store, new(s3.Client).Session()
}

func random(n int) []byte {
	r := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	_, _ = r.Read(b)
	return b
}

// TestRangesAreTheObject: readings from its front and at random places give its bytes, at
// both sides of every range, and one from front to end moves hardly more than the object.
func TestRangesAreTheObject(t *testing.T) {
	store, s := session(t)
	want := random(5<<20 + 12345)
	store.Put(t, bucket, "a/b.bin", want)
	f, err := s.Open(t.Context(), "s3://trial/a/b.bin")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if sent := store.Sent(); sent > int64(len(want))*101/100 {
		t.Errorf("%d bytes were moved for %d", sent, len(want))
	}
	if f, err = s.Open(t.Context(), "s3://trial/a/b.bin"); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(2, 3))
	for range 200 {
		at, n := r.IntN(len(want)), 1+r.IntN(200_000)
		p := make([]byte, n)
		m, err := f.ReadAt(p, int64(at))
		if want := want[at:min(at+n, len(want))]; !bytes.Equal(p[:m], want) || (m < n) != errors.Is(err, io.EOF) {
			t.Fatalf("%d bytes at %d: %d, %v", n, at, m, err)
		}
	}
	if _, err := f.ReadAt(make([]byte, 1), int64(len(want))); !errors.Is(err, io.EOF) {
		t.Errorf("beyond the end: %v", err)
	}
}

// TestNamesAreListed as those of a directory are.
func TestNamesAreListed(t *testing.T) {
	store, s := session(t)
	ctx := source.With(t.Context(), s)
	for _, key := range []string{"log/year=2025/a.parquet", "log/year=2026/b.parquet", "log/year=2026/_SUCCESS", "log/.hidden/c.parquet", "logs.parquet", "log/x.csv"} {
		store.Put(t, bucket, key, []byte("x"))
	}
	store.Put(t, bucket, "delta/_delta_log/0.json", nil)
	for i := range 1500 { // more than one page
		store.Put(t, bucket, fmt.Sprintf("many/%04d.parquet", i), nil)
	}
	for name, want := range map[string]string{
		"s3://trial/log/*/*.parquet":     "log/.hidden/c.parquet log/year=2025/a.parquet log/year=2026/b.parquet",
		"s3://trial/log/year=*/*":        "log/year=2025/a.parquet log/year=2026/_SUCCESS log/year=2026/b.parquet",
		"s3://trial/log/*.parquet":       "",
		"s3://trial/log":                 "log/x.csv log/year=2025/a.parquet log/year=2026/b.parquet",
		"s3://trial/log/":                "log/x.csv log/year=2025/a.parquet log/year=2026/b.parquet",
		"s3://trial/logs.parquet":        "logs.parquet",
		"s3://trial/log/year=2025/a.p*t": "log/year=2025/a.parquet",
	} {
		got, err := source.Find(ctx, name)
		if text := strings.ReplaceAll(strings.Join(got, " "), "s3://trial/", ""); err != nil || text != want {
			t.Errorf("%s: %q, %v; want %q", name, text, err, want)
		}
	}
	if got, err := source.Find(ctx, "s3://trial/many/*.parquet"); err != nil || len(got) != 1500 || !slices.IsSorted(got) {
		t.Errorf("%d names, %v", len(got), err)
	}
	for name, want := range map[string]error{"s3://trial/none": fs.ErrNotExist, "s3://trial/delta": source.ErrDirectory, "s3://nobucket/x": fs.ErrNotExist, "s3://AKIA:key@trial/x": s3.ErrName, "s3://trial/[": filepath.ErrBadPattern} {
		_, err := source.Find(ctx, name)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "AKIA") {
			t.Errorf("a secret is repeated: %v", err)
		}
	}
}

// TestAChangeIsNoticed: in the middle of a reading, also by a store that heeds no If-Match,
// and between two readings of a session; another session reads the new object.
func TestAChangeIsNoticed(t *testing.T) {
	store, s := session(t)
	const name = "s3://trial/a"
	store.Put(t, bucket, "a", random(3<<20))
	f, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(f, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	store.Put(t, bucket, "a", random(3<<20 + 1)[1:])
	_, err = io.ReadAll(f)
	if !errors.Is(err, s3.ErrChanged) || !strings.Contains(err.Error(), name) {
		t.Errorf("in a reading: %v", err)
	}
	if _, err := s.Open(t.Context(), name); !errors.Is(err, s3.ErrChanged) {
		t.Errorf("between two: %v", err)
	}
	if _, err := new(s3.Client).Session().Open(t.Context(), name); err != nil {
		t.Errorf("in another session: %v", err)
	}
}

// TestFailuresAreTriedAgain, bodies that are cut too, and what lasts is told with the
// object's name and what helps.
func TestFailuresAreTriedAgain(t *testing.T) {
	store, s := session(t)
	want := random(300 << 10)
	store.Put(t, bucket, "a", want)
	ofBody := func(r *http.Request) bool { return r.Method == http.MethodGet && r.Header.Get("Range") != "" }
	n := 0
	store.Faults(func(r *http.Request) s3test.Fault {
		n++
		return s3test.Fault{Cut: ofBody(r) && n%2 == 0, Status: map[bool]int{true: 503}[n%5 == 1]}
	})
	read := func() error {
		f, err := s.Open(t.Context(), "s3://trial/a")
		if err != nil {
			return err
		}
		got, err := io.ReadAll(f)
		if err == nil && !bytes.Equal(got, want) {
			t.Error("other bytes")
		}
		return err
	}
	if err := read(); err != nil || n < 4 {
		t.Errorf("%d requests, %v", n, err)
	}
	for _, c := range []struct {
		fault s3test.Fault
		want  error
		says  string
	}{
		{s3test.Fault{Status: 403}, s3.ErrAccess, "allow them s3:GetObject"},
		{s3test.Fault{Status: 301}, s3.ErrAccess, "AWS_REGION"},
		{s3test.Fault{Status: 404}, fs.ErrNotExist, ""},
		{s3test.Fault{Status: 412}, s3.ErrChanged, "run again"},
		{s3test.Fault{Cut: true}, s3.ErrStore, "cut short 5 times"},
	} {
		store.Faults(func(r *http.Request) s3test.Fault {
			if ofBody(r) {
				return c.fault
			}
			return s3test.Fault{}
		})
		if err := read(); !errors.Is(err, c.want) || !strings.Contains(err.Error(), "s3://trial/a") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.fault, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Open(ctx, "s3://trial/a"); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}

// TestCredentialsAreThePlatforms: without any the error says where they come from, also where the machine's own service,
// which is asked for them, answers as a store does.
func TestCredentialsAreThePlatforms(t *testing.T) {
	machine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer machine.Close()
	for _, disabled := range []string{"true", "false"} {
		_, s := session(t)
		t.Setenv("AWS_ACCESS_KEY_ID", "")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "")
		t.Setenv("AWS_EC2_METADATA_DISABLED", disabled)
		t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", machine.URL)
		if _, err := s.Open(t.Context(), "s3://trial/a"); !errors.Is(err, s3.ErrStore) || !strings.Contains(err.Error(), "a profile or the role of the machine") {
			t.Errorf("no service of the machine %s: %v", disabled, err)
		}
	}
}

// Example reads an object that a session opened.
func Example() {
	var c s3.Client
	ctx := source.With(context.Background(), c.Session())
	_, err := source.Find(ctx, "s3://user:secret@bucket/log/*.parquet")
	fmt.Println(err)
	// Output: invalid name of an object: want s3://bucket/key; credentials are never in a name: they come from the environment, a profile or a role
}
