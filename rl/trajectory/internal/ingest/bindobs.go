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
	for canonical, column := range x.o.Columns {
		if strings.HasPrefix(canonical, canon.PrefixObs) {
			flat = append(flat, found{x.byName[column], canonical})
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

func (x *binder) observation(field int, name string) error {
	x.b.observations = append(x.b.observations, name)
	return x.pick(field, blkObs)
}

// listObservation reads one column as all observations, named obs_0 and so on.
func (x *binder) listObservation(field int) error {
	if !x.fields[field].List {
		return x.observation(field, canon.Observation)
	}
	w, err := x.list(field, blkObs)
	for i := range w {
		x.b.observations = append(x.b.observations, canon.PrefixObs+strconv.Itoa(i))
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
		i := x.find(name)
		if i < 0 {
			return x.fail(name, "the file has no such observation column", "correct the name, or map it to a column of the file")
		}
		if err := x.observation(i, name); err != nil {
			return err
		}
	}
	return nil
}

// find looks for an observation column by the name asked for.
func (x *binder) find(name string) int {
	for _, n := range []string{name, canon.PrefixObs + name} {
		if column, ok := x.o.Columns[n]; ok {
			return x.byName[column]
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
	var found []int
	var lacking string
	for k, name := range x.b.observations {
		i, ok := x.byName[cmp.Or(x.o.Columns[canon.PrefixNext+name], canon.PrefixNext+name)]
		if !ok {
			i, ok = x.byName[canon.PrefixNext+x.b.column[blkObs][k]]
		}
		if !ok {
			lacking = canon.PrefixNext + name
			continue
		}
		found = append(found, i)
	}
	if len(found) > 0 && lacking != "" {
		return x.fail(lacking, "the file has next observations, but not this one", "add the column, or leave out the others")
	}
	for _, i := range found {
		if err := x.pick(i, blkNext); err != nil {
			return err
		}
	}
	return nil
}
