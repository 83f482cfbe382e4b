package ingest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

func needs(p trajectory.Parts) func(*trajectory.Options) {
	return func(o *trajectory.Options) { o.Need = p }
}

func says(name string, v trajectory.Vocabulary) func(*trajectory.Options) {
	return func(o *trajectory.Options) { o.Encode = map[string]trajectory.Vocabulary{name: v} }
}

func ordered(o *trajectory.Options) { o.Steps.Ordered = true }

const (
	outside     = "is not in the column's vocabulary; add the value where the column's are listed (data.actions, data.encode, data.outcome, by) if it is one that may occur, or mend the row"
	notFinite   = "is NaN or infinite; write missing values as empty (null), and numbers as finite ones"
	inEveryRow  = "is missing; fill it in; a column that is read has a value in every row"
	stepMissing = "number the decisions of an episode 0, 1, 2, ..."
	unlike      = "; give all files the same columns, or read them apart"
	gap         = "is missing; fill it in, leave the column out, or say in data.missing what it becomes"
)

// What is wrong in a row is said with the file and the row, whatever the size of
// the batches: the faults stand in a row of their own batch and in the middle of
// one.
func TestFaultsOfRows(t *testing.T) {
	for _, c := range []struct {
		name, header string
		rows         string // of file b, lines separated by "|"
		change       func(*trajectory.Options)
		want         string
		kind         error
	}{
		{"episode missing", "episode_id,reward", "e,1|,1", nil, "2: episode_id: is missing; give every row the id of its episode", trajectory.ErrValue},
		{"episode comes back", "episode_id,reward", "e,1|f,1|e,1", nil, "3: episode_id: an earlier episode has this id; sort the rows by episode and step (data.steps: {sort: true} does it), keep an episode in one file, and give episodes of different persons or files different ids", trajectory.ErrEpisode},
		{"unit missing", "episode_id,unit_id,reward", "e,u,1|f,,1", nil, "2: unit_id: is missing; give every row the id of its person", trajectory.ErrValue},
		{"step missing", "episode_id,step,reward", "e,0,1|e,,1", nil, "2: step: is missing; " + stepMissing, trajectory.ErrValue},
		{"step broken", "episode_id,step,reward", "e,0,1|e,1.5,1", nil, "2: step: is not an integer; " + stepMissing + ", or set data.steps: {kind: ordered} if it is a day or a time", trajectory.ErrValue},
		{"step late", "episode_id,t,reward", "e,1,1", nil, "1: t: the episode does not start at step 0; sort the rows by episode and step (data.steps: {sort: true} does it), and number the decisions of an episode 0, 1, 2, ..., or say in data.steps where they start, such as {from: 1}", trajectory.ErrEpisode},
		{"step gap", "episode_id,step,reward", "e,0,1|e,1,1|e,3,1", nil, "3: step: is not one more than the step before; sort the rows by episode and step (data.steps: {sort: true} does it), and leave no gap; or set data.steps: {kind: ordered} if it is a day or a time", trajectory.ErrEpisode},
		{"reward missing", "episode_id,action,reward", "e,0,1|e,0,", nil, "2: reward: is missing; give every decision its reward; only a last row without action may lack it", trajectory.ErrValue},
		{"reward missing for an action nobody reads", "episode_id,action,reward", "e,0,1|e,0,", func(o *trajectory.Options) { o.Optional = 0 }, "2: reward: is missing; give every decision its reward; only a last row without action may lack it", trajectory.ErrValue},
		{"reward not finite", "episode_id,reward", "e,1|e,NaN", nil, "2: reward: " + notFinite, trajectory.ErrValue},
		{"reward outside", "episode_id,reward", "e,1|e,-0.5", func(o *trajectory.Options) { o.Reward = &trajectory.Range{Max: 1.5} }, "2: reward: is outside the declared bounds [0, 1.5]; widen the bounds by public knowledge, or clip rewards (outside: clip)", trajectory.ErrValue},
		{"no decision", "episode_id,action,reward", "e,0,1|f,,", nil, "2: reward: is missing, and the episode has no decision before it; drop the row", trajectory.ErrEpisode},
		{"observation missing", "episode_id,obs_x,obs_y,reward", "e,1,1,1|e,1,,1", nil, "2: obs_y: " + gap, trajectory.ErrValue},
		{"observation not finite", "episode_id,obs_x,reward", "e,1,1|e,Inf,1", func(o *trajectory.Options) { o.Missing = trajectory.MissingZero }, "2: obs_x: " + notFinite, trajectory.ErrValue},
		{"observation without mean", "episode_id,obs_x,obs_y,reward", "e,1,1,1|e,,1,1", func(o *trajectory.Options) {
			o.Missing, o.Means = trajectory.MissingMean, map[string]float64{"obs_y": 1}
		}, "2: obs_x: is missing, and the column has no public mean; give the column's public mean", trajectory.ErrValue},
		{"last observation missing", "episode_id,obs_x,action,reward", "e,1,0,1|e,,,", nil, "2: obs_x: " + gap, trajectory.ErrValue},
		{"last flag", "episode_id,obs_x,action,reward,terminated", "e,1,0,1,0|e,1,,,2", nil, "2: terminated: is neither true nor false; write true, false, 1 or 0", trajectory.ErrValue},
		{"action missing", "episode_id,action,reward", "e,0,1|e,,1", nil, "2: action: is missing; give every decision its action; only a last row without reward may lack it", trajectory.ErrValue},
		{"action not finite", "episode_id,action,reward", "e,0,1|e,NaN,1", nil, "2: action: " + notFinite, trajectory.ErrValue},
		{"action broken", "episode_id,action,reward", "e,0,1|e,0.5,1", nil, "2: action: is not an integer; number the actions 0, 1, 2, ...; continuous actions are not supported", trajectory.ErrValue},
		{"action negative", "episode_id,action,reward", "e,0,1|e,-1,1", nil, "2: action: is negative; number the actions 0, 1, 2, ...", trajectory.ErrValue},
		{"action beyond", "episode_id,action,prob_0,prob_1,reward", "e,0,1,0,1|e,2,1,0,1", nil, "2: action: is not below the number of actions; number the actions 0, 1, 2, ..., with a probability for each", trajectory.ErrValue},
		{"behaviour missing", "episode_id,behavior_prob,reward", "e,1,1|e,,1", nil, "2: behavior_prob: " + inEveryRow, trajectory.ErrValue},
		{"behaviour zero", "episode_id,behavior_prob,reward", "e,1,1|e,0,1", nil, "2: behavior_prob: is zero for the logged action; importance ratios are undefined; drop the person or mend the log", trajectory.ErrValue},
		{"behaviour not finite", "episode_id,behavior_prob,reward", "e,1,1|e,Inf,1", nil, "2: behavior_prob: " + notFinite, trajectory.ErrValue},
		{"behaviour above one", "episode_id,pscore,reward", "e,1,1|e,1.5,1", nil, "2: pscore: is above 1 and no probability: are these percentages?; divide percentages by 100 in the file, or mend the log; densities of continuous actions are another kind (density)", trajectory.ErrValue},
		{"target negative", "episode_id,target_prob,reward", "e,0,1|e,-1,1", nil, "2: target_prob: is not a probability; probabilities lie between 0 and 1; mend the log", trajectory.ErrValue},
		{"distribution missing", "episode_id,prob_0,prob_1,reward", "e,1,0,1|e,1,,1", nil, "2: prob_1: " + inEveryRow, trajectory.ErrValue},
		{"distribution not finite", "episode_id,prob_0,prob_1,reward", "e,1,0,1|e,1,NaN,1", nil, "2: prob_1: " + notFinite, trajectory.ErrValue},
		{"distribution entry", "episode_id,prob_0,prob_1,reward", "e,1,0,1|e,1.5,-0.5,1", nil, "2: prob_0: is above 1 and no probability: are these percentages?; divide percentages by 100 in the file, or mend the log", trajectory.ErrValue},
		{"distribution sum", "episode_id,prob_0,prob_1,reward", "e,1,0,1|e,0.5,0.50001,1", nil, "2: prob_0: the probabilities of the actions do not add up to 1 within 1e-6; mend the log", trajectory.ErrValue},
		{"distribution against behaviour", "episode_id,action,behavior_prob,prob_0,prob_1,reward", "e,0,1,1,0,1|e,1,0.25,0.25,0.75,1", nil, "2: behavior_prob: differs from the logged action's entry in the probabilities of the actions; mend the log, or leave out one of the two", trajectory.ErrValue},
		{"discount above one", "episode_id,reward,discount", "e,1,1|e,1,1.5", nil, "2: discount: is not between 0 and 1; write the factor by which the next value is discounted", trajectory.ErrValue},
		{"discount missing", "episode_id,reward,discount", "e,1,1|e,1,", nil, "2: discount: " + inEveryRow, trajectory.ErrValue},
		{"discount not finite", "episode_id,reward,discount", "e,1,1|e,1,NaN", nil, "2: discount: " + notFinite, trajectory.ErrValue},
		{"flag missing", "episode_id,reward,terminated", "e,1,0|e,1,", nil, "2: terminated: is missing; write true or false", trajectory.ErrValue},
		{"flag unclear", "episode_id,reward,truncated", "e,1,0|e,1,2", nil, "2: truncated: is neither true nor false; write true, false, 1 or 0", trajectory.ErrValue},
		{"terminated early", "episode_id,reward,terminated", "e,1,0|e,1,1|e,1,0", nil, "2: terminated: is true before the last row of the episode; give what follows its own episode_id, or mend the flag", trajectory.ErrEpisode},
		{"truncated early", "episode_id,reward,truncated", "e,1,0|e,1,1|e,1,0", nil, "2: truncated: is true before the last row of the episode; give what follows its own episode_id, or mend the flag", trajectory.ErrEpisode},
		{"last next observation half missing", "episode_id,obs_x,obs_y,reward,next_obs_x,next_obs_y", "e,1,1,1,2,2|e,2,2,1,3,", nil, "2: next_obs_y: " + gap, trajectory.ErrValue},
		{"earlier of two faults", "episode_id,obs_x,reward,discount", "e,1,1,1|e,1,1,2|e,,1,1", nil, "2: discount: is not between 0 and 1; write the factor by which the next value is discounted", trajectory.ErrValue},
		{"word outside", "episode_id,action,reward", "e,b,1|e,B,1", says("action", trajectory.Vocabulary{Words: []string{"a", "b"}}), "2: action: " + outside, trajectory.ErrValue},
		{"number outside", "episode_id,obs_x,reward", "e,2,1|e,2.5,1", says("x", trajectory.Vocabulary{Words: []string{"1", "2"}, Numeric: true}), "2: obs_x: " + outside, trajectory.ErrValue},
		{"word outside, by columns", "episode_id,obs_x,reward", "e,a,1|e,c,1", says("obs_x", trajectory.Vocabulary{Words: []string{"a", "b"}, OneHot: true}), "2: obs_x: " + outside, trajectory.ErrValue},
		{"reward's word outside", "episode_id,reward", "e,a|e,c", says("reward", trajectory.Vocabulary{Words: []string{"a", "b"}}), "2: reward: " + outside, trajectory.ErrValue},
		{"flag's word outside", "episode_id,reward,terminated", "e,1,no|e,1,maybe", says("terminated", trajectory.Vocabulary{Words: []string{"no", "yes"}}), "2: terminated: " + outside, trajectory.ErrValue},
		{"word missing", "episode_id,action,reward", "e,b,1|e,,1", says("action", trajectory.Vocabulary{Words: []string{"a", "b"}}), "2: action: is missing; give every decision its action; only a last row without reward may lack it", trajectory.ErrValue},
		{"two on one day", "episode_id,step,reward", "e,3,1|e,3,1", ordered, "2: step: is that of the row before (a duplicate row?), so that the order of the two is not known; drop what was written twice, tell the two apart, by the time of day perhaps, or make one decision of them; where their order says nothing, let the rows of an episode stand together, and map no step", trajectory.ErrEpisode},
		{"a day before", "episode_id,step,reward", "e,3,1|e,4,1|e,3.5,1", ordered, "3: step: is below that of the row before; sort the rows by episode and step (data.steps: {sort: true} does it)", trajectory.ErrEpisode},
		{"last observation of a day before", "episode_id,step,obs_x,reward,action", "e,3,1,1,0|e,4,1,1,0|e,3.5,1,,", ordered, "3: step: is below that of the row before; sort the rows by episode and step (data.steps: {sort: true} does it)", trajectory.ErrEpisode},
		{"day missing", "episode_id,step,reward", "e,3,1|e,,1", ordered, "2: step: is missing; fill it in: it orders the rows of an episode", trajectory.ErrValue},
		{"no date", "episode_id,step,reward", "e,2024-01-30,1|e,2024-01-32,1", func(o *trajectory.Options) { o.Steps.Date = "%Y-%m-%d" }, "2: step: is not a date of the form %Y-%m-%d; correct the form (data.steps.format, such as \"%d.%m.%Y %H:%M\"), or the row", trajectory.ErrValue},
		{"step not from one", "episode_id,step,reward", "e,1,1|f,0,1", func(o *trajectory.Options) { o.Steps.From = 1 }, "2: step: the episode does not start at step 1; sort the rows by episode and step (data.steps: {sort: true} does it), and number the decisions of an episode 1, 2, 3, ..., or say in data.steps where they start, such as {from: 1}", trajectory.ErrEpisode},
		{"person missing", "unit_id,reward", "u,1|,1", func(o *trajectory.Options) { o.EpisodePerPerson = true }, "2: unit_id: is missing; give every row the id of its person", trajectory.ErrValue},
		{"person apart", "unit_id,reward", "u,1|v,1|u,1", func(o *trajectory.Options) { o.EpisodePerPerson = true }, "3: unit_id: an earlier episode has this id; with data.episode_per_person the rows of a person stand together in one file: sort the rows by person and step (data.steps: {sort: true} does it, by a column that is mapped to step); if a person has several episodes, map episode_id instead", trajectory.ErrEpisode},
		{"bandit's reward missing", "reward,action", "1,0|,0", func(o *trajectory.Options) { o.OneRowEpisodes = true }, "2: reward: is missing; give every decision its reward; only a last row without action may lack it", trajectory.ErrValue},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := everything()
			if c.change != nil {
				c.change(&o)
			}
			text := c.header + "\n" + strings.ReplaceAll(c.rows, "|", "\n")
			for batch := 1; batch <= 4; batch++ {
				_, err := read(t, o, batch, c.header, text)
				wantError(t, err, "b:"+c.want, c.kind)
				var at *trajectory.InputError
				if !errors.As(err, &at) || at.File != "b" || at.Row == 0 {
					t.Errorf("%+v", at)
				}
			}
		})
	}
}

// Faults that can be told apart only where the rows lie in one batch, or in two:
// both ways they are refused.
func TestFaultsAtTheEndOfABatch(t *testing.T) {
	for _, c := range []struct {
		name, text string
		batch      int
		want       string
	}{
		{"reward missing before the end, one batch", "episode_id,action,reward\ne,0,1\ne,,\ne,0,1", 3,
			"a:2: action: is missing; give every decision its action; only a last row without reward may lack it"},
		{"reward missing before the end, two", "episode_id,action,reward\ne,0,1\ne,,\ne,0,1", 2,
			"a:2: reward: is missing before the last row of the episode; give every decision its reward"},
		{"next observation differs, one batch", "episode_id,obs_x,reward,next_obs_x\ne,1,1,2\ne,3,1,4", 2,
			"a:1: next_obs_x: differs from the observation of the next row; mend the log, or leave the column out"},
		{"next observation differs, two", "episode_id,obs_x,reward,next_obs_x\ne,1,1,2\ne,3,1,4", 1,
			"a:2: next_obs_x: differs from the observation of the next row; mend the log, or leave the column out"},
		{"next observation not finite", "episode_id,obs_x,reward,next_obs_x\ne,1,1,NaN\ne,3,1,4", 2, "a:1: next_obs_x: " + notFinite},
	} {
		_, err := read(t, everything(), c.batch, c.text)
		if err == nil || err.Error() != c.want || !errors.Is(err, trajectory.ErrInput) {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

// What is wrong with the columns is said before the first row is read.
func TestFaultsOfColumns(t *testing.T) {
	for _, c := range []struct {
		name, text string
		change     func(*trajectory.Options)
		want       string
	}{
		{"no episode", "reward\n1", nil, "episode_id: the file has no such column; add the column, or map episode_id to the column that holds it (also known: trajectory_id, traj_id)"},
		{"no reward", "episode_id\n1", nil, "reward: the file has no such column; add the column, or map reward to the column that holds it (also known: click)"},
		{"no discount", "episode_id,reward\n1,1", needs(trajectory.Discount), "discount: the file has no such column; add the column, or map discount to the column that holds it"},
		{"no distribution", "episode_id,reward\n1,1", needs(trajectory.ActionProbs), "action_probs: the file has neither this column nor prob_0, prob_1, ...; add them, or map action_probs to the column that holds it"},
		{"no person", "episode_id,reward\n1,1", func(o *trajectory.Options) { o.Unit = trajectory.UnitPerson }, "unit_id: the file has no such column, and a person may own several episodes; map unit_id to the column that names the person (also known: patient_id, subject_id, user_id, customer_id, device_id); or, if what is to be protected is a single episode, set privacy.unit: episode (row for one-row episodes)"},
		{"one name twice", "episode_id,reward,reward\n1,1,1", nil, "reward: two columns have this name; rename or remove one"},
		{"two names of one", "episode_id,reward,terminal,terminals\n1,1,1,1", nil, "terminals: this column and terminal are both names for terminated; map terminated to one of them"},
		{"two names of the episode", "traj_id,trajectory_id,reward\n1,1,1", nil, "traj_id: this column and trajectory_id are both names for episode_id; map episode_id to one of them"},
		{"two names of the step", "episode_id,t,visit,reward\n1,0,0,1", nil, "visit: this column and t are both names for step; map step to one of them"},
		{"two names of the person", "episode_id,user_id,patient_id,reward\n1,0,0,1", nil, "user_id: this column and patient_id are both names for unit_id; map unit_id to one of them"},
		{"two names of the action", "episode_id,item_id,actions,reward\n1,0,0,1", nil, "actions: this column and item_id are both names for action; map action to one of them"},
		{"mapping to nothing", "episode_id,reward\n1,1", func(o *trajectory.Options) { o.Columns = map[string]string{"action": "arm"} }, "arm: the file has no such column, which the mapping names for action; correct the mapping"},
		{"no reward of that name", "episode_id,reward\n1,1", func(o *trajectory.Options) { o.Columns = map[string]string{"reward": "days"} }, "days: the file has no such column, which data.columns.reward, data.outcome.column or data.outcome.time names; correct the mapping"},
		{"observation unknown", "episode_id,reward\n1,1", func(o *trajectory.Options) { o.Observations = []string{"age"} }, "age: the file has no such observation column; correct the name, or map it to a column of the file"},
		{"list and columns", "episode_id,observation[],obs_x,reward\n1,1|2,1,1", nil, "observation: the file has this column and obs_ columns; name the observation columns that are wanted"},
		{"list for one number", "episode_id,reward[]\n1,1|2", nil, "reward: holds lists, where one number a row is wanted; split it into columns"},
		{"empty list", "episode_id,observation[],reward\n1,,1", nil, "observation: its first list is empty; give every row a list of the same length"},
		{"list too long", "episode_id,observation[],reward\n1,1" + strings.Repeat("|1", 1<<20) + ",1", nil, "observation: its lists are longer than 1048576; reduce the dimension first"},
		{"distribution as a number", "episode_id,action_probs,reward\n1,1,1", nil, "action_probs: holds one number a row, not a list; write one column prob_<k> an action"},
		{"next observation lacking", "episode_id,obs_x,obs_y,reward,next_obs_x\n1,1,1,1,1", nil, "next_obs_y: the file has next observations, but not this one; add the column, or leave out the others"},
		{"next list of another length", "episode_id,observation[],reward,next_observation[]\n1,1|2,1,1|2|3", nil, "next_observation: its lists are not as long as those of the observations; make them equal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := everything()
			if c.change != nil {
				c.change(&o)
			}
			_, err := read(t, o, 1, c.text)
			wantError(t, err, "a: "+c.want, trajectory.ErrColumn)
		})
	}
	_, err := read(t, everything(), 1, "episode_id,reward", "episode_id,reward")
	wantError(t, err, "b: there is no row of data; check that this is the right file", trajectory.ErrEmpty)
}

// Observations in another order are refused with what gives all files one.
func TestFilesOfAnotherOrder(t *testing.T) {
	const one, other = "episode_id,reward,obs_x,obs_y\n1,1,1,2", "episode_id,reward,obs_y,obs_x\n2,1,2,1"
	_, err := read(t, everything(), 1, one, other)
	wantError(t, err, "b: its observation columns stand in another order than in the files before it; list them in observations, whose order is then that of all files", trajectory.ErrColumn)
	o := everything()
	o.Observations = []string{"obs_x", "obs_y"}
	if got, err := read(t, o, 1, one, other); err != nil || !slices.Equal(got.data.Obs, []float64{1, 2, 1, 2}) {
		t.Errorf("listed columns: %v", err)
	}
}

// A file with columns other than the first one's is refused before its rows.
func TestFilesMustAgree(t *testing.T) {
	const full = "episode_id,unit_id,step,obs_x,action,behavior_prob,prob_0,prob_1,target_prob,reward,terminated,truncated,next_obs_x,discount"
	const row = "\n1,u,0,1,0,1,1,0,1,1,1,0,,1"
	for _, c := range []struct{ lacks, want string }{
		{"unit_id", "it lacks unit_id, or has it unlike the files before it"},
		{"step", "it lacks the column step, or has it unlike the files before it"},
		{"obs_x", "its observation columns differ from those of the files before it"},
		{"behavior_prob", "it lacks the column behavior_prob, or has it unlike the files before it"},
		{"prob_1", "its number of actions differs from that of the files before it"},
		{"target_prob", "it lacks the column target_prob, or has it unlike the files before it"},
		{"terminated", "it lacks the column terminated, or has it unlike the files before it"},
		{"truncated", "it lacks the column truncated, or has it unlike the files before it"},
		{"next_obs_x", "it lacks the column next_observation, or has it unlike the files before it"},
		{"discount", "it lacks the column discount, or has it unlike the files before it"},
		{"action", "it lacks the column action, or has it unlike the files before it"},
	} {
		t.Run(c.lacks, func(t *testing.T) {
			var header, cells []string
			old := strings.Split(strings.TrimSpace(row), ",")
			for i, name := range strings.Split(full, ",") {
				if name != c.lacks {
					header, cells = append(header, name), append(cells, old[i])
				}
			}
			cells[0] = "2"
			less := strings.Join(header, ",") + "\n" + strings.Join(cells, ",")
			_, err := read(t, everything(), 1, full+row, less)
			if c.lacks == "action" { // its presence is looked at as well
				if err == nil || !strings.HasPrefix(err.Error(), "b: it lacks the column action") {
					t.Errorf("%v", err)
				}
				return
			}
			wantError(t, err, "b: "+c.want+unlike, trajectory.ErrColumn)
			// And the other way round.
			if _, err = read(t, everything(), 1, less, full+row); !errors.Is(err, trajectory.ErrColumn) || !strings.HasPrefix(err.Error(), "b: ") {
				t.Errorf("more columns than the first file: %v", err)
			}
		})
	}
}
