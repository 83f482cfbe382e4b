package file_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// TestOwnersAreThePersonsThatReadingFinds, row by row, whatever else a file has: ids of text, of numbers in other
// spellings, of two columns, and none.
func TestOwnersAreThePersonsThatReadingFinds(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		columns map[string]string
		joined  map[string][]string
		want    []string
	}{
		"text":        {"unit_id\nann\nann\n bob  c\n", nil, nil, []string{"ann", "ann", "bob c"}},
		"numbers":     {"unit_id,x\n007,1\n7,1\n1e3,1\n", nil, nil, []string{"7", "7", "1000"}},
		"mapped":      {"x,who\n1,b\n1,a\n", map[string]string{"unit_id": "who", "reward": "not there"}, nil, []string{"b", "a"}},
		"two columns": {"site,no\n a,01\na,1\n", nil, map[string][]string{"unit_id": {"site", "no"}}, []string{"a/1", "a/1"}},
		"none":        {"unit_id,x\na,1\n,1\na,1\n", nil, nil, []string{"a", "", "a"}},
	} {
		path := filepath.Join(t.TempDir(), "rows.csv")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := file.Open(t.Context(), []string{path}, "", trajectory.Options{Columns: c.columns, Joined: c.joined, Unit: trajectory.UnitPerson})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := in.Owners(func(plain []byte, rows int) error {
			got = append(got, slices.Repeat([]string{string(plain)}, rows)...)
			return nil
		}); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %s, %v; want %s", name, strings.Join(got, ", "), err, strings.Join(c.want, ", "))
		}
	}
}
