package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The reference pages are those of the commands as they are now.
func TestReferencePagesAreCurrent(t *testing.T) {
	for name, want := range referencePages(newRoot()) {
		got, err := os.ReadFile(filepath.Join("../../docs/reference", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("docs/reference/%s is not what the commands say; go generate ./internal/cli writes it", name)
		}
	}
}

// Every command that people are shown has a page, and every flag of it a line.
func TestManualLeavesNothingOut(t *testing.T) {
	root := newRoot()
	page, pages, count := commandPage(root), manPages(root), 0
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		count++
		if !strings.Contains(page, "\n## "+c.CommandPath()+"\n") {
			t.Errorf("%s is not in the reference", c.CommandPath())
		}
		man, ok := pages[strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"]
		if !ok {
			t.Errorf("%s has no page for man", c.CommandPath())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" || f.Name == "version" || f.Name == messagesFlag {
				return
			}
			if !strings.Contains(page, "--"+f.Name) || !strings.Contains(man, roffText("--"+f.Name)) {
				t.Errorf("%s: --%s is not in the manual", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				walk(sub)
			}
		}
	}
	walk(root)
	if count < 40 || count != len(pages) {
		t.Errorf("%d commands and %d pages", count, len(pages))
	}
}

func TestRoffTextIsNeverACommand(t *testing.T) {
	for text, want := range map[string]string{
		".TH x":       `\&.TH x`,
		"a\n'b":       "a\n" + `\&'b`,
		`C:\new --on`: `C:\enew \-\-on`,
		"a.b\nc 'd'":  "a.b\nc 'd'",
	} {
		if got := roffText(text); got != want {
			t.Errorf("roffText(%q) is %q; want %q", text, got, want)
		}
	}
}
