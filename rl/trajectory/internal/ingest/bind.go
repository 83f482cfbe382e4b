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
	"github.com/discreet-rl/discreet/rl/trajectory/table"
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

// maxWidth is the longest list that is read.
const maxWidth = 1 << 20

// The keys of a batch; those of words come after them.
const (
	keyEpisode = iota
	keyUnit
	keys
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

// bind decides which columns of a table are read, and as what.
func bind(t table.Table, file string, o *trajectory.Options) (*binding, error) {
	x := &binder{o: o, t: t, fields: t.Fields(), byName: map[string]int{}, claimed: map[int]bool{}, used: map[int]bool{},
		b: &binding{file: file, source: map[string]string{}}, faults: newFaults(o.Faults)}
	if err := x.index(); err != nil {
		return nil, err
	}
	for _, step := range []func() error{x.keys, x.observations, x.decision, x.flags, x.vocabularies} {
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

// index looks at the header as a whole.
func (x *binder) index() error {
	for i, f := range x.fields {
		if f.Name == "" {
			continue
		}
		if _, twice := x.byName[f.Name]; twice {
			return x.fail(f.Name, "two columns have this name", "rename or remove one")
		}
		x.byName[f.Name] = i
	}
	for _, canonical := range sortedKeys(x.o.Columns) {
		column := x.o.Columns[canonical]
		i, ok := x.byName[column]
		switch {
		case column == trajectory.NoColumn && ok:
			return x.fail(column, "the file has a column of this name, and the mapping of "+canonical+" to it would mean that there is none", "rename the column")
		case column == trajectory.NoColumn:
		case !ok:
			return x.fail(column, "the file has no such column, which the mapping names for "+canonical, "correct the mapping"+x.nearest(column))
		default:
			x.claimed[i] = true
		}
	}
	return nil
}

// mapped is the column that the mapping names, -1 where it says that there is none.
func (x *binder) mapped(canonical string) (int, bool) {
	column, ok := x.o.Columns[canonical]
	if i, there := x.byName[column]; there {
		return i, ok
	}
	return -1, ok
}

// named is the column of the file for a name that has no aliases, -1 if none.
func (x *binder) named(canonical string) int {
	if i, ok := x.mapped(canonical); ok {
		return i
	}
	if i, ok := x.byName[canonical]; ok {
		return i
	}
	return -1
}

// lookup finds the column for a canonical name: as mapped, else of that name,
// else of an alias. It returns -1 when there is none.
func (x *binder) lookup(canonical string) (int, error) {
	i, err := x.resolve(canonical)
	if i >= 0 && err == nil {
		x.b.source[canonical] = x.fields[i].Name
	}
	return i, err
}

func (x *binder) resolve(canonical string) (int, error) {
	if i, ok := x.mapped(canonical); ok {
		return i, nil
	}
	if i, ok := x.byName[canonical]; ok && !x.claimed[i] {
		return i, x.oneUnit(canonical)
	}
	found := -1
	for _, a := range canon.Aliases(canonical) {
		i, ok := x.byName[a]
		if !ok || x.claimed[i] {
			continue
		}
		if found >= 0 {
			return -1, x.fail(a, "this column and "+x.fields[found].Name+" are both names for "+canonical,
				"map "+canonical+" to one of them")
		}
		found = i
	}
	if found >= 0 {
		x.notice("column %s is read as %s", x.fields[found].Name, canonical)
		if x.fields[found].Name == "terminal" {
			x.notice("column terminal is read as terminated; logs of SCOPE-RL mean truncated by it: map truncated to terminal for those")
		}
	}
	return found, nil
}

// oneUnit refuses a file that names units twice, which may be two kinds of unit: the
// name must then be mapped.
func (x *binder) oneUnit(canonical string) error {
	if canonical != canon.Unit {
		return nil
	}
	for _, a := range canon.Aliases(canonical) {
		if i, ok := x.byName[a]; ok && !x.claimed[i] {
			return x.fail(a, "this column and "+canonical+" are both names for "+canonical, "map "+canonical+" to the one that is to be protected")
		}
	}
	return nil
}

func (x *binder) missing(canonical string) error {
	remedy := "add the column, or map " + canonical + " to the column that holds it"
	if x.o.Columns[canonical] == trajectory.NoColumn {
		return x.fail(canonical, "is needed, and mapped to "+trajectory.NoColumn, "map it to the column that holds it")
	}
	if a := canon.Aliases(canonical); len(a) > 0 {
		remedy += " (also known: " + strings.Join(a, ", ") + ")"
	}
	return x.fail(canonical, "the file has no such column", remedy)
}

// advice is what to do about a value that is no number, by block.
var advice = [blocks]string{
	blkStep:       "set data.steps: {kind: date, format: \"%Y-%m-%d\"} for dates",
	blkObs:        "list its public values in data.encode",
	blkAction:     "list the words of the actions in data.actions, such as [placebo, treated]",
	blkReward:     "say in data.encode which number each word stands for",
	blkTerminated: "say in data.encode which words mean true and which false",
	blkTruncated:  "say in data.encode which words mean true and which false",
	blkNext:       "list its public values in data.encode",
}

// pick asks for a field of one number, or for a list of width one.
func (x *binder) pick(field, block int) error {
	p := table.Pick{Field: field, Block: block, Offset: x.b.width[block], Found: block == blkObs && x.o.Observations == nil, Part: x.part(block), Advice: advice[block]}
	var err error
	if p.List, err = x.single(field); err != nil {
		return err
	}
	x.b.picks = append(x.b.picks, p)
	x.use(field, block, x.fields[field].Name)
	return nil
}

// part tells whether a block is read because the file has it, and nobody needs it.
func (x *binder) part(block int) bool {
	switch block {
	case blkStep, blkTerminated, blkTruncated, blkProbs:
		return true
	case blkAction:
		return x.o.Need&trajectory.Action == 0
	case blkBehavior:
		return x.o.Need&trajectory.BehaviorProb == 0
	case blkTarget:
		return x.o.Need&trajectory.TargetProb == 0
	case blkDiscount:
		return x.o.Need&trajectory.Discount == 0
	}
	return false
}

// single checks that a field holds one number a row, and tells how long its lists
// are, 0 for none.
func (x *binder) single(field int) (int, error) {
	if !x.fields[field].List {
		return 0, nil
	}
	w, err := x.t.Width(field)
	if err == nil && w != 1 {
		err = x.fail(x.fields[field].Name, "holds lists, where one number a row is wanted", "split it into columns")
	}
	return w, err
}

func (x *binder) use(field, block int, name string) {
	x.used[field] = true
	x.b.column[block] = append(x.b.column[block], name)
	x.b.width[block]++
}

// list asks for a list field and gives its width.
func (x *binder) list(field, block int) (int, error) {
	w, err := x.t.Width(field)
	if err != nil {
		return 0, err
	}
	if w > maxWidth {
		return 0, x.fail(x.fields[field].Name, "its lists are longer than "+strconv.Itoa(maxWidth), "reduce the dimension first")
	}
	if w == 0 {
		return 0, x.fail(x.fields[field].Name, "its first list is empty", "give every row a list of the same length")
	}
	x.b.picks = append(x.b.picks, table.Pick{Field: field, Block: block, Offset: x.b.width[block], List: w, Found: block == blkObs && x.o.Observations == nil, Part: x.part(block)})
	for range w {
		x.use(field, block, x.fields[field].Name)
	}
	return w, nil
}

func (x *binder) keys() error {
	if x.o.OneRowEpisodes {
		return x.unit()
	}
	if err := x.note(x.episode()); err != nil {
		return err
	}
	i, err := x.lookup(canon.Step)
	switch {
	case err != nil:
		return err
	case i >= 0 && x.o.Steps.Date != "":
		x.dates(i)
	case i >= 0:
		err = x.pick(i, blkStep)
	case x.o.Steps != trajectory.Steps{}:
		err = x.missing(canon.Step)
	}
	if err := x.note(err); err != nil {
		return err
	}
	return x.unit()
}

// episode finds the column that names the episode.
func (x *binder) episode() error {
	if x.o.EpisodePerPerson {
		i, err := x.resolve(canon.Unit)
		if err != nil {
			return err
		}
		if i < 0 {
			return x.missing(canon.Unit)
		}
		x.key(i, keyEpisode)
		return nil
	}
	i, err := x.lookup(canon.Episode)
	switch {
	case err != nil:
		return err
	case i >= 0:
		x.key(i, keyEpisode)
		return nil
	case x.canUnit() != "":
		return x.fail(canon.Episode, "the file has no such column", "map "+canon.Episode+" to the column that holds it; if all rows of one "+x.canUnit()+
			" are one episode, set data.episode_per_person: true; if every row is an episode, data.one_row_episodes: true")
	}
	return x.missing(canon.Episode)
}

// canUnit is the column that would name the person, empty if there is none.
func (x *binder) canUnit() string {
	for _, name := range append([]string{canon.Unit}, canon.Aliases(canon.Unit)...) {
		if i := x.named(name); i >= 0 {
			return x.fields[i].Name
		}
	}
	return ""
}

// taken is a column of the file that an alias would have found, had it not been
// mapped to another canonical name; empty if there is none.
func (x *binder) taken(canonical string) string {
	for _, a := range canon.Aliases(canonical) {
		if i, ok := x.byName[a]; ok && x.claimed[i] {
			return a
		}
	}
	return ""
}

// unit finds the column that names the person, where persons are asked for.
func (x *binder) unit() error {
	if x.o.Unit == trajectory.UnitEpisode || x.o.Unit == trajectory.UnitRow {
		return nil
	}
	i, err := x.lookup(canon.Unit)
	switch {
	case err != nil:
		return err
	case i >= 0:
		x.key(i, keyUnit)
	case x.o.Unit == trajectory.UnitPerson && x.taken(canon.Unit) != "":
		column := x.taken(canon.Unit)
		return x.fail(canon.Unit, "the file has no such column but "+column+", which is mapped to another name", "map "+canon.Unit+" to "+column+" as well, or to the column that names the person")
	case x.o.Unit == trajectory.UnitPerson:
		return x.fail(canon.Unit, "the file has no such column, and a person may own several episodes",
			"map "+canon.Unit+" to the column that names the person (also known: "+strings.Join(canon.Aliases(canon.Unit), ", ")+"); or, if what is to be protected is a single episode, set privacy.unit: episode (row for one-row episodes)")
	default:
		x.notice(noUnit)
	}
	return nil
}

// noUnit is what a curator must know who forgot to map the person.
const noUnit = "no column unit_id: each episode is taken for a person of its own; map unit_id to the column that names the person if a person can have several"

func (x *binder) key(field, key int) {
	x.used[field] = true
	x.b.hasKey[key] = true
	x.b.picks = append(x.b.picks, table.Pick{Field: field, Kind: table.Key, Block: key})
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
	if i < 0 {
		return x.missing(canon.Reward)
	}
	if err := x.value(i, blkReward, canon.Reward); err != nil {
		return err
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
	if x.o.OneRowEpisodes || x.o.End != trajectory.EndColumn {
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
	if !x.b.has(blkTerminated) {
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
