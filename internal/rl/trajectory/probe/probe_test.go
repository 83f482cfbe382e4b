package probe_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/trajectory/probe"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// questions are what configurations ask of a reader.
func questions() map[string]trajectory.Options {
	repair := trajectory.Options{Observations: []string{"obs_state"}, Need: trajectory.Action | trajectory.BehaviorProb, Optional: trajectory.Final, Unit: trajectory.UnitPerson,
		Missing: trajectory.MissingZero, Reward: &trajectory.Range{Min: -1, Max: 2}, ClipRewards: true, Repair: true, Horizon: 5, EpisodesPerPerson: 2}
	complete := trajectory.Options{Observations: []string{}, Need: trajectory.Action, Unit: trajectory.UnitPerson, Reward: &trajectory.Range{Max: 1}, Horizon: 8, Complete: true}
	words := repair
	words.Columns = map[string]string{"action": "arm", "step": "day", "obs_sex": "sex"}
	words.Encode = map[string]trajectory.Vocabulary{"action": {Words: []string{"placebo", "treated"}}, "obs_sex": {Words: []string{"f", "m"}, OneHot: true}}
	words.Observations, words.Optional, words.Need, words.Steps.Date = []string{"obs_sex_f", "obs_sex_m", "obs_age"}, 0, trajectory.Action, "%Y-%m-%d"
	rows := repair
	rows.OneRowEpisodes, rows.Unit, rows.Optional, rows.EpisodesPerPerson = true, trajectory.UnitRow, 0, 0
	quoted := repair
	quoted.Multiline = true
	sorted := repair
	sorted.Steps = trajectory.Steps{Date: "iso", Sort: true}
	sorted.Joined = map[string][]string{"unit_id": {"who", "site"}, "episode_id": {"site", "who", "nr"}}
	cut := repair
	cut.Restart = true
	lists := repair
	lists.Rows = "log.rows"
	return map[string]trajectory.Options{"lists": lists, "sorted": sorted, "cut": cut, "quoted": quoted, "repair": repair, "complete": complete, "words": words, "rows": rows}
}

// tables are what configurations ask of tables as clinics have them.
func tables() map[string]trajectory.Options {
	repair, rows := questions()["repair"], questions()["rows"]
	last, empty := repair, repair
	last.RewardOnLast, empty.EmptyIsZero = true, true
	joined, survival := repair, rows
	joined.EpisodesPerPerson, joined.OutcomeFiles, joined.OutcomeBy, joined.OutcomeColumn = 1, []string{"elsewhere"}, "unit_id", "alive"
	survival.Unit, survival.Reward, survival.ClipRewards, survival.Columns = trajectory.UnitPerson, nil, false, map[string]string{"reward": trajectory.NoColumn}
	survival.OutcomeFiles, survival.OutcomeBy, survival.OutcomeColumn, survival.OutcomeEvent = []string{"elsewhere"}, "unit_id", "days", "status"
	survival.Encode = map[string]trajectory.Vocabulary{"status": {Words: []string{"left", "death"}}}
	categories := repair
	categories.Observations, categories.Missing, categories.Indicators = []string{"obs_age_missing", "obs_age", "ward", "sex_f", "sex_other"}, trajectory.MissingMean, true
	categories.Means = map[string]float64{"obs_age": 50, "sex_f": 0, "sex_other": 0}
	categories.Encode = map[string]trajectory.Vocabulary{"ward": {Words: []string{"a", "b", "other"}, Other: true}, "sex": {Words: []string{"f", "other"}, OneHot: true, Other: true}}
	byEpisode := joined
	byEpisode.EpisodesPerPerson, byEpisode.OutcomeBy = 2, "episode_id"
	listed, dead, alive := joined, 0.0, 1.0
	listed.OutcomeColumn, listed.OutcomePresent, listed.OutcomeAbsent = "", &dead, &alive
	return map[string]trajectory.Options{"joined": joined, "listed": listed, "joined by episode": byEpisode, "survival": survival, "categories": categories, "last reward": last, "empty rewards": empty}
}

// TestOthersAreReadAlike: of every question and format what is read of others does not
// depend on an odd record, and where records are repaired no value is a reason to refuse.
func TestOthersAreReadAlike(t *testing.T) {
	all := questions()
	maps.Copy(all, tables())
	for name, o := range all {
		formats, pairs := []string{"csv", "ndjson", "parquet"}, questionPairs
		if _, table := tables()[name]; table {
			formats, pairs = tableFormats, tablePairs
		}
		for _, format := range formats {
			if o.Multiline && format != "csv" || o.Rows != "" && format != "ndjson" {
				continue
			}
			t.Run(name+"/"+format, func(t *testing.T) {
				pairs := pairs
				if o.Arranges() {
					pairs = 80
				}
				r, err := probe.Reader(t.Context(), probe.Job{Format: format, Options: o, Pairs: pairs, Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%d of %d pairs alike, refused %v, self-test %v, %.2f s", r.Alike, r.Pairs, r.Refused, r.SelfTest, r.Seconds)
				if len(r.Broken) > 0 || r.Alike+r.Refusals() != r.Pairs || r.Repairs == o.Complete {
					t.Errorf("broken %q, %d alike and %d refused of %d, repairs %v", r.Broken, r.Alike, r.Refusals(), r.Pairs, r.Repairs)
				}
				if r.Alike < 15 || r.Decisions < 4*r.Alike || o.Complete && r.Refusals() < 20 {
					t.Errorf("%d pairs alike, %d decisions, %d refused: the comparison tells little", r.Alike, r.Decisions, r.Refusals())
				}
				if r.Stretches != (format == "csv" && o.Unit == trajectory.UnitPerson && !o.Arranges()) {
					t.Errorf("a file was read by stretches: %v", r.Stretches)
				}
				for _, p := range r.SelfTest {
					if !p.Found {
						t.Errorf("not found: %s", p.Mistake)
					}
				}
			})
		}
	}
}

func TestJobsAreChecked(t *testing.T) {
	never := func(*trajectory.Dataset) (*trajectory.Dataset, error) { return nil, errors.New("not at all") }
	for name, j := range map[string]probe.Job{
		"a format that is not written": {Format: "minari"},
		"nothing is accepted":          {Format: "csv", After: never},
	} {
		if _, err := probe.Reader(t.Context(), j); !errors.Is(err, probe.ErrJob) {
			t.Errorf("%s: %v; want ErrJob", name, err)
		}
	}
	if _, err := probe.Reader(t.Context(), probe.Job{Format: "csv", Options: trajectory.Options{Horizon: -1}}); !errors.Is(err, trajectory.ErrOptions) {
		t.Errorf("%v; want ErrOptions", err)
	}
}

func ExampleReader() {
	r, err := probe.Reader(context.Background(), probe.Job{Format: "csv", Options: trajectory.Options{
		Observations: []string{"obs_state"}, Unit: trajectory.UnitPerson, Missing: trajectory.MissingZero, Repair: true,
	}, Pairs: 100})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Pairs, "pairs, broken:", len(r.Broken))
	// Output: 100 pairs, broken: 0
}
