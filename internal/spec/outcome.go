package spec

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// withOutcome writes out what data.outcome implies: the policy is the one that made the data if no other is asked for,
// time is not discounted and, where the time is a column, a row is all that there is of a person.
func withOutcome(c config.Config) (config.Config, error) {
	if err := validateJoin(c); err != nil {
		return c, err
	}
	o := survival(c)
	if o == nil {
		if m, err := evaluate.MethodNamed(c.Method.Name); err == nil && m.NeedArms {
			c = asDrawn(c)
		}
		return c, nil
	}
	c = asDrawn(c)
	if !fromColumns(o) {
		return c, nil
	}
	switch {
	case o.Time == "" || o.Event == "":
		return c, fmt.Errorf("%w: data.outcome has one of time and event; name the columns of both, or of neither for the length and the end of episodes", config.ErrConfig)
	case c.Data.Column("reward") != "":
		return c, fmt.Errorf("%w: data.columns.reward is %q, and with data.outcome the time is read in its place; leave it out", config.ErrConfig, c.Data.Column("reward"))
	case encodes(c.Data, o.Time, o.Event):
		return c, fmt.Errorf("%w: data.encode has a vocabulary of the time or of the event, and data.outcome says itself what their values mean; leave the vocabulary out", config.ErrConfig)
	case c.Problem.Horizon > 1 || c.Problem.Episodes > 1 || c.Data.EpisodePerPerson:
		return c, fmt.Errorf("%w: data.outcome.time is a column, and a person has one row; leave problem.horizon, problem.episodes and data.episode_per_person out", config.ErrConfig)
	}
	c.Data.OneRowEpisodes = true
	c.Problem.Horizon, c.Problem.Episodes = 1, 1
	time := o.Time
	if len(o.Path) > 0 {
		time = trajectory.NoColumn
	}
	columns := map[string]config.Names{}
	maps.Copy(columns, c.Data.Columns)
	columns["reward"] = config.Names{time}
	c.Data.Columns = columns
	return c, nil
}

// asDrawn says what arms and outcomes leave no choice in where no policy is named: they are as they were drawn.
func asDrawn(c config.Config) config.Config {
	if namesNoPolicy(c) {
		c.Target = config.Target{Kind: "logged"}
	}
	if c.Problem.Gamma == 0 {
		c.Problem.Gamma = 1
	}
	return c
}

// encodes tells whether a column of the outcome has a vocabulary too.
func encodes(d config.Data, time, event string) bool {
	for name := range d.Encode {
		bare := strings.TrimPrefix(name, "obs_")
		if name == "reward" || bare == strings.TrimPrefix(time, "obs_") || bare == strings.TrimPrefix(event, "obs_") {
			return true
		}
	}
	return false
}

func fromColumns(o *config.Outcome) bool { return o.Time != "" || o.Event != "" }

// outcomeOf builds the outcome, nil where a value is asked for.
func outcomeOf(c config.Config) (*evaluate.Outcome, error) {
	o := survival(c)
	if o == nil {
		return nil, nil
	}
	strata, err := strataOf(c)
	if err != nil {
		return nil, err
	}
	if !fromColumns(o) {
		out, err := episodeOutcome(c)
		if err == nil {
			out.Strata = strata
		}
		return out, err
	}
	out := &evaluate.Outcome{Event: o.Event, Unit: o.Unit, Strata: strata, Censoring: o.Censoring}
	switch o.Times {
	case "", "grouped":
		out.Grouped = true
	case "discrete":
	default:
		return nil, fmt.Errorf("%w: data.outcome.times is %q; want grouped or discrete", config.ErrConfig, o.Times)
	}
	if out.Ends, err = outcomeBins(o); err != nil {
		return nil, err
	}
	codes, err := outcomeCodes(o)
	if err != nil {
		return nil, err
	}
	for _, v := range o.Censored {
		out.Censored = append(out.Censored, codes[v.Word])
	}
	for _, name := range slices.Sorted(maps.Keys(o.Causes)) {
		out.Causes = append(out.Causes, evaluate.Cause{Name: name, Number: codes[o.Causes[name].Word]})
	}
	return out, nil
}

// asGroups is a configuration that asks about its strata as about groups, whose values are
// read alike.
func asGroups(c config.Config) config.Config {
	c.By = &config.By{Column: c.Data.Outcome.Strata.Column, Values: c.Data.Outcome.Strata.Values}
	return c
}

// strataOf builds the strata, nil where there are none.
func strataOf(c config.Config) (*evaluate.Strata, error) {
	s := c.Data.Outcome.Strata
	switch {
	case s == nil:
		return nil, nil
	case s.Column == "" || s.Values == nil || len(s.Values.Words) == 0 || s.Values.Codes != nil || s.Values.OneHot:
		return nil, fmt.Errorf("%w: data.outcome.strata wants a column and a list of its values, such as {column: stage, values: [1, 2, 3, 4]}", config.ErrConfig)
	}
	codes, err := groupCodes(asGroups(c))
	return &evaluate.Strata{Column: s.Column, Values: codes}, err
}

// episodeOutcome is that of episodes: the number of decisions until they terminate.
func episodeOutcome(c config.Config) (*evaluate.Outcome, error) {
	o := c.Data.Outcome
	if o.Bins != nil || o.Every != 0 || o.Until != 0 || o.Times != "" || o.Unit != "" || o.Censored != nil {
		return nil, fmt.Errorf("%w: data.outcome without time and event counts the decisions of episodes, of which problem.horizon count; leave bins, every, until, times, unit and censored out, or name the columns", config.ErrConfig)
	}
	if len(o.Causes) > 1 {
		return nil, fmt.Errorf("%w: data.outcome.causes has %d names, and that an episode terminated is one cause; name the columns time and event to tell causes apart", config.ErrConfig, len(o.Causes))
	}
	out := &evaluate.Outcome{Causes: []evaluate.Cause{{Name: "the end", Number: 1}}, Censoring: o.Censoring}
	for name := range o.Causes {
		out.Causes[0].Name = name
	}
	for j := range min(c.Problem.Horizon, mostEnds) {
		out.Ends = append(out.Ends, float64(j+1))
	}
	return out, nil
}

// mostEnds is above what evaluate accepts, whose error says how many it does.
const mostEnds = 1000

// outcomeBins are the ends of the bins.
func outcomeBins(o *config.Outcome) ([]float64, error) {
	switch {
	case o.Bins != nil && (o.Every != 0 || o.Until != 0):
		return nil, fmt.Errorf("%w: data.outcome has bins, and every or until; give the ends as bins, or every and until", config.ErrConfig)
	case o.Bins != nil:
		return o.Bins, nil
	case !(o.Every > 0) || !(o.Until >= o.Every) || math.IsInf(o.Until, 0):
		return nil, fmt.Errorf("%w: data.outcome.bins is missing; give the ends of the bins, such as [365, 730, 1095], or every: 365 and until: 1095", config.ErrConfig)
	}
	n := math.Round(o.Until / o.Every)
	if n > mostEnds || math.Abs(n*o.Every-o.Until) > 1e-9*o.Until {
		return nil, fmt.Errorf("%w: data.outcome.until is %v, %g times every; want a whole number of times, at most %d", config.ErrConfig, o.Until, o.Until/o.Every, mostEnds)
	}
	var ends []float64
	for j := range int(n) {
		// As a person would write it: a time that stands in a table as 2.1 is not beyond 3 times 0.7.
		end, err := strconv.ParseFloat(strconv.FormatFloat(float64(j+1)*o.Every, 'g', 12, 64), 64)
		if err != nil {
			return nil, fmt.Errorf("%w: data.outcome: %w", config.ErrConfig, err)
		}
		ends = append(ends, end)
	}
	ends[len(ends)-1] = o.Until
	return ends, nil
}

// outcomeWords are the values of the event, those of censoring first.
func outcomeWords(o *config.Outcome) (words []string, numeric bool, err error) {
	if len(o.Causes) == 0 || len(o.Censored) == 0 {
		return nil, false, fmt.Errorf("%w: data.outcome.causes and censored say which values of %s mean what; give both, such as causes: {death: 1} and censored: 0", config.ErrConfig, o.Event)
	}
	all := slices.Clone(o.Censored)
	for _, name := range slices.Sorted(maps.Keys(o.Causes)) {
		all = append(all, o.Causes[name])
	}
	for _, v := range all {
		switch {
		case v.Numeric != all[0].Numeric:
			return nil, false, fmt.Errorf("%w: data.outcome: %q is a text and another value of %s a number; want values that are all text or all numbers", config.ErrConfig, v.Word, o.Event)
		case slices.Contains(words, v.Word):
			return nil, false, fmt.Errorf("%w: data.outcome: the value %s of %s stands for two things; give every cause, and censoring, values of its own", config.ErrConfig, v.Word, o.Event)
		}
		words = append(words, v.Word)
	}
	return words, all[0].Numeric, nil
}

// outcomeCodes are the numbers that are read for the values of the event.
func outcomeCodes(o *config.Outcome) (map[string]float64, error) {
	words, numeric, err := outcomeWords(o)
	if err != nil {
		return nil, err
	}
	codes := map[string]float64{}
	for i, word := range words {
		codes[word] = float64(i)
		if numeric {
			if codes[word], err = strconv.ParseFloat(word, 64); err != nil {
				return nil, fmt.Errorf("%w: data.outcome: %w", config.ErrConfig, err)
			}
		}
	}
	return codes, nil
}

// outcomeColumns are the observations of an outcome, in which no value is replaced.
func outcomeColumns(c config.Config) (names []string) {
	if o := survival(c); o != nil {
		if o.Strata != nil {
			names = append(names, o.Strata.Column)
		}
		if o.Event != "" {
			names = append(names, o.Event)
		}
	}
	return names
}

// readOutcome has two rows of a person read, so that whoever has more than one shows, and
// the event read as the numbers of its words.
func readOutcome(c config.Config, o *trajectory.Options) error {
	readJoin(c, o)
	if survival(c) == nil {
		return nil
	}
	if s := c.Data.Outcome.Strata; s != nil {
		readGroups(asGroups(c), o)
	}
	if !fromColumns(c.Data.Outcome) {
		return nil
	}
	o.Horizon, o.EpisodesPerPerson = 2, 2
	event := c.Data.Outcome.Event
	words, numeric, err := outcomeWords(c.Data.Outcome)
	if err == nil && !numeric {
		o.Encode[event] = trajectory.Vocabulary{Words: words}
	}
	return err
}
