package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-rl/discreet/internal/fault"
)

// TestNumbersOfFlagsAreDecimal: what Go reads as another number than people do is refused
// by every flag that holds a number, and a budget of 1_0 is none of 10.
func TestNumbersOfFlagsAreDecimal(t *testing.T) {
	numbers := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			kind := f.Value.Type()
			if !strings.HasPrefix(kind, "float") && !strings.HasPrefix(kind, "int") && !strings.HasPrefix(kind, "uint") || strings.HasSuffix(kind, "Slice") {
				return
			}
			numbers++
			for _, bad := range []string{"1_0", "010", "0x10", "0x1p3", "0b1", "0o17", "-010"} {
				if err := f.Value.Set(bad); err == nil {
					t.Errorf("%s --%s takes %s for %s", cmd.CommandPath(), f.Name, bad, f.Value)
				}
			}
			for _, good := range []string{"0", "10"} {
				if err := f.Value.Set(good); err != nil || f.Value.String() != good {
					t.Errorf("%s --%s of %s is %s: %v", cmd.CommandPath(), f.Name, good, f.Value, err)
				}
			}
		})
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	if numbers < 40 {
		t.Errorf("only %d flags hold numbers; does the test find them?", numbers)
	}
	path := filepath.Join(t.TempDir(), "budget.db")
	for epsilon, want := range map[string]int{"1_0": fault.ExitInput, "0x1p3": fault.ExitInput, "0.5": fault.ExitDone} {
		var out, told bytes.Buffer
		if code := Main([]string{"ledger", "init", path, "--dataset", "d", "--epsilon", epsilon, "--delta", "1e-5", "--adjacency", "replace_one"}, nil, &out, &told); code != want {
			t.Errorf("--epsilon %s: exit %d, want %d: %s%s", epsilon, code, want, &out, &told)
		}
	}
}
