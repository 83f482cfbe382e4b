package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/serve"
)

// The commands of the guide back a service up and restore it, as they stand there.
func TestTheGuideBacksUpAndRestores(t *testing.T) {
	guide, err := os.ReadFile("../../docs/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"serve.yaml", "pbc.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../examples/serve", name))
		if err != nil {
			t.Fatal(err)
		}
		trial, err := filepath.Abs("../../examples/pbc")
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.NewReplacer("127.0.0.1:8420", "127.0.0.1:0", "../pbc", trial).Replace(string(text))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"data", "backup"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c, err := serve.Load(filepath.Join(dir, "serve.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := serve.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	commands := 0
	for _, line := range strings.Split(string(guide), "\n") {
		if !strings.HasPrefix(line, "discreet serve backup") && !strings.HasPrefix(line, "discreet serve restore") {
			continue
		}
		commands++
		if commands == 2 { // stop the service, and move away what is damaged
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(dir, "data"), filepath.Join(dir, "damaged")); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		line = strings.NewReplacer("serve.yaml", filepath.Join(dir, "serve.yaml"), "/mnt/backup", filepath.Join(dir, "backup"), `"disk failure"`, "disk-failure").Replace(line)
		if code := Main(strings.Fields(line)[1:], nil, &said, &said); code != 0 {
			t.Fatalf("%s: exit code %d: %s", line, code, &said)
		}
	}
	if commands != 2 || !strings.Contains(said.String(), "booked as spent") {
		t.Errorf("%d commands say: %s", commands, &said)
	}
	s, err = serve.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
