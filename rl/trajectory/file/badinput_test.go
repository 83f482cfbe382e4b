package file_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// put writes a file into a new directory and gives its path.
func put(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func everything() trajectory.Options { return trajectory.Options{Optional: trajectory.AllParts} }

func needs(p trajectory.Parts) func(*trajectory.Options) {
	return func(o *trajectory.Options) { o.Need = p }
}

// What is said of quotes that are not those of RFC 4180, by the line.
const (
	openQuote1 = ":1" + openQuote
	openQuote3 = ":3" + openQuote
	openQuote  = ": a quote is opened and not closed on its line; if the program that wrote the file puts texts in quotes and doubles the quotes inside, set data.multiline: true; if not, one person's text can swallow the records of others: write the file anew with quotes, or without the column of texts"
	bareQuote1 = ":1" + bareQuote
	bareQuote3 = ":3" + bareQuote
	bareQuote  = ": a field without quotes around it holds a quote; write the file anew with texts in quotes and the quotes inside doubled, or without the column of texts"
)

// Every way in which a CSV file can be wrong, and the words for it. Lines of
// the file are separated by "|" to keep a case on one line.
var badInput = []struct {
	name, text string
	options    func(*trajectory.Options)
	want       string // after the path
	kind       error
}{
	{"empty file", "", nil, ":1: the file is empty; write a header row and one row a decision", trajectory.ErrEmpty},
	{"blank file", "||", nil, ":3: the file is empty; write a header row and one row a decision", trajectory.ErrEmpty},
	{"header alone", "episode_id,reward|", nil, ": there is no row of data; check that this is the right file", trajectory.ErrEmpty},
	{"semicolons", "episode_id;reward|1;2|", nil, ": the header has one column, whose name holds a semicolon; if that separates the fields, name it in data.separator", trajectory.ErrFormat},
	{"CR alone", "episode_id,obs_x,reward\r1,SECRET7,3\r1,9,4\r", nil, ": the header holds a carriage return: lines that end in one alone are not told apart; end lines in LF or CRLF", trajectory.ErrFormat},
	{"UTF-16", "\xff\xfee\x00", nil, ": is UTF-16, or no text; save it anew as UTF-8", trajectory.ErrFormat},
	{"UTF-16 of whole lines", "\xff\xfea\x00,\x00b\x00\r\x00|\x001\x00", nil, ": is UTF-16, or no text; save it anew as UTF-8", trajectory.ErrFormat},
	{"UTF-16 without a mark", "a\x00,\x00b\x00|\x001\x00", nil, ": is UTF-16, or no text; save it anew as UTF-8", trajectory.ErrFormat},
	{"no episode", "step,reward|0,1|", nil, ": episode_id: the file has no such column; add the column, or map episode_id to the column that holds it (also known: trajectory_id, traj_id)", trajectory.ErrColumn},
	{"no reward", "episode_id|1|", nil, ": reward: the file has no such column; add the column, or map reward to the column that holds it (also known: click)", trajectory.ErrColumn},
	{"no action", "episode_id,reward|1,0|", needs(trajectory.Action), ": action: the file has no such column; add the column, or map action to the column that holds it (also known: item_id, actions)", trajectory.ErrColumn},
	{"no behaviour", "episode_id,reward|1,0|", needs(trajectory.BehaviorProb), ": behavior_prob: the file has no such column; add the column, or map behavior_prob to the column that holds it (also known: behaviour_prob, pscore, propensity_score, action_prob)", trajectory.ErrColumn},
	{"no target", "episode_id,reward|1,0|", needs(trajectory.TargetProb), ": target_prob: the file has no such column; add the column, or map target_prob to the column that holds it", trajectory.ErrColumn},
	{"no distribution", "episode_id,reward|1,0|", needs(trajectory.ActionProbs), ": action_probs: the file has neither this column nor prob_0, prob_1, ...; add them, or map action_probs to the column that holds it", trajectory.ErrColumn},
	{"two names", "episode_id,click,click|1,0,0|", nil, ": click: two columns have this name; rename or remove one", trajectory.ErrColumn},
	{"two aliases", "episode_id,reward,terminal,terminals|1,0,0,1|", nil, ": terminals: this column and terminal are both names for terminated; map terminated to one of them", trajectory.ErrColumn},
	{"mapping to nothing", "episode_id,reward|1,0|", func(o *trajectory.Options) { o.Columns = map[string]string{"action": "arm"} },
		": arm: the file has no such column, which the mapping names for action; correct the mapping", trajectory.ErrColumn},
	{"observation unknown", "episode_id,reward|1,0|", func(o *trajectory.Options) { o.Observations = []string{"obs_age"} },
		": obs_age: the file has no such observation column; correct the name, or map it to a column of the file", trajectory.ErrColumn},
	{"next incomplete", "episode_id,reward,obs_a,obs_b,next_obs_a|1,0,1,1,1|", nil, ": next_obs_b: the file has next observations, but not this one; add the column, or leave out the others", trajectory.ErrColumn},

	{"short row", "episode_id,reward,obs_a|1,0,1|1,0|", nil, ":3: the row has 2 fields and the header has 3; the file may be cut short, or a field with a comma lacks quotes", trajectory.ErrFormat},
	{"long row", "episode_id,reward,obs_a|1,0,1,7|", nil, ":2: the row has 4 fields and the header has 3; the file may be cut short, or a field with a comma lacks quotes", trajectory.ErrFormat},
	{"cut short", "episode_id,reward,obs_a|1,0,1|1,", nil, ":3: the row has 2 fields and the header has 3; the file may be cut short, or a field with a comma lacks quotes", trajectory.ErrFormat},
	{"open quote", "episode_id,reward,note|1,0,x|1,0,\"y|z", func(o *trajectory.Options) { o.Multiline = true }, ":3: a quote is opened and never closed; the file is cut short, or a quote inside a field is not doubled", trajectory.ErrFormat},
	{"open quote in the header", "episode_id,\"reward|1,0", func(o *trajectory.Options) { o.Multiline = true }, ":1: a quote is opened and never closed; the file is cut short, or a quote inside a field is not doubled", trajectory.ErrFormat},
	{"quote at the end", "episode_id,reward,note|1,0,\"", func(o *trajectory.Options) { o.Multiline = true }, ":2: a quote is opened and never closed; the file is cut short, or a quote inside a field is not doubled", trajectory.ErrFormat},
	{"open quote on a line", "episode_id,reward,note|1,0,x|1,0,\"y|z", nil, openQuote3, trajectory.ErrFormat},
	{"line end within quotes", "episode_id,reward,note|1,0,x|1,0,\"y|z\"", nil, openQuote3, trajectory.ErrFormat},
	{"two texts make a field", "episode_id,reward,note|1,0,x|2,0,\"tired|3,1,x|4,0,better\"|", nil, openQuote3, trajectory.ErrFormat},
	{"line end in the header", "episode_id,\"a|note\",reward|1,x,0", nil, openQuote1, trajectory.ErrFormat},
	{"bare quote", "episode_id,reward,note|1,0,x|1,0,6\" tall|", nil, bareQuote3, trajectory.ErrFormat},
	{"bare quote, multiline", "episode_id,reward,note|1,0,x|1,0,6\" tall|", func(o *trajectory.Options) { o.Multiline = true }, bareQuote3, trajectory.ErrFormat},
	{"bare quote in the header", "episode_id,rew\"ard|1,0", nil, bareQuote1, trajectory.ErrFormat},
	{"bare quote in a field that is read", "episode_id,reward|1,0|2,3\"|", nil, bareQuote3, trajectory.ErrFormat},
	{"text after quote", "episode_id,reward|\"1\"x,0|", nil, ":2: text follows a closing quote; double the quotes inside a quoted field", trajectory.ErrFormat},

	{"reward text", "episode_id,reward|1,secret|", nil, ":2: reward: is not a number; say in data.encode which number each word stands for, or write a decimal number such as -1.5e3, true or false, or leave a missing value empty (data.na lists other markers)", trajectory.ErrValue},
	{"observation text", "episode_id,obs_a,reward|1,\"1,5\",0|", nil, ":2: obs_a: has a decimal comma; write numbers with a point, such as -1.5e3", trajectory.ErrValue},
	{"reward NaN", "episode_id,reward|1,NaN|", nil, ":2: reward: is NaN or infinite; write missing values as empty (null), and numbers as finite ones", trajectory.ErrValue},
	{"observation infinite", "episode_id,obs_a,reward|1,-inf,0|", nil, ":2: obs_a: is NaN or infinite; write missing values as empty (null), and numbers as finite ones", trajectory.ErrValue},
	{"reward too large", "episode_id,reward|1,1e999|", nil, ":2: reward: is NaN or infinite; write missing values as empty (null), and numbers as finite ones", trajectory.ErrValue},
	{"episode missing", "episode_id,reward|1,0|,0|", nil, ":3: episode_id: is missing; give every row the id of its episode", trajectory.ErrValue},
	{"observation missing", "episode_id,obs_a,reward|1,,0|", nil, ":2: obs_a: is missing; fill it in, leave the column out, or say in data.missing what it becomes", trajectory.ErrValue},
	{"mean of no column", "episode_id,obs_a,reward|1,,0|", func(o *trajectory.Options) {
		o.Missing, o.Means = trajectory.MissingMean, map[string]float64{"obs_b": 1}
	}, ": obs_b: the file has no such column, and data.means has a number for it; correct the name (most like it: obs_a)", trajectory.ErrColumn},
	{"no mean", "episode_id,obs_a,obs_b,reward|1,,0,0|", func(o *trajectory.Options) {
		o.Missing, o.Means = trajectory.MissingMean, map[string]float64{"obs_b": 1}
	},
		":2: obs_a: is missing, and the column has no public mean; give the column's public mean", trajectory.ErrValue},
	{"reward missing in the middle", "episode_id,reward|1,0|1,|1,0|", nil, ":3: reward: is missing; give every decision its reward; only a last row without action may lack it", trajectory.ErrValue},
	{"reward missing for an action", "episode_id,action,reward|1,0,0|1,1,|", nil, ":3: reward: is missing; give every decision its reward; only a last row without action may lack it", trajectory.ErrValue},
	{"reward missing for an action nobody reads", "episode_id,action,reward|1,left,0|1,right,|", func(o *trajectory.Options) { o.Optional = 0 },
		":3: reward: is missing; give every decision its reward; only a last row without action may lack it", trajectory.ErrValue},
	{"no decision", "episode_id,action,reward|1,,|", nil, ":2: reward: is missing, and the episode has no decision before it; drop the row", trajectory.ErrEpisode},
	{"reward below", "episode_id,reward|1,-0.5|", func(o *trajectory.Options) { o.Reward = &trajectory.Range{Min: 0, Max: 1.5} },
		":2: reward: is outside the declared bounds [0, 1.5]; widen the bounds by public knowledge, or clip rewards (outside: clip)", trajectory.ErrValue},

	{"action missing", "episode_id,action,reward|1,,0|", nil, ":2: action: is missing; give every decision its action; only a last row without reward may lack it", trajectory.ErrValue},
	{"action negative", "episode_id,action,reward|1,-3,0|", nil, ":2: action: is negative; number the actions 0, 1, 2, ...", trajectory.ErrValue},
	{"action broken", "episode_id,action,reward|1,0.5,0|", nil, ":2: action: is not an integer; number the actions 0, 1, 2, ...; continuous actions are not supported", trajectory.ErrValue},
	{"action huge", "episode_id,action,reward|1,3000000000,0|", nil, ":2: action: is not below the number of actions; number the actions 0, 1, 2, ..., with a probability for each", trajectory.ErrValue},
	{"action beyond", "episode_id,action,prob_0,prob_1,reward|1,2,0.5,0.5,0|", nil, ":2: action: is not below the number of actions; number the actions 0, 1, 2, ..., with a probability for each", trajectory.ErrValue},

	{"behaviour zero", "episode_id,behavior_prob,reward|1,0,0|", nil, ":2: behavior_prob: is zero for the logged action; importance ratios are undefined; drop the person or mend the log", trajectory.ErrValue},
	{"behaviour above one", "episode_id,pscore,reward|1,1.01,0|", nil, ":2: pscore: is above 1 and no probability: are these percentages?; divide percentages by 100 in the file, or mend the log; densities of continuous actions are another kind (density)", trajectory.ErrValue},
	{"behaviour needed", "episode_id,behavior_prob,reward|1,,0|", needs(trajectory.BehaviorProb), ":2: behavior_prob: is missing; fill it in; a column that is read has a value in every row", trajectory.ErrValue},
	{"target negative", "episode_id,target_prob,reward|1,-0.1,0|", nil, ":2: target_prob: is not a probability; probabilities lie between 0 and 1; mend the log", trajectory.ErrValue},
	{"distribution sum", "episode_id,prob_0,prob_1,reward|1,0.5,0.500002,0|", nil, ":2: prob_0: the probabilities of the actions do not add up to 1 within 1e-6; mend the log", trajectory.ErrValue},
	{"distribution entry", "episode_id,prob_0,prob_1,reward|1,1.5,-0.5,0|", nil, ":2: prob_0: is above 1 and no probability: are these percentages?; divide percentages by 100 in the file, or mend the log", trajectory.ErrValue},
	{"distribution needed", "episode_id,prob_0,prob_1,reward|1,1,,0|", needs(trajectory.ActionProbs), ":2: prob_1: is missing; fill it in; a column that is read has a value in every row", trajectory.ErrValue},
	{"distribution against behaviour", "episode_id,action,behavior_prob,prob_0,prob_1,reward|1,1,0.25,0.25,0.75,0|", nil,
		":2: behavior_prob: differs from the logged action's entry in the probabilities of the actions; mend the log, or leave out one of the two", trajectory.ErrValue},
	{"discount", "episode_id,reward,discount|1,0,1.5|", nil, ":2: discount: is not between 0 and 1; write the factor by which the next value is discounted", trajectory.ErrValue},

	{"step starts at one", "episode_id,step,reward|1,1,0|", nil, ":2: step: the episode does not start at step 0; sort the rows by episode and step (data.steps: {sort: true} does it), and number the decisions of an episode 0, 1, 2, ..., or say in data.steps where they start, such as {from: 1}", trajectory.ErrEpisode},
	{"step gap", "episode_id,step,reward|1,0,0|1,2,0|", nil, ":3: step: is not one more than the step before; sort the rows by episode and step (data.steps: {sort: true} does it), and leave no gap; or set data.steps: {kind: ordered} if it is a day or a time", trajectory.ErrEpisode},
	{"step disorder", "episode_id,t,reward|1,0,0|1,1,0|1,1,0|", nil, ":4: t: repeats the step before (a duplicate row?); drop what was written twice, or number the steps; or set data.steps: {kind: ordered} if it is a day or a time", trajectory.ErrEpisode},
	{"step missing", "episode_id,step,reward|1,,0|", nil, ":2: step: is missing; number the decisions of an episode 0, 1, 2, ...", trajectory.ErrValue},
	{"step broken", "episode_id,step,reward|1,0.5,0|", nil, ":2: step: is not an integer; number the decisions of an episode 0, 1, 2, ..., or set data.steps: {kind: ordered} if it is a day or a time", trajectory.ErrValue},
	{"episode comes back", "episode_id,reward|a,0|b,0|a,0|", nil, ":4: episode_id: an earlier episode has this id; sort the rows by episode and step (data.steps: {sort: true} does it), keep an episode in one file, and give episodes of different persons or files different ids", trajectory.ErrEpisode},
	{"person changes", "episode_id,unit_id,reward|1,x,0|1,y,0|", nil, ":3: unit_id: changes within an episode; give all rows of an episode to one person", trajectory.ErrEpisode},
	{"person vanishes", "episode_id,unit_id,reward|1,x,0|1,,0|", nil, ":3: unit_id: is missing; give every row the id of its person", trajectory.ErrValue},
	{"terminated early", "episode_id,reward,terminated|1,0,true|1,0,false|", nil, ":2: terminated: is true before the last row of the episode; give what follows its own episode_id, or mend the flag", trajectory.ErrEpisode},
	{"truncated early", "episode_id,reward,truncated|1,0,1|1,0,0|", nil, ":2: truncated: is true before the last row of the episode; give what follows its own episode_id, or mend the flag", trajectory.ErrEpisode},
	{"flag missing", "episode_id,reward,terminated|1,0,|", nil, ":2: terminated: is missing; write true or false", trajectory.ErrValue},
	{"flag unclear", "episode_id,reward,terminated|1,0,2|", nil, ":2: terminated: is neither true nor false; write true, false, 1 or 0", trajectory.ErrValue},
	{"flag text", "episode_id,reward,terminated|1,0,yes|", nil, ":2: terminated: is not a number; say in data.encode which words mean true and which false, or write a decimal number such as -1.5e3, true or false, or leave a missing value empty (data.na lists other markers)", trajectory.ErrValue},
	{"next differs", "episode_id,obs_a,reward,next_obs_a|1,1,0,2|1,3,0,4|", nil, ":2: next_obs_a: differs from the observation of the next row; mend the log, or leave the column out", trajectory.ErrEpisode},
	{"next half missing", "episode_id,obs_a,obs_b,reward,next_obs_a,next_obs_b|1,1,1,0,2,|", nil, ":2: next_obs_b: is missing; fill it in, leave the column out, or say in data.missing what it becomes", trajectory.ErrValue},
	{"final needed", "episode_id,obs_a,reward,truncated|1,1,0,0|1,1,0,1|", needs(trajectory.Final), ":3: the episode is truncated here, and the observation after it is unknown; add next_obs columns, or a last row with the observation and neither action nor reward", trajectory.ErrEpisode},
	{"first fault first", "episode_id,obs_a,reward,behavior_prob|1,1,0,0.5|1,1,0,0|1,,0,1|1,1,x,1|", nil, ":3: behavior_prob: is zero for the logged action; importance ratios are undefined; drop the person or mend the log", trajectory.ErrValue},
	{"lines within quotes", "episode_id,note,reward|1,\"a|b\",0|1,c,x|", func(o *trajectory.Options) { o.Multiline = true }, ":4: reward: is not a number; say in data.encode which number each word stands for, or write a decimal number such as -1.5e3, true or false, or leave a missing value empty (data.na lists other markers)", trajectory.ErrValue},
	{"bandit reward missing", "reward,item_id|1,1|,1|", func(o *trajectory.Options) { o.OneRowEpisodes = true },
		":3: reward: is missing; give every decision its reward; only a last row without action may lack it", trajectory.ErrValue},
}

func TestBadInputIsNamed(t *testing.T) {
	for _, c := range badInput {
		t.Run(c.name, func(t *testing.T) {
			o := everything()
			if c.options != nil {
				c.options(&o)
			}
			path := put(t, "log.csv", strings.ReplaceAll(c.text, "|", "\n"))
			_, _, err := file.Read(context.Background(), []string{path}, "", o)
			if err == nil {
				t.Fatal("no error")
			}
			if got := strings.TrimPrefix(err.Error(), path); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			var input *trajectory.InputError
			if !errors.Is(err, trajectory.ErrInput) || !errors.Is(err, c.kind) || !errors.As(err, &input) || input.File != path {
				t.Errorf("%#v wraps neither %v nor %v", err, trajectory.ErrInput, c.kind)
			}
			if _, err2 := file.Validate(context.Background(), []string{path}, "csv", o); err2 == nil || err2.Error() != err.Error() {
				t.Errorf("Validate says %v", err2)
			}
		})
	}
}

func TestBadFilesAreNamed(t *testing.T) {
	dir := t.TempDir()
	good := put(t, "a.csv", "episode_id,obs_a,reward\n1,1,1\n")
	for _, c := range []struct {
		name   string
		paths  []string
		format string
		want   string
		kind   error
	}{
		{"no file", []string{dir + "/none.csv"}, "", "stat " + dir + "/none.csv: no such file or directory", os.ErrNotExist},
		{"no match", []string{dir + "/*.csv"}, "", dir + "/*.csv: no file matches; correct the pattern", trajectory.ErrEmpty},
		{"directory", []string{dir}, "csv", "not a directory of data: " + dir + " holds no file of data", source.ErrDirectory},
		{"extension", []string{put(t, "x.xls", "x")}, "", "", file.ErrFormat},
		{"format", []string{good}, "excel", "unknown file format: excel; choose one of " + strings.Join(file.Names(), ", "), file.ErrFormat},
		{"two formats", []string{good, put(t, "b.parquet", "")}, "", "", file.ErrFormat},
		{"columns differ", []string{good, put(t, "b.csv", "episode_id,obs_b,reward\n2,1,1\n")}, "", "", trajectory.ErrColumn},
		{"parts differ", []string{good, put(t, "b.csv", "episode_id,obs_a,reward,action\n2,1,1,1\n")}, "", "", trajectory.ErrColumn},
		{"units differ", []string{good, put(t, "b.csv", "episode_id,obs_a,reward,unit_id\n2,1,1,1\n")}, "", "", trajectory.ErrColumn},
		{"episode in two files", []string{good, put(t, "b.csv", "episode_id,obs_a,reward\n1,1,1\n")}, "", "", trajectory.ErrEpisode},
		{"not gzip", []string{put(t, "b.csv.gz", "episode_id,obs_a,reward\n1,1,1\n")}, "", "", trajectory.ErrFormat},
		{"none", nil, "csv", "no file to read; name one", trajectory.ErrEmpty},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := file.Read(context.Background(), c.paths, c.format, everything())
			if err == nil || c.want != "" && err.Error() != c.want || !errors.Is(err, c.kind) {
				t.Errorf("got %v, want %s, %v", err, c.want, c.kind)
			}
		})
	}
}
