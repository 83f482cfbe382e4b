package ingest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
)

// observations finds the observation columns.
func (x *binder) observations() error {
	if x.o.Observations != nil {
		return x.namedObservations()
	}
	type found struct {
		field int
		name  string
	}
	var flat []found
	for canonical := range x.o.Columns {
		if i, _ := x.mapped(canonical); i >= 0 && strings.HasPrefix(canonical, canon.PrefixObs) {
			flat = append(flat, found{i, canonical})
		}
	}
	for i, f := range x.fields {
		if _, mapped := x.o.Columns[f.Name]; strings.HasPrefix(f.Name, canon.PrefixObs) && !x.claimed[i] && !mapped {
			flat = append(flat, found{i, f.Name})
		}
	}
	slices.SortFunc(flat, func(a, b found) int { return cmp.Or(cmp.Compare(a.field, b.field), cmp.Compare(a.name, b.name)) })
	list, err := x.lookup(canon.Observation)
	if err != nil {
		return err
	}
	if list >= 0 && len(flat) > 0 {
		return x.fail(x.fields[list].Name, "the file has this column and obs_ columns", "name the observation columns that are wanted")
	}
	if list >= 0 {
		return x.listObservation(list)
	}
	if len(flat) == 0 {
		x.notice("no observation column was found; name the observation columns if there are any")
	}
	for _, f := range flat {
		if err := x.observation(f.field, f.name); err != nil {
			return err
		}
	}
	return nil
}

// observation reads a column as one observation, or as one for each value of its
// one-hot vocabulary.
func (x *binder) observation(field int, name string) error {
	key, v := x.vocabulary(name)
	if !v.OneHot {
		x.b.observations, x.b.hot = append(x.b.observations, name), append(x.b.hot, hotOf(key, allWords, v))
		return x.value(field, blkObs, name)
	}
	for i := range v.Words {
		if err := x.oneHot(field, hotOf(key, i, v), v.Column(name, i)); err != nil {
			return err
		}
	}
	return nil
}

// oneHot reads a column as the observation that its value is a certain word.
func (x *binder) oneHot(field int, h hot, name string) error {
	x.b.observations, x.b.hot = append(x.b.observations, name), append(x.b.hot, h)
	return x.encode(field, blkObs, h)
}

// listObservation reads one column as all observations, named obs_0 and so on.
func (x *binder) listObservation(field int) error {
	if !x.fields[field].List {
		return x.observation(field, canon.Observation)
	}
	w, err := x.list(field, blkObs)
	for i := range w {
		x.b.observations, x.b.hot = append(x.b.observations, canon.PrefixObs+strconv.Itoa(i)), append(x.b.hot, hot{word: allWords})
	}
	return err
}

func (x *binder) namedObservations() error {
	if i, ok := x.byName[canon.Observation]; ok && x.fields[i].List && len(x.o.Observations) > 0 {
		w, err := x.t.Width(i)
		if err != nil {
			return err
		}
		all := make([]string, w)
		for k := range all {
			all[k] = canon.PrefixObs + strconv.Itoa(k)
		}
		if slices.Equal(x.o.Observations, all) || slices.Equal(x.o.Observations, []string{canon.Observation}) {
			return x.listObservation(i)
		}
	}
	for _, name := range x.o.Observations {
		if err := x.note(x.namedObservation(name)); err != nil {
			return err
		}
	}
	return x.note(x.indicators())
}

func (x *binder) namedObservation(name string) error {
	i := x.find(name)
	h, ok := x.oneHotNamed(name)
	switch {
	case i < 0 && !ok && x.o.Indicators && strings.HasSuffix(name, canon.SuffixMissing):
		x.indicator(name)
		return nil
	case ok && i >= 0:
		return x.fail(x.fields[i].Name, "the file has a column of this name, which is also that of a one-hot column of "+h.key, "rename one of them in data.columns")
	case ok:
		return x.oneHot(x.find(h.key), h, name)
	case i < 0:
		return x.fail(name, "the file has no such observation column", "correct the name, or map it to a column of the file"+x.nearest(name))
	case x.outcome(i):
		return x.fail(x.fields[i].Name, "is known only after the decision, and is asked for as an observation", "name columns that were observed before the action")
	}
	return x.observation(i, name)
}

// outcome tells whether a column holds what follows a decision: a policy or a feature
// that read it would know what it is to predict.
func (x *binder) outcome(field int) bool {
	name := x.fields[field].Name
	for _, c := range []string{canon.Reward, canon.Terminated, canon.Truncated, canon.NextObservation} {
		own := []string{c}
		if column, ok := x.o.Columns[c]; ok {
			own = []string{column}
		} else if _, ok := x.byName[c]; !ok {
			own = canon.Aliases(c)
		}
		if slices.Contains(own, name) {
			return true
		}
	}
	return strings.HasPrefix(name, canon.PrefixNext+canon.PrefixObs)
}

// find looks for an observation column by the name asked for.
func (x *binder) find(name string) int {
	for _, n := range []string{name, canon.PrefixObs + name} {
		if i, ok := x.mapped(n); ok {
			return i
		}
	}
	for _, n := range []string{name, canon.PrefixObs + name, strings.TrimPrefix(name, canon.PrefixObs)} {
		if i, ok := x.byName[n]; ok {
			return i
		}
	}
	return -1
}

// next finds the observations after a decision: all of them or none.
func (x *binder) next() error {
	if (x.o.Need|x.o.Optional)&trajectory.Final == 0 || x.o.OneRowEpisodes || !x.b.has(blkObs) {
		return nil
	}
	if i, err := x.lookup(canon.NextObservation); err != nil {
		return err
	} else if i >= 0 && x.fields[i].List {
		w, err := x.list(i, blkNext)
		if err == nil && w != x.b.width[blkObs] {
			return x.fail(x.fields[i].Name, "its lists are not as long as those of the observations", "make them equal")
		}
		return err
	}
	found := make([]int, len(x.b.observations))
	anyFound, lacking := false, ""
	for k, name := range x.b.observations {
		if x.b.hot[k].missing {
			continue
		}
		if h := x.b.hot[k]; h.word != allWords {
			name = h.key
		}
		if found[k] = x.named(canon.PrefixNext + name); found[k] < 0 {
			found[k] = x.named(canon.PrefixNext + x.b.column[blkObs][k])
		}
		if found[k] < 0 {
			lacking = canon.PrefixNext + name
		}
		anyFound = anyFound || found[k] >= 0
	}
	if !anyFound {
		return nil
	}
	if lacking != "" {
		return x.fail(lacking, "the file has next observations, but not this one", "add the column, or leave out the others")
	}
	for k, i := range found {
		read := func() error { return x.pick(i, blkNext) }
		if x.b.hot[k].missing {
			x.reserve(blkNext)
			continue
		}
		if x.b.hot[k].key != "" {
			read = func() error { return x.encode(i, blkNext, x.b.hot[k]) }
		}
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}
