package minarifile

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Format reads and names Minari datasets.
func Format() table.Format {
	return table.Format{Name: "minari", Extensions: []string{"metadata.json"}, Open: Open}
}

// Open opens a dataset: its directory, the data directory below it, or the
// metadata.json in that. It has read the first episode when it returns.
func Open(_ context.Context, path string) (table.Table, error) {
	if source.Remote(path) {
		return nil, &trajectory.InputError{File: path, What: "is no file of this machine, and a dataset of Minari is read from files", Remedy: "copy it, or write Parquet", Kind: trajectory.ErrFormat}
	}
	d, err := openDataset(path)
	if err != nil {
		return nil, err
	}
	r := &reader{d: d}
	if err := r.load(); err != nil {
		return nil, err
	}
	r.findColumns()
	return r, nil
}

// role says where a column comes from.
type role uint8

const (
	observation role = iota // of every row, the last one included
	action
	decision // of every row but the last
	flag     // likewise
	episodeID
	unitID
)

// column is a column of the canonical schema, or one of infos.
type column struct {
	name  string
	role  role
	leaf  int // in the episode's leaves
	from  int // place within a row of the leaf
	list  bool
	width int
}

// reader is an open dataset. It holds one episode.
type reader struct {
	d       *dataset
	columns []column
	picks   []table.Pick

	part   int // number of episodes loaded so far
	ids    ids
	idFile string // which says them
	named  ids    // which ids the first episode has
	leaves []leaf
	first  []leaf // of the first episode, without values
	rows   int    // of this episode, the last observation included
	at     int    // rows delivered
	row    int    // rows delivered of all episodes
	bytes  int64
	failed error
}

// load reads the next episode, or returns io.EOF.
func (r *reader) load() error {
	if r.part == len(r.d.parts) {
		return io.EOF
	}
	dir := filepath.Join(r.d.data, strconv.Itoa(r.d.parts[r.part]))
	r.part++
	r.ids = ids{}
	r.idFile = filepath.Join(dir, "metadata.json")
	if err := r.identify(r.idFile); err != nil {
		return err
	}
	file := filepath.Join(dir, r.d.file)
	read := readParquet
	if r.d.meta.DataFormat == "arrow" {
		read = readArrow
	}
	leaves, err := read(file)
	if err != nil {
		return err
	}
	if info, err := os.Stat(file); err == nil {
		r.bytes += info.Size()
	}
	r.leaves, r.at = leaves, 0
	return r.check(file)
}

// identify reads whose an episode is. All episodes have an id or none has: one
// without must not change whose the others are.
func (r *reader) identify(file string) error {
	if err := readJSON(file, &r.ids); err != nil {
		return err
	}
	if r.part == 1 {
		r.named = r.ids
	}
	for _, c := range []struct {
		name          string
		here, earlier *string
	}{{"unit_id", r.ids.Unit, r.named.Unit}, {"episode_id", r.ids.Episode, r.named.Episode}} {
		switch {
		case c.here == nil && c.earlier != nil:
			return &trajectory.InputError{File: file, Column: c.name, What: "this episode has none, and the episodes before it have one", Remedy: "give every episode one, or none", Kind: trajectory.ErrColumn}
		case c.here != nil && c.earlier == nil:
			return &trajectory.InputError{File: file, Column: c.name, What: "this episode has one, and the episodes before it have none", Remedy: "give every episode one, or none", Kind: trajectory.ErrColumn}
		}
	}
	return nil
}

// check wants the columns of the first episode, and one row more than there are
// decisions.
func (r *reader) check(file string) error {
	r.rows = 0
	for _, l := range r.leaves {
		if l.bad == "" {
			r.rows = len(l.values) / l.width
		}
	}
	if r.rows < 2 {
		return fault(file, "the episode has no decision", "drop it", trajectory.ErrEpisode, nil)
	}
	if n := r.ids.TotalSteps; n != nil && *n != r.rows-1 {
		return fault(file, "its rows are not one more than the total_steps of its metadata", "the episode may be copied in part; copy the dataset anew", trajectory.ErrFormat, nil)
	}
	for _, l := range r.leaves {
		if l.bad == "" && len(l.values) != r.rows*l.width {
			return fault(file, "its columns differ in length", "the file may be damaged; write the dataset anew", trajectory.ErrFormat, nil)
		}
	}
	if r.first == nil {
		for _, l := range r.leaves {
			l.values = nil
			r.first = append(r.first, l)
		}
		return nil
	}
	same := len(r.leaves) == len(r.first)
	for i := 0; same && i < len(r.leaves); i++ {
		a, b := r.leaves[i], r.first[i]
		same = a.name == b.name && a.list == b.list && a.width == b.width && a.bad == b.bad
	}
	if !same {
		return fault(file, "its columns differ from those of the first episode", "give all episodes the same columns", trajectory.ErrColumn, nil)
	}
	return nil
}

// findColumns names the columns by the leaves of the first episode.
func (r *reader) findColumns() {
	add := func(c column) { r.columns = append(r.columns, c) }
	add(column{name: "episode_id", role: episodeID, width: 1})
	if r.ids.Unit != nil {
		add(column{name: "unit_id", role: unitID, width: 1})
	}
	for i, l := range r.first {
		c := column{name: l.name, role: decision, leaf: i, list: l.list, width: l.width}
		top, rest, nested := strings.Cut(l.name, ".")
		switch top {
		case "observations":
			c.role = observation
			r.observations(c, rest, nested)
			continue
		case "actions":
			c.role, c.name = action, "action"+strings.TrimPrefix(l.name, "actions")
		case "rewards":
			c.name = "reward"
		case "terminations":
			c.role, c.name = flag, "terminated"
		case "truncations":
			c.role, c.name = flag, "truncated"
		case "infos":
			switch rest {
			case "behavior_prob", "action_probs", "target_prob", "discount":
				c.name = rest
			}
		}
		add(c)
	}
}

// observations names the columns of one leaf of observations: as the metadata
// say, or by the keys of a dictionary.
func (r *reader) observations(c column, rest string, nested bool) {
	names := r.d.meta.Columns
	switch {
	case c.list && !nested && len(names) == c.width:
		for k, name := range names {
			one := c
			one.name, one.from, one.width, one.list = name, k, 1, false
			r.columns = append(r.columns, one)
		}
	case !nested:
		c.name = "observation"
		if !c.list && len(names) == 1 {
			c.name = names[0]
		}
		r.columns = append(r.columns, c)
	case c.width == 1:
		c.name, c.list = "obs_"+rest, false
		r.columns = append(r.columns, c)
	default:
		for k := range c.width {
			one := c
			one.name, one.from, one.width, one.list = "obs_"+rest+"_"+strconv.Itoa(k), k, 1, false
			r.columns = append(r.columns, one)
		}
	}
}

// Fields implements [table.Table].
func (r *reader) Fields() []table.Field {
	out := make([]table.Field, len(r.columns))
	for i, c := range r.columns {
		out[i] = table.Field{Name: c.name, List: c.list}
	}
	return out
}

// Width implements [table.Table].
func (r *reader) Width(i int) (int, error) { return r.columns[i].width, nil }

// Select implements [table.Table].
func (r *reader) Select(picks []table.Pick) error {
	for _, p := range picks {
		c := &r.columns[p.Field]
		named := c.role == episodeID || c.role == unitID
		what := ""
		if !named {
			what = r.first[c.leaf].bad
		}
		switch {
		case what != "" && p.Kind != table.Presence:
		case p.Kind == table.Key && !named:
			what = "is no id"
		case p.Kind == table.Number && named:
			what = "is no number"
		default:
			what = ""
		}
		if what != "" {
			return &trajectory.InputError{File: r.d.data, Column: c.name, What: what, Remedy: p.Advise("write it as numbers, or leave it out"), Kind: trajectory.ErrColumn}
		}
	}
	r.picks = append(r.picks, picks...)
	return nil
}

// Progress implements [table.Table].
func (r *reader) Progress() int64 { return r.bytes }

// Close implements [table.Table].
func (r *reader) Close() error {
	r.leaves, r.failed = nil, os.ErrClosed
	return nil
}

// Read implements [table.Table].
func (r *reader) Read(b *table.Batch) error {
	if r.failed == nil && r.at == r.rows {
		r.failed = r.load()
	}
	if r.failed != nil {
		return r.failed
	}
	n := min(b.Cap, r.rows-r.at)
	for _, p := range r.picks {
		r.deliver(b, p, n)
	}
	b.SortFaults()
	for i := range n {
		b.Row[i] = r.row + i + 1
	}
	b.Rows = n
	r.at += n
	r.row += n
	return nil
}

// deliver copies the next n rows of a column. In the last row of an episode
// nothing but the observation is real.
func (r *reader) deliver(b *table.Batch, p table.Pick, n int) {
	c := &r.columns[p.Field]
	if p.Kind == table.Key {
		id := r.id(c.role)
		if len(id) > table.MaxKey {
			id = id[:table.MaxKey]
			if r.at == 0 { // told once an episode
				b.Rows = 0
				b.Fail(table.LongKey(r.idFile, 0, c.name))
			}
		}
		b.Keys[p.Block].Append(id, n)
		return
	}
	block := &b.Blocks[p.Block]
	l := &r.leaves[c.leaf]
	width := max(p.List, 1)
	if p.Kind == table.Presence {
		width = 1
	}
	for i := range n {
		dst := block.Values[i*block.Width+p.Offset:][:width]
		row := r.at + i
		switch {
		case c.role != observation && row == r.rows-1:
			for k := range dst {
				dst[k] = table.Null()
			}
		case p.Kind == table.Presence:
			dst[0] = 1
			if l.bad == "" && table.IsNull(l.values[row*l.width+c.from]) {
				dst[0] = table.Null()
			}
		default:
			copy(dst, l.values[row*l.width+c.from:])
			if c.role == action {
				dst[0] -= float64(r.d.start) // a missing one stays missing below
				if table.IsNull(l.values[row*l.width+c.from]) {
					dst[0] = table.Null()
				}
			}
		}
	}
}

// id is the text of a key of this episode.
func (r *reader) id(which role) []byte {
	switch {
	case which == unitID && r.ids.Unit != nil:
		return []byte(*r.ids.Unit)
	case which == unitID:
		return nil
	case r.ids.Episode != nil:
		return []byte(*r.ids.Episode)
	}
	return strconv.AppendInt(nil, int64(r.d.parts[r.part-1]), 10)
}
