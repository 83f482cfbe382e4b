package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// The blocks of a batch, in the order in which errors of one row are reported.
const (
	blkStep = iota
	blkObs
	blkAction
	blkBehavior
	blkProbs
	blkTarget
	blkReward
	blkTerminated
	blkTruncated
	blkNext
	blkDiscount
	blkPresence
	blkCoded // numbers that stand for values of a vocabulary
	blocks
)

// binding is what the options make of the columns of one file.
type binding struct {
	file  string
	picks []table.Pick
	// width of each block; 0 when the file has no such column or nobody asked.
	width [blocks]int
	// column is the name in the file of each place of each block.
	column [blocks][]string
	hasKey [keys]bool
	// words are the columns that hold words.
	words []*words
	// joins are the ids of several columns.
	joins []composite
	// parts are their columns by canonical name.
	parts map[string][]string
	// clock says what steps are that a format has as times; empty of others.
	clock string
	// observations are the names of the observation columns.
	observations []string
	// hot says of each of them which column and word it is the one-hot column of.
	hot     []hot
	notices []string
	// source is the name in the file of each canonical column that was found.
	source map[string]string
}

func (b *binding) has(block int) bool { return b.width[block] > 0 }

// binder finds columns.
type binder struct {
	o       *trajectory.Options
	t       table.Table
	fields  []table.Field
	byName  map[string]int
	claimed map[int]bool
	used    map[int]bool
	b       *binding
	faults  *faults
}

func newBinder(t table.Table, file string, o *trajectory.Options) *binder {
	return &binder{o: o, t: t, fields: t.Fields(), byName: map[string]int{}, claimed: map[int]bool{}, used: map[int]bool{},
		b: &binding{file: file, source: map[string]string{}}, faults: newFaults(o.Faults)}
}

// bind decides which columns of a table are read, and as what.
func bind(t table.Table, file string, o *trajectory.Options) (*binding, error) {
	x := newBinder(t, file, o)
	if err := x.index(); err != nil {
		return nil, err
	}
	for _, step := range []func() error{x.keys, x.joinable, x.observations, x.decision, x.flags, x.vocabularies, x.means} {
		if err := x.note(step()); err != nil {
			return nil, err
		}
	}
	if err := x.faults.err(); err != nil {
		return nil, err
	}
	if err := x.next(); err != nil {
		return nil, err
	}
	x.ignored()
	slices.SortStableFunc(x.b.picks, func(a, b table.Pick) int { return cmp.Compare(a.Field, b.Field) })
	return x.b, nil
}

// note keeps a fault of the columns, so that those after it are told as well. It
// returns what ends the search at once: the first fault where no more are wanted,
// and what is no fault of the data.
func (x *binder) note(err error) error {
	var input *trajectory.InputError
	if err == nil || x.o.Faults == 0 || !errors.As(err, &input) {
		return err
	}
	x.faults.add(place{}, input)
	return nil
}

func (x *binder) fail(column, what, remedy string) error {
	return &trajectory.InputError{File: x.b.file, Column: column, What: what, Remedy: remedy, Kind: trajectory.ErrColumn}
}

func (x *binder) notice(format string, args ...any) {
	x.b.notices = append(x.b.notices, fmt.Sprintf(format, args...))
}

// decision finds the columns of the action, its probabilities and the reward.
func (x *binder) decision() error {
	for _, c := range []struct {
		name  string
		block int
		part  trajectory.Parts
	}{
		{canon.Action, blkAction, trajectory.Action}, {canon.BehaviorProb, blkBehavior, trajectory.BehaviorProb},
		{canon.TargetProb, blkTarget, trajectory.TargetProb}, {canon.Discount, blkDiscount, trajectory.Discount},
	} {
		if (x.o.Need|x.o.Optional)&c.part == 0 {
			continue
		}
		i, err := x.lookup(c.name)
		if err != nil {
			return err
		}
		if i < 0 && x.o.Need&c.part != 0 {
			if err := x.note(x.missing(c.name)); err != nil {
				return err
			}
		}
		if i >= 0 {
			if err := x.value(i, c.block, c.name); err != nil {
				return err
			}
		}
	}
	if err := x.actionProbs(); err != nil {
		return err
	}
	return x.reward()
}

// reward finds the reward, and whether a row has an action even where the
// action's value is of no use: a last row without either is an observation only.
func (x *binder) reward() error {
	i, err := x.lookup(canon.Reward)
	if err != nil {
		return err
	}
	switch beside := len(x.o.OutcomeFiles) > 0; {
	case i < 0 && !beside:
		return x.missing(canon.Reward)
	case i >= 0 && beside:
		return x.fail(x.fields[i].Name, "is the reward, and data.outcome says that it stands in another file", "set data.columns: {reward: none}, or leave data.outcome.path out")
	case i >= 0:
		if err := x.value(i, blkReward, canon.Reward); err != nil {
			return err
		}
	}
	if x.b.has(blkAction) || x.o.OneRowEpisodes {
		return nil
	}
	if i := x.named(canon.Action); i >= 0 {
		x.b.picks = append(x.b.picks, table.Pick{Field: i, Kind: table.Presence, Block: blkPresence})
		x.b.width[blkPresence] = 1
	}
	return nil
}

func (x *binder) actionProbs() error {
	if (x.o.Need|x.o.Optional)&trajectory.ActionProbs == 0 {
		return nil
	}
	list, err := x.lookup(canon.ActionProbs)
	if err != nil {
		return err
	}
	if list >= 0 {
		if !x.fields[list].List {
			return x.fail(x.fields[list].Name, "holds one number a row, not a list", "write one column prob_<k> an action")
		}
		_, err := x.list(list, blkProbs)
		return err
	}
	for k := 0; ; k++ {
		i, err := x.lookup(canon.PrefixProb + strconv.Itoa(k))
		if err != nil {
			return err
		}
		if i < 0 {
			break
		}
		if err := x.pick(i, blkProbs); err != nil {
			return err
		}
	}
	if x.o.Need&trajectory.ActionProbs != 0 && !x.b.has(blkProbs) {
		return x.fail(canon.ActionProbs, "the file has neither this column nor prob_0, prob_1, ...",
			"add them, or map "+canon.ActionProbs+" to the column that holds it")
	}
	return nil
}

func (x *binder) flags() error {
	if x.o.OneRowEpisodes || x.o.End != trajectory.EndColumn && !x.o.ChecksEnds() {
		return nil
	}
	for _, c := range []struct {
		name  string
		block int
	}{{canon.Terminated, blkTerminated}, {canon.Truncated, blkTruncated}} {
		i, err := x.lookup(c.name)
		if err != nil {
			return err
		}
		if i >= 0 {
			if err := x.value(i, c.block, c.name); err != nil {
				return err
			}
		}
	}
	if x.o.End == trajectory.EndColumn && !x.o.EndStated && !x.b.has(blkTerminated) {
		x.notice("no column terminated: how episodes end is not known; methods that go on from the last observation need it")
	}
	return nil
}

// maxIgnored bounds the columns that the notice about unused ones names.
const maxIgnored = 10

func (x *binder) ignored() {
	var names []string
	for i, f := range x.fields {
		switch {
		case x.used[i]:
		case f.Name == "":
			x.notice("column %d has no name and is ignored", i+1)
		default:
			names = append(names, f.Name)
		}
	}
	switch {
	case len(names) > maxIgnored:
		x.notice("columns not used: %s and %d more", strings.Join(names[:maxIgnored], ", "), len(names)-maxIgnored)
	case len(names) > 0:
		x.notice("columns not used: %s", strings.Join(names, ", "))
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
