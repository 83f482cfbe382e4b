package textfile_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/textfile"
)

func compressed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestOpenReadsPlainAndCompressed(t *testing.T) {
	text := strings.Repeat("a,b\n", 1000)
	for name, raw := range map[string][]byte{"x.csv": []byte(text), "x.csv.gz": compressed(t, text)} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := textfile.Open(context.Background(), path, ".csv")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(in)
		if err != nil || string(got) != text {
			t.Errorf("%s: %d bytes, %v; want the text", name, len(got), err)
		}
		if in.Consumed() != int64(len(raw)) {
			t.Errorf("%s: consumed %d bytes; the file has %d", name, in.Consumed(), len(raw))
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, raw := range map[string]string{"empty.csv.gz": "", "plain.csv.gz": "a,b\n1,2\n"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(raw), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := textfile.Open(context.Background(), path, ".csv")
		if !errors.Is(err, trajectory.ErrFormat) || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v; want an ErrFormat that is no end of file", name, err)
		}
	}
	if _, err := textfile.Open(context.Background(), dir, ".csv"); !errors.Is(err, trajectory.ErrFormat) {
		t.Errorf("a directory: %v; want ErrFormat", err)
	}
	if _, err := textfile.Open(context.Background(), filepath.Join(dir, "none"), ".csv"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v; want ErrNotExist", err)
	}
}

func ExampleFrom() {
	in := textfile.From(strings.NewReader("step\n0\n"))
	text, _ := io.ReadAll(in)
	fmt.Println(len(text), in.Consumed())
	// Output: 7 7
}
