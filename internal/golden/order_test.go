package golden

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"
)

// shuffle puts the rows of a log, after its header, into another order.
func shuffle(t *testing.T, path string, seed dice) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.SplitAfter(string(text), "\n")
	rows = rows[:len(rows)-1]
	for i := len(rows) - 1; i > 1; i-- {
		j := 1 + seed.roll(i)
		rows[i], rows[j] = rows[j], rows[i]
	}
	if err := os.WriteFile(path, []byte(strings.Join(rows, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// unhashed is a release without the hash of its configuration.
func unhashed(release []byte) []byte {
	return regexp.MustCompile(`"config_hash": "[0-9a-f]*"`).ReplaceAll(release, nil)
}

// sameInAnyOrder compares the releases of a log with those of its rows in another order,
// which data.steps.sort puts in order.
func sameInAnyOrder(t *testing.T, all []question) {
	sorted, shuffled := writeData(t), writeData(t)
	for _, log := range []string{"visits.csv", "single.csv"} {
		shuffle(t, filepath.Join(shuffled, log), 5)
	}
	for _, q := range all {
		if strings.Contains(logs[q.log], "bandit.csv") {
			continue
		}
		text := q.config(cmp.Or(q.only, "replace_one"))
		want := unhashed(evaluated(t, parse(t, sorted, text)).JSON)
		c := parse(t, shuffled, text)
		c.Data.Steps = &config.Steps{Sort: true}
		if got := unhashed(evaluated(t, c).JSON); !bytes.Equal(got, want) {
			t.Errorf("%s: rows in another order release other bytes: %s", q.name, difference(got, want))
		}
	}
}

func TestReleasesDoNotDependOnTheOrderOfRows(t *testing.T) {
	var few []question
	for _, q := range append(private(), references()...) {
		switch q.name {
		case "dp-is", "dp-wis-softmax", "dp-refine", "gtd2":
			few = append(few, q)
		}
	}
	sameInAnyOrder(t, few)
}
