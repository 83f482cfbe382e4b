//go:build slow

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestServicesWitnessEachOther runs the example: an older copy of all that one service has is
// refused by what the other keeps, and each keeps the heads of the other's ledger alone.
func TestServicesWitnessEachOther(t *testing.T) {
	dir := t.TempDir()
	out, err := exec.Command("bash", "../../examples/witnesses/run.sh", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"takes no charges at the moment", "witness/north knows entry 4: ledger is behind", "knows nothing that is not in it", "and the newest goes on\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for at, of := range map[string]string{"north": "south", "south": "north"} {
		heads, err := exec.Command("git", "-C", filepath.Join(dir, at, "witness.git"), "show", "refs/witness/"+of+":heads.ndjson").Output()
		if err != nil {
			t.Fatal(err)
		}
		ledger := bytes.SplitN(heads, []byte(","), 2)[0]
		if n, all := bytes.Count(heads, ledger), bytes.Count(heads, []byte("\n")); n != all || all < 4 {
			t.Errorf("at %s: %d of %d heads are of one ledger", at, n, all)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "refused.txt")); err != nil {
		t.Error(err)
	}
}
