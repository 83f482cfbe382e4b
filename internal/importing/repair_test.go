package importing_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/importing"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// spoiled writes a log of which some cells cannot be read, or hold what they may not.
func spoiled(t *testing.T, path string, r *rand.Rand, flags, named bool) {
	t.Helper()
	words := []string{"x", "", "1e999", "NaN", "7", "-1", "0.5", "2", "1", "0", "f"}
	var b strings.Builder
	head := "patient,episode_id,step,sex,obs_x,obs_y,arm,pscore,prob_0,prob_1,target_prob,reward,next_sex,next_obs_x,next_obs_y,discount"
	if flags {
		head += ",terminated,truncated"
	}
	fmt.Fprintln(&b, head)
	for e := range 40 {
		last := r.IntN(4)
		x := func(s int) string { return fmt.Sprint((e + s) % 3) }
		sex := []string{"f", "m"}[e%2]
		final := r.IntN(4)
		for s := range last + 1 {
			arm, p := r.IntN(2), []string{"0.25", "0.75"}
			next := []string{"", "", ""}
			if final == 0 {
				next = []string{sex, x(s + 1), "1"}
			}
			row := []string{fmt.Sprintf("p%d", e%15), fmt.Sprintf("e%d", e), fmt.Sprint(s), sex, x(s), "1", []string{"placebo", "drug"}[arm], p[arm], p[0], p[1], "0.5", fmt.Sprint(r.IntN(5)), next[0], next[1], next[2], "0.9"}
			if flags {
				row = append(row, fmt.Sprint(s == last && e%3 == 0), fmt.Sprint(s == last && e%3 == 1))
			}
			// A log has next observations, or rows with the last one, but for accidents of two.
			if at := 2 + r.IntN(len(row)-2); r.IntN(12) == 0 && (final != 1 || at < 12 || at > 14) {
				row[at] = words[r.IntN(len(words))]
			}
			fmt.Fprintln(&b, strings.Join(row, ","))
		}
		if final == 1 {
			row := make([]string, strings.Count(head, ",")+1)
			row[0], row[1], row[2], row[3], row[4], row[5] = fmt.Sprintf("p%d", e%15), fmt.Sprintf("e%d", e), fmt.Sprint(last+1), sex, x(last+1), "1"
			if r.IntN(4) == 0 {
				row[3+r.IntN(3)] = words[r.IntN(len(words))]
			}
			fmt.Fprintln(&b, strings.Join(row, ","))
		}
	}
	text := b.String()
	if !named {
		text = strings.Replace(text, "patient,", "nobody,", 1)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Whatever is wrong with raw data, the table that is made of them with Repair has the same
// persons and episodes, and the same of them are unusable, for every question: of any columns,
// with any caps, whatever missing observations become.
func TestATableIsAsUnusableAsItsData(t *testing.T) {
	unusable, compared := 0, 0
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 9))
		dir := t.TempDir()
		path, table := filepath.Join(dir, "raw.csv"), filepath.Join(dir, "table.parquet")
		flags, named := r.IntN(3) > 0, r.IntN(4) > 0
		spoiled(t, path, r, flags, named)
		c := config.Config{Privacy: config.Privacy{None: true}, Data: config.Data{Path: config.Names{path},
			Columns: map[string]config.Names{"action": {"arm"}}, Actions: &config.Vocabulary{Words: []string{"placebo", "drug"}},
			Encode: map[string]config.Vocabulary{"sex": {Words: []string{"f", "m"}}}}}
		steps := trajectory.Steps{}
		if r.IntN(2) == 0 { // which is the question's
			c.Data.Missing = "zero"
		}
		if r.IntN(2) == 0 {
			steps = trajectory.Steps{Sort: true, Ordered: r.IntN(2) == 0}
			c.Data.Steps = &config.Steps{Sort: true, Kind: map[bool]string{true: "ordered"}[steps.Ordered]}
		}
		unit := trajectory.UnitEpisode
		if named {
			unit = trajectory.UnitPerson
			c.Data.Columns["unit_id"] = config.Names{"patient"}
		} else {
			c.Privacy = config.Privacy{Unit: "episode", Adjacency: "replace_one", Epsilon: 1, Delta: 1e-6}
		}
		order := importing.Order{Config: c, Table: table, CSV: filepath.Join(dir, "table.csv"), Repair: true}
		m, _, err := importing.Import(t.Context(), order)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if m.Unusable != nil {
			unusable += m.Unusable.Episodes
			if len(m.Unusable.First) == 0 || !strings.HasPrefix(m.Unusable.First[0], "raw.csv:") {
				t.Errorf("%+v", m.Unusable)
			}
		}
		for range questions {
			o := trajectory.Options{Repair: true, Unit: unit, Missing: trajectory.Missing(r.IntN(2)), Optional: trajectory.Parts(r.IntN(64)), End: trajectory.End(r.IntN(3)),
				Horizon: r.IntN(4), EpisodesPerPerson: r.IntN(3), EpisodeDecisions: r.IntN(3), Observations: []string{}}
			for _, name := range []string{"sex", "obs_x", "obs_y"} {
				// Of next observations one that is bad makes all unknown.
				if o.Optional&trajectory.Final != 0 || r.IntN(2) == 0 {
					o.Observations = append(o.Observations, name)
					if r.IntN(2) == 0 {
						o.Whole = append(o.Whole, name)
					}
				}
			}
			of := o
			of.Steps = steps
			of.Columns = map[string]string{"action": "arm", "unit_id": "patient"}
			of.Encode = map[string]trajectory.Vocabulary{"action": {Words: []string{"placebo", "drug"}}, "sex": {Words: []string{"f", "m"}}}
			if !named {
				delete(of.Columns, "unit_id")
			}
			want, _, wantErr := file.Read(t.Context(), []string{path}, "", of)
			for _, made := range []string{table, order.CSV} {
				got, _, err := file.Read(t.Context(), []string{made}, "", o)
				if errors.Is(wantErr, trajectory.ErrInput) && o.Missing == trajectory.MissingReject {
					continue // a missing observation, which may be of a word, and is then unusable in the table
				}
				if wantErr != nil || err != nil {
					t.Fatalf("seed %d, %+v:\nof the data %v\nof %s %v", seed, o, wantErr, filepath.Base(made), err)
				}
				compared++
				by := cmpopts.IgnoreFields(trajectory.Dataset{}, "Origin", "FirstRow")
				if o.Optional&trajectory.Final == 0 { // which nobody asks for
					by = cmpopts.IgnoreFields(trajectory.Dataset{}, "Origin", "FirstRow", "Final", "HasFinal")
				}
				if diff := cmp.Diff(inOrder(want), inOrder(got), by, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("seed %d, %+v, %s:\n%s", seed, o, filepath.Base(made), diff)
				}
			}
		}
	}
	if uint64(unusable) < 3*seeds || compared < int(seeds)*questions/2 {
		t.Errorf("%d episodes were unusable, and %d tables compared; want more", unusable, compared)
	}
}

func inOrder(d *trajectory.Dataset) *trajectory.Dataset {
	all := make([]int, d.Persons())
	for i := range all {
		all[i] = i
	}
	slices.SortFunc(all, func(a, b int) int { return strings.Compare(d.PersonID[a], d.PersonID[b]) })
	return d.Take(all)
}
