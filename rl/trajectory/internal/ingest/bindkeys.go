package ingest

import (
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// The keys of a batch; those of words come after them.
const (
	keyEpisode = iota
	keyUnit
	keys
)

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
	case i >= 0 && x.fields[i].Dated:
		err = x.fail(x.fields[i].Name, "has a type of dates, which are no numbers", "set data.steps: {kind: date, sort: true}")
	case i >= 0:
		err = x.pick(i, blkStep)
	case x.o.Steps != trajectory.Steps{} || x.o.Cuts():
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
		if x.o.Joined[canon.Unit] != nil {
			x.join(canon.Unit, keyEpisode)
			return nil
		}
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
	if x.o.Joined[canon.Episode] != nil {
		x.join(canon.Episode, keyEpisode)
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

// unit finds the column that names the person, where persons are asked for.
func (x *binder) unit() error {
	if x.o.Unit == trajectory.UnitEpisode || x.o.Unit == trajectory.UnitRow {
		return nil
	}
	if x.o.Joined[canon.Unit] != nil {
		x.join(canon.Unit, keyUnit)
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

// joinable wants the column by which outcomes are joined.
func (x *binder) joinable() error {
	if len(x.o.OutcomeFiles) > 0 && x.o.OutcomeBy == canon.Unit && !x.b.hasKey[keyUnit] {
		return x.missing(canon.Unit)
	}
	return nil
}
