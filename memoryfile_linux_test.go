package discreet_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
)

// otherData reports whether the ledger noticed that the data are not those that it knows.
func otherData(notices []string) bool {
	return slices.ContainsFunc(notices, func(n string) bool { return strings.Contains(n, "not those of earlier charges") })
}

// An open file without a name, as a caller hands it over who writes no private data to
// a disk, is read like any other, and a ledger knows it by its bytes.
func TestDataInAFileWithoutAName(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 5, Delta: 1e-6})
	named := filepath.Join(c.Dir, "chain.csv")
	kept, err := os.ReadFile(named)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(named)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := discreet.Evaluate(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(named); err != nil {
		t.Fatal(err)
	}
	c.Data.Path, c.Data.Format = config.Names{fmt.Sprintf("/proc/self/fd/%d", f.Fd())}, "csv"
	result, err := discreet.Evaluate(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if told := otherData(result.Notices); result.Release.Ledger == nil || told {
		t.Errorf("charged %v, notices %q; want a charge and no word of other data", result.Release.Ledger != nil, result.Notices)
	}
	// Other bytes are other data.
	other, err := os.CreateTemp(c.Dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Write(append(kept, '\n')); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(other.Name()); err != nil {
		t.Fatal(err)
	}
	c.Data.Path = config.Names{fmt.Sprintf("/proc/self/fd/%d", other.Fd())}
	result, err = discreet.Evaluate(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !otherData(result.Notices) {
		t.Errorf("notices %q; want that these are not the data of earlier charges", result.Notices)
	}
}

// A pipe that a shell hands over, /dev/fd/63, is no file of data, and is told as one.
func TestAPipeUnderDevFD(t *testing.T) {
	c := onChain(t, dp.Budget{Epsilon: 5, Delta: 1e-6})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	c.Data.Path, c.Data.Format = config.Names{fmt.Sprintf("/proc/self/fd/%d", r.Fd())}, "csv"
	_, err = discreet.Evaluate(context.Background(), c)
	if want := c.Data.Path[0] + " is not a regular file"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
