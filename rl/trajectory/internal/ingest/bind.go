package ingest

import (
	"cmp"
	"fmt"
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
	blocks
)

// maxWidth is the longest list that is read.
const maxWidth = 1 << 20

// The keys of a batch.
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
	// observations are the names of the observation columns.
	observations []string
	notices      []string
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
}

// bind decides which columns of a table are read, and as what.
func bind(t table.Table, file string, o *trajectory.Options) (*binding, error) {
	x := &binder{o: o, t: t, fields: t.Fields(), byName: map[string]int{}, claimed: map[int]bool{}, used: map[int]bool{},
		b: &binding{file: file, source: map[string]string{}}}
	if err := x.index(); err != nil {
		return nil, err
	}
	for _, step := range []func() error{x.keys, x.observations, x.decision, x.flags, x.next} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	x.ignored()
	slices.SortStableFunc(x.b.picks, func(a, b table.Pick) int { return cmp.Compare(a.Field, b.Field) })
	return x.b, nil
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
		if !ok {
			return x.fail(column, "the file has no such column, which the mapping names for "+canonical, "correct the mapping")
		}
		x.claimed[i] = true
	}
	return nil
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
	if column, ok := x.o.Columns[canonical]; ok {
		return x.byName[column], nil
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
	if a := canon.Aliases(canonical); len(a) > 0 {
		remedy += " (also known: " + strings.Join(a, ", ") + ")"
	}
	return x.fail(canonical, "the file has no such column", remedy)
}

// pick asks for a field of one number, or for a list of width one.
func (x *binder) pick(field, block int) error {
	p := table.Pick{Field: field, Block: block, Offset: x.b.width[block], Found: block == blkObs && x.o.Observations == nil}
	if x.fields[field].List {
		w, err := x.t.Width(field)
		if err != nil {
			return err
		}
		if w != 1 {
			return x.fail(x.fields[field].Name, "holds lists, where one number a row is wanted", "split it into columns")
		}
		p.List = 1
	}
	x.b.picks = append(x.b.picks, p)
	x.use(field, block, x.fields[field].Name)
	return nil
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
	x.b.picks = append(x.b.picks, table.Pick{Field: field, Block: block, Offset: x.b.width[block], List: w, Found: block == blkObs && x.o.Observations == nil})
	for range w {
		x.use(field, block, x.fields[field].Name)
	}
	return w, nil
}

func (x *binder) keys() error {
	if !x.o.OneRowEpisodes {
		i, err := x.lookup(canon.Episode)
		if err != nil {
			return err
		}
		if i < 0 {
			return x.missing(canon.Episode)
		}
		x.key(i, keyEpisode)
		if i, err = x.lookup(canon.Step); err != nil {
			return err
		}
		if i >= 0 {
			if err := x.pick(i, blkStep); err != nil {
				return err
			}
		}
	}
	return x.unit()
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
			return x.missing(c.name)
		}
		if i >= 0 {
			if err := x.pick(i, c.block); err != nil {
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
	if err := x.pick(i, blkReward); err != nil {
		return err
	}
	if x.b.has(blkAction) || x.o.OneRowEpisodes {
		return nil
	}
	if i, ok := x.byName[cmp.Or(x.o.Columns[canon.Action], canon.Action)]; ok {
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
			if err := x.pick(i, c.block); err != nil {
				return err
			}
		}
	}
	if !x.b.has(blkTerminated) {
		x.notice("no column terminated: how episodes end is not known; methods that go on from the last observation need it")
	}
	return nil
}

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
	if len(names) > 0 {
		x.notice("columns not used: %s", strings.Join(names, ", "))
	}
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
