//go:build !race

package ledger_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What verifying a hostile store may take, in kB. A release of 64 MiB, which is not
// hostile, is read whole from the line of a backup, where it is longer.
const (
	mostResident = 64 << 10
	mostOfALine  = 192 << 10
)

// TestHostileStoresTakeLittleMemory in a process of their own; the race detector's
// own memory is several times as much.
func TestHostileStoresTakeLittleMemory(t *testing.T) {
	dir := t.TempDir()
	make := func(name string, tamper func(location string)) string {
		location := filepath.Join(dir, name)
		history(t, location).Close()
		tamper(location)
		return location
	}
	file := func(name, start, unit string) string {
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := io.WriteString(f, start); err != nil {
			t.Fatal(err)
		}
		chunk := bytes.Repeat([]byte(unit), 1<<20/len(unit))
		for range hostileMegabytes {
			if _, err := f.Write(chunk); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	for name, c := range map[string]struct{ role, location string }{
		"entry":             {"verify", make("entry.db", func(l string) { long(t, raw(t, l), "ledger_entries", "seq = 4", hostileMegabytes<<20) })},
		"release":           {"verify", make("release.db", func(l string) { long(t, raw(t, l), "ledger_releases", "seq = 4", hostileMegabytes<<20) })},
		"sums":              {"verify", make("sums.db", func(l string) { long(t, raw(t, l), "ledger_analysts", "true", hostileMegabytes<<20) })},
		"backup, one line":  {"backups", file("line.backup", `{"backup":{"format":"`, "x")},
		"backup, a release": {"backups", file("release.backup", `{"release":{"charge":1,"body":"`, "x")},
		"export, one line":  {"exports", file("line.ndjson", `{"hash":"`, "x")},
		"export, nested":    {"exports", file("nested.ndjson", `{"entry":`, "[")},
	} {
		t.Run(name, func(t *testing.T) {
			p := launch(t, c.role, c.location, 1)
			p.start()
			said := p.rest()
			if len(said) != 2 || !strings.HasPrefix(said[0], "refused") {
				t.Fatalf("%q; want it refused, and the memory", said)
			}
			var resident int
			if _, err := fmt.Sscanf(said[1], "VmHWM: %d kB", &resident); err != nil {
				t.Fatalf("%q: %v", said[1], err)
			}
			most := mostResident
			if name == "backup, a release" {
				most = mostOfALine
			}
			if t.Logf("%d MB resident", resident>>10); resident > most {
				t.Errorf("%d kB resident; want at most %d", resident, most)
			}
		})
	}
}
