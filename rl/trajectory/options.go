package trajectory

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
)

// Parts is a set of the columns that not every estimator needs.
type Parts uint8

// The optional parts of a decision.
const (
	// Action is the logged action.
	Action Parts = 1 << iota
	// BehaviorProb is the behaviour policy's probability of the logged action.
	BehaviorProb
	// ActionProbs is the behaviour policy's whole distribution.
	ActionProbs
	// TargetProb is the target policy's probability of the logged action.
	TargetProb
	// Discount is a discount by row.
	Discount
	// Final is the observation after the last decision. To need it means that
	// every truncated episode must have one; a terminated episode needs none.
	Final

	// AllParts is every optional part.
	AllParts = Action | BehaviorProb | ActionProbs | TargetProb | Discount | Final
)

// Missing says what becomes of a missing observation.
type Missing uint8

// The ways to treat a missing observation. The replacement is public: it never
// depends on the data.
const (
	// MissingReject makes a missing value an error.
	MissingReject Missing = iota
	// MissingZero puts 0 in its place.
	MissingZero
	// MissingMean puts the public mean of the column in its place.
	MissingMean
)

// Unit says whose an episode is: what a Dataset's persons are. It is decided
// before the first row is read, never by a row. Its zero value goes by the columns:
// the person that unit_id names where the data have that column, else the episode
// (the row, with OneRowEpisodes).
type Unit uint8

// The units.
const (
	// UnitPerson is the person that unit_id names; without the column the data are
	// refused.
	UnitPerson Unit = 1 + iota
	// UnitEpisode makes every episode a unit of its own; unit_id is not looked at.
	UnitEpisode
	// UnitRow makes every row a unit of its own; it needs OneRowEpisodes.
	UnitRow
)

// End says what the last row of an episode means.
type End uint8

// The ends of an episode.
const (
	// EndColumn goes by the columns terminated and truncated. Without terminated it
	// is not known how episodes end.
	EndColumn End = iota
	// EndTerminated: the problem's own rule ended every episode. The flags are not
	// looked at, unless [Options.Complete] has them checked.
	EndTerminated
	// EndTruncated: every episode was cut off. The flags are not looked at.
	EndTruncated
)

// Range is a closed interval.
type Range struct{ Min, Max float64 }

// Progress tells how far reading has come.
type Progress struct {
	// File is being read; it is the Index-th (from 0) of Files.
	File         string
	Index, Files int
	// Bytes of this file have been consumed out of Size (0 when unknown).
	Bytes, Size int64
	// Rows have been read in all.
	Rows int64
}

// Options say how columns are found and what is asked of them. Everything in
// them is public. The zero value reads every obs_* column, the reward, the ids
// and the flags, rejects missing values, and caps nothing.
type Options struct {
	// Columns maps a canonical name (see [CanonicalNames]) to the name of the
	// column in the file, and wins over the file's own names and over aliases;
	// [NoColumn] in place of a name says that there is none. A column of the file
	// has one canonical name at most.
	Columns map[string]string
	// Joined names the columns that an id consists of, 2 to 4, where it is of several:
	// by the canonical name episode_id or unit_id. Their texts are joined by a slash, with a
	// backslash before each slash and backslash in them, so that the id tells all of them.
	Joined map[string][]string
	// Observations names the observation columns, in the order wanted: a key of
	// Columns, a column of the file, or either without its "obs_". Nil means all
	// obs_* columns in the order of the file, or the list column "observation".
	// Empty and not nil means none.
	Observations []string
	// Need lists the parts without which the data is of no use: a column that is
	// missing, or a value missing in it, is an error.
	Need Parts
	// Optional lists the parts that are read and checked where the data have their
	// columns. A value missing in such a column is an error: whether a dataset has a
	// part is never decided by one of its rows. Parts neither needed nor optional
	// are not looked at.
	Optional Parts

	// Densities says that BehaviorProb and TargetProb are densities of continuous actions,
	// which may be above 1.
	Densities bool

	// Encode holds the public vocabularies of columns: by the canonical name action,
	// reward, terminated or truncated, or by the name of an observation, with or
	// without its "obs_". That of an observation holds for its next_ column too. An
	// observation with a one-hot vocabulary has the names of its columns in its place.
	Encode map[string]Vocabulary

	// Steps says how the column step orders the decisions of an episode.
	Steps Steps

	// Separator stands between the fields of a CSV file: a comma, which 0 means too,
	// a semicolon, a tab or a bar. NA lists texts that stand for a missing value in
	// the columns of a CSV file that are read; an empty field is one in any case.
	Separator byte
	NA        []string
	// Multiline lets a field in quotes of a CSV file hold line ends. Whoever sets it
	// states of the program that wrote the file that it puts every text in quotes that
	// could hold a quote or a line end, and doubles its quotes: otherwise the text of one
	// person can swallow the records of others. Without it such a field is an error.
	Multiline bool

	// Rows says that a row is an element of a list in a line of NDJSON, by the list's key; the other keys of
	// the line are columns of each. A name with dots is that of a key in an object.
	Rows string

	// Unit says what the persons of the dataset are.
	Unit Unit
	// End says what the last row of an episode means.
	End End

	// OneRowEpisodes reads a contextual bandit's log: every row is an episode of
	// one decision that terminates. Episode ids, steps and flags are not looked
	// at.
	OneRowEpisodes bool

	// EpisodePerPerson takes the rows of a person for one episode: unit_id names
	// it, and no column episode_id is looked at.
	EpisodePerPerson bool

	// Gap cuts the rows of a person into episodes where more time than this passes between
	// two of them: steps are dates, and put in order. Restart cuts them, in the order of the
	// files, where the number of a step is not above that before it. No column episode_id
	// is looked at. All rows of a person who has one whose step cannot be read are one
	// episode, which cannot be used.
	Gap     time.Duration
	Restart bool

	// Missing says what becomes of a missing observation, and Means holds the
	// public mean of each observation column for MissingMean.
	Missing Missing
	Means   map[string]float64
	// Indicators lets Observations name x_missing beside an observation x: 1 where x is missing and
	// replaced, else 0. It goes with complete data where each of Observations is in Whole or has one.
	Indicators bool

	// Reward is the public range of one reward; nil checks only that rewards are
	// finite. A reward beyond it is an error, or is moved to the nearer end with
	// ClipRewards.
	Reward      *Range
	ClipRewards bool

	// RewardOnLast says that a reward stands on the last decision of an episode: it is empty, or
	// 0, on the others, and 0 is read there. Without it on the last decision the outcome of
	// the episode is missing, which is a violation.
	RewardOnLast bool
	// EmptyIsZero says that an empty reward is 0.
	EmptyIsZero bool

	// OutcomeFiles are files of their own that hold what became of persons or episodes, a row
	// each: OutcomeBy, unit_id or episode_id, says of which, and names the column of ids as the
	// data do. OutcomeColumn is the column of the value, which is the reward of the last
	// decision of an episode; the others have 0, and no reward in the data. An episode whose
	// id has no row, two rows or a value that cannot be used is a violation.
	OutcomeFiles  []string
	OutcomeBy     string
	OutcomeColumn string
	// OutcomeAbsent is the outcome of an id that has no row, nil where it is missing, and
	// OutcomePresent, in place of a column, that of an id that has one.
	OutcomeAbsent, OutcomePresent *float64
	// OutcomeEvent is a further column of these files, and an observation. It is for episodes of one row.
	OutcomeEvent string

	// Repair leaves an episode out that violates anything else that is asked of a
	// record, and keeps its person, who may then have no episode at all; without it a
	// violation is an error. Violations are a probability that is none, a number that is
	// not finite, text for a number, steps out of order. Each is found by looking at that
	// episode alone. Who a record belongs to (ids), the columns and the form of the file
	// are no matter of one record: what is wrong with them is an error either way. So is
	// a value that Missing or the range of rewards rejects.
	Repair bool
	// Keep has an episode that Repair would leave out given with its rows, for a table: each
	// value is as it was, a missing one missing, one that cannot be read NaN ([Episode.Lacks]),
	// so that whoever reads the table finds unusable what they would have in the data. A
	// missing observation that nothing replaces stays missing.
	Keep bool
	// EndStated tells that whoever asks knows how episodes end, whatever their flags say.
	EndStated bool
	// Whole names those of Observations in which no value is replaced: one that is
	// missing is a violation, as in a column of probabilities.
	Whole []string
	// Deciding names those of Observations in which 0 may mean something, such as a state, so that
	// it does not stand for one that is missing ([MissingZero]): that is a violation.
	Deciding []string

	// Horizon is the most decisions that a person contributes, over all their
	// episodes; 0 means no cap. The first ones are kept, by the person's own
	// order: episodes as they come in the files, or as Steps.Sort has them, steps within them. An episode
	// cut by the cap is truncated, and its final observation is that of the first
	// row left out.
	Horizon int
	// EpisodesPerPerson is the most episodes that a person contributes; 0 means
	// no cap. The first ones are kept.
	EpisodesPerPerson int
	// EpisodeDecisions is the most decisions of one episode that count; 0 means no cap
	// other than Horizon. The first ones are kept, as with Horizon.
	EpisodeDecisions int

	// Complete says that nothing is lost: what would be left out, a row beyond a cap or
	// one with neither action nor reward, is an error. So is, with EndTerminated and a
	// column of flags, an episode that they tell of as cut off. It goes with no repair.
	Complete bool

	// Censored says that an episode that was cut off is whole all the same: its end is an
	// observation, of which Complete asks nothing.
	Censored bool

	// Faults is how many faults of the data are told at once, beside a count of all:
	// reading then goes on to the end of the data after a fault of a row, though it
	// yields no further episode, and ends with a [FaultsError] if there are several.
	// 0 ends reading at the first. What breaks a file ends it always.
	Faults int

	// Progress, when not nil, is called now and then while reading, from the
	// goroutine that reads.
	Progress func(Progress)

	// RowsInMemory is up to how many bytes of rows are put together in memory where persons do
	// not stand together; 64 MB if it is 0.
	RowsInMemory int
	// Alone has one goroutine read, the caller's. Otherwise others decode ahead of it,
	// where there are processors for them.
	Alone bool
}

// ChecksEnds tells that flags are held against an end that is stated.
func (o *Options) ChecksEnds() bool {
	return o.Complete && o.End == EndTerminated && !o.OneRowEpisodes
}

// Validate checks the options without any data. Its errors wrap [ErrOptions].
func (o *Options) Validate() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...)
	}
	switch {
	case o.Need&^AllParts != 0 || o.Optional&^AllParts != 0:
		return fail("unknown part")
	case o.Unit > UnitRow:
		return fail("unknown unit")
	case o.Unit == UnitRow && !o.OneRowEpisodes:
		return fail("the unit row is for episodes of one row; read the data so, or choose episode or person")
	case o.Unit == UnitEpisode && o.OneRowEpisodes:
		return fail("an episode of one row is a row; choose the unit row, or person")
	case o.EpisodePerPerson && o.OneRowEpisodes:
		return fail("an episode cannot be a row and all rows of a person; choose one of the two")
	case o.EpisodePerPerson && o.Unit == UnitEpisode:
		return fail("with one episode a person the episode is the person; choose the unit person")
	case o.OneRowEpisodes && o.Steps != Steps{}:
		return fail("episodes of one row have no steps; leave steps out, or for the first row of a person by its date take episode_per_person with an episode_horizon of 1")
	case !slices.Contains([]byte{0, ',', ';', '\t', '|'}, o.Separator):
		return fail("unknown separator; want a comma, a semicolon, a tab or a bar")
	case o.End > EndTruncated:
		return fail("unknown end of episodes")
	case o.End == EndTruncated && o.OneRowEpisodes:
		return fail("episodes of one row terminate; they cannot be truncated")
	case o.Missing > MissingMean:
		return fail("unknown way to treat missing values")
	case o.Missing != MissingMean && o.Means != nil:
		return fail("means are given but missing values are not replaced by them; set missing to mean")
	case o.ClipRewards && o.Reward == nil:
		return fail("rewards cannot be clipped without bounds; give the reward's min and max")
	case o.Densities && (o.Need|o.Optional)&ActionProbs != 0:
		return fail("a density has no list of all actions' probabilities; do not read one")
	case o.RewardOnLast && o.EmptyIsZero:
		return fail("without a reward on its last row an episode has no outcome, or its reward is 0, not both; choose one of the two")
	case o.RewardOnLast && o.OneRowEpisodes:
		return fail("episodes of one row have the reward on their only row; leave it out that it stands on the last")
	case (o.RewardOnLast || o.EmptyIsZero) && o.Reward != nil && !(o.Reward.Min <= 0 && o.Reward.Max >= 0):
		return fail("an empty reward is 0, which reward bounds [%g, %g] do not hold; widen them", o.Reward.Min, o.Reward.Max)
	case len(o.OutcomeFiles) == 0 && (o.OutcomeBy != "" || o.OutcomeColumn != "" || o.OutcomeEvent != "" || o.OutcomeAbsent != nil || o.OutcomePresent != nil):
		return fail("outcomes are asked for, and no file of them is named; name it")
	case len(o.OutcomeFiles) > 0 && (o.OutcomeBy != canon.Unit && o.OutcomeBy != canon.Episode || (o.OutcomeColumn == "") == (o.OutcomePresent == nil)):
		return fail("outcomes of a file are joined by unit_id or episode_id, and have a column, or one value; name both")
	case o.OutcomeBy == canon.Unit && o.Unit > UnitPerson || o.OutcomeBy == canon.Episode && (o.OneRowEpisodes || o.EpisodePerPerson):
		return fail("outcomes are joined by %s, which is not looked at", o.OutcomeBy)
	case o.OutcomeEvent != "" && !o.OneRowEpisodes:
		return fail("what ended a time is an observation of episodes of one row; read the data so")
	case o.OutcomeEvent != "" && (o.OutcomeAbsent != nil || o.OutcomePresent != nil):
		return fail("whoever has no row has no time; leave it out what that means")
	case len(o.OutcomeFiles) > 0 && (o.RewardOnLast || o.EmptyIsZero):
		return fail("rewards stand in another file, and none is empty; choose one of the two")
	case o.Indicators && o.Missing == MissingReject:
		return fail("missing values are rejected, and none can be indicated; choose what becomes of them")
	case o.Keep && !o.Repair:
		return fail("unusable episodes are kept only where violations are repaired; set both")
	case o.Complete && o.Repair:
		return fail("complete data are not repaired; reject violations")
	case o.Horizon < 0:
		return fail("horizon %d is negative; give the most decisions a person contributes, or 0 for no cap", o.Horizon)
	case o.EpisodesPerPerson < 0:
		return fail("%d episodes a person is negative; give the most episodes a person contributes, or 0 for no cap", o.EpisodesPerPerson)
	case o.EpisodeDecisions < 0:
		return fail("%d decisions an episode is negative; give the most decisions of one episode that count, or 0 for no cap", o.EpisodeDecisions)
	case o.Faults < 0:
		return fail("%d faults to tell is negative; give the most to tell at once, or 0 to end at the first", o.Faults)
	case o.OneRowEpisodes && o.Need&Final != 0:
		return fail("episodes of one row terminate and have no final observation; do not need one")
	}
	if r := o.Reward; r != nil && !(finite(r.Min) && finite(r.Max) && r.Min <= r.Max) {
		return fail("reward bounds [%g, %g] are not a range; give a finite min not above max", r.Min, r.Max)
	}
	for name, m := range o.Means {
		if !finite(m) {
			return fail("the mean of %s is not finite", name)
		}
	}
	if err := o.Steps.validate(); err != nil {
		return err
	}
	if err := o.validateCuts(); err != nil {
		return err
	}
	if err := o.validateEncode(); err != nil {
		return err
	}
	return o.validateColumns()
}

func (o *Options) validateColumns() error {
	wanted := map[string]bool{}
	for _, name := range o.Observations {
		if name == "" {
			return fmt.Errorf("%w: an observation column has no name", ErrOptions)
		}
		if wanted[name] {
			return fmt.Errorf("%w: observation column %s is listed twice", ErrOptions, name)
		}
		wanted[name] = true
	}
	if err := o.validateJoined(); err != nil {
		return err
	}
	mapped := map[string]string{}
	for name, column := range o.Columns {
		if column == "" {
			return fmt.Errorf("%w: the column for %s has no name; if there is none, map it to %s", ErrOptions, name, NoColumn)
		}
		if other, twice := mapped[column]; twice && column != NoColumn {
			return twoNames(column, min(name, other), max(name, other))
		}
		mapped[column] = name
		// The target is the analyst's: what is asked does not change what other columns mean.
		if other := canon.Means(column); name == canon.TargetProb && other != "" && other != name {
			return fmt.Errorf("%w: the column %s cannot be that of the target's probabilities, because it is a name of %s; rename it in the file", ErrOptions, column, other)
		}
		_, encoded := o.Encode[strings.TrimPrefix(name, canon.PrefixNext)]
		if !canon.Has(name) && !encoded && !wanted[name] && !wanted[strings.TrimPrefix(name, canon.PrefixNext)] {
			return fmt.Errorf("%w: %s is not a canonical column; use one of %s", ErrOptions, name, strings.Join(CanonicalNames(), ", "))
		}
	}
	return nil
}

// twoNames refuses a column that is to be two things.
func twoNames(column, a, b string) error {
	remedy := "map each name to a column of its own"
	if a == canon.Episode && b == canon.Unit {
		remedy = "to take all rows of a person for one episode, map " + canon.Unit + " alone and set data.episode_per_person: true"
	}
	return fmt.Errorf("%w: the column %s is mapped to both %s and %s; %s", ErrOptions, column, a, b, remedy)
}

// NoColumn in [Options.Columns] says that the data have no such column: none of
// the file's names and aliases stands for it.
const NoColumn = "none"

// Unused counts the decisions that the caps on a person's contribution left out.
type Unused struct {
	// Horizon is those beyond [Options.Horizon], Episodes those of episodes beyond
	// [Options.EpisodesPerPerson].
	Horizon, Episodes int
	// EpisodeDecisions is those beyond [Options.EpisodeDecisions].
	EpisodeDecisions int
}

// Repaired counts what was changed so that every record is one that may be used. It
// is private, for the curator alone.
type Repaired struct {
	// Rewards were moved to their bounds, and Observations that were missing replaced.
	Rewards, Observations int
	// Empty rewards are 0 by [Options.EmptyIsZero].
	Empty int
	// Absent episodes have the outcome of [Options.OutcomeAbsent].
	Absent int
	// Episodes were left out for a violation.
	Episodes int
	// First are the first of the violations for which they were, and Kinds counts all.
	First []*InputError
	Kinds []FaultKind
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
