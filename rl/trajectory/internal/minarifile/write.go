package minarifile

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Layout is how the numbers of an episode lie in its file.
type Layout string

// The layouts that are written; the word is Minari's data_format.
const (
	Parquet Layout = "parquet"
	Arrow   Layout = "arrow"
)

// Write writes a dataset in a layout to a new directory, whose name should be
// one that Minari accepts, such as clinic-v0. Observations become one
// box of float64, whose columns are named in the metadata; probabilities and
// discounts become infos; persons and the names of episodes become metadata of
// the episodes. What was written of a failed attempt is removed. Only its owner
// may read the directory: it holds data about people.
//
// Minari wants an observation after the last decision. Where a terminated episode
// has none its last observation is repeated, which nobody should use; a truncated
// episode without one is an error that wraps [trajectory.ErrEpisode].
func Write(dir string, layout Layout, d *trajectory.Dataset) error {
	x := &writer{d: d, l: table.NewLayout(d, table.Form{}), layout: layout, data: filepath.Join(dir, "data")}
	if filepath.Base(dir) == "metadata.json" {
		return fmt.Errorf("minari: %w: a dataset is a directory; name that, with the format minari", trajectory.ErrOptions)
	}
	if err := x.check(); err != nil {
		return err
	}
	x.list()
	x.write = map[Layout]func(f *os.File, rows int, columns []written) error{Parquet: writeParquet, Arrow: writeArrow}[layout]
	if x.write == nil {
		return fmt.Errorf("minari: %w: layout %q is not written; choose parquet or arrow", trajectory.ErrOptions, layout)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err // also when it is there already
	}
	err := os.Mkdir(x.data, 0o700)
	for p := range d.Persons() {
		for e := d.PersonStart[p]; e < d.PersonStart[p+1] && err == nil; e++ {
			err = x.episode(p, e)
		}
	}
	if err == nil {
		err = x.metadata(dir)
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

type writer struct {
	d       *trajectory.Dataset
	l       *table.Layout
	layout  Layout
	data    string
	columns []written
	write   func(f *os.File, rows int, columns []written) error
}

// number is the type of a column's numbers.
type number uint8

const (
	double number = iota
	int64s
	boolean
)

// written is a column of an episode's file.
type written struct {
	path  string // a part of infos has a dot
	kind  number
	list  bool
	width int // of a row
	fill  func(dst []float64, from, to int)
	last  func(dst []float64, e, end int)
	// values holds the rows of the episode at hand, width numbers each; every kind
	// of number is exact as a float64.
	values []float64
}

// check looks for what Minari cannot hold.
func (x *writer) check() error {
	d := x.d
	if d.Action == nil || len(d.Columns) == 0 || d.Episodes() == 0 {
		return fmt.Errorf("minari: %w: the dataset has no actions, no observations or no episodes, and Minari keeps all of them; write another format", trajectory.ErrColumn)
	}
	if !x.l.Ends {
		return fmt.Errorf("minari: %w: it is not known how the episodes end, and Minari keeps that; read the data with the column terminated, or write another format", trajectory.ErrColumn)
	}
	for e := range d.Episodes() {
		if !d.Ended(e) && d.FinalObservation(e) == nil {
			return fmt.Errorf("minari: %w: episode %d is truncated and the observation after it is unknown; write another format", trajectory.ErrEpisode, e)
		}
	}
	return nil
}

// list lists the columns, sorted by path. The row after the last decision holds
// the observation after it, and zeros elsewhere.
func (x *writer) list() {
	d := x.d
	zeros := func([]float64, int, int) {}
	doubles := func(path string, list bool, width int, values []float64) {
		if values == nil {
			return
		}
		x.columns = append(x.columns, written{path: path, list: list, width: width, last: zeros,
			fill: func(dst []float64, from, to int) { copy(dst, values[from*width:to*width]) }})
	}
	flag := func(path string, wanted bool) {
		x.columns = append(x.columns, written{path: path, kind: boolean, width: 1,
			fill: func([]float64, int, int) {},
			last: func(dst []float64, e, end int) {
				if d.Ended(e) == wanted {
					dst[end-1] = 1
				}
			}})
	}
	x.columns = append(x.columns, written{path: "actions", kind: int64s, width: 1, last: zeros,
		fill: func(dst []float64, from, to int) {
			for i, a := range d.Action[from:to] {
				dst[i] = float64(a)
			}
		}})
	doubles("infos.action_probs", true, d.Actions, d.ActionProbs)
	doubles("infos.behavior_prob", false, 1, d.BehaviorProb)
	doubles("infos.discount", false, 1, d.Discount)
	doubles("infos.target_prob", false, 1, d.TargetProb)
	doubles("observations", true, len(d.Columns), d.Obs)
	x.columns[len(x.columns)-1].last = x.finalObservation
	doubles("rewards", false, 1, d.Reward)
	flag("terminations", true)
	flag("truncations", false)
}

// finalObservation puts the observation after an episode's last decision.
func (x *writer) finalObservation(dst []float64, e, end int) {
	final := x.d.FinalObservation(e)
	if final == nil {
		final = x.d.Observation(x.d.EpisodeStart[e+1] - 1)
	}
	copy(dst[end*len(x.d.Columns):], final)
}

// episode writes one episode.
func (x *writer) episode(p, e int) error {
	d := x.d
	dir := filepath.Join(x.data, strconv.Itoa(e))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	lo, hi := d.EpisodeStart[e], d.EpisodeStart[e+1]
	about := map[string]any{"id": e, "total_steps": hi - lo, "unit_id": x.l.Person(p)}
	if d.EpisodeID != nil {
		about["episode_id"] = d.EpisodeID[e]
	}
	if err := writeJSON(filepath.Join(dir, "metadata.json"), about); err != nil {
		return err
	}
	rows := hi - lo + 1
	for i := range x.columns {
		c := &x.columns[i]
		c.values = slices.Grow(c.values[:0], rows*c.width)[:rows*c.width]
		clear(c.values)
		c.fill(c.values, lo, hi)
		c.last(c.values, e, rows-1)
	}
	f, err := os.OpenFile(filepath.Join(dir, "part-0."+string(x.layout)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(x.write(f, rows, x.columns), f.Close())
}

// metadata writes what Minari wants to know of a dataset.
func (x *writer) metadata(dir string) error {
	d := x.d
	w := len(d.Columns)
	bound := func(word string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(word+", ", w), ", ") + "]"
	}
	actions := max(d.Actions, int(slices.Max(d.Action))+1)
	return writeJSON(filepath.Join(x.data, "metadata.json"), map[string]any{
		"dataset_id": filepath.Base(dir), "data_format": x.layout, "jpeg_encoding": true,
		"total_episodes": d.Episodes(), "total_steps": d.Rows(), "minari_version": "0.5.3",
		"observation_space": fmt.Sprintf(`{"type": "Box", "dtype": "float64", "shape": [%d], "low": %s, "high": %s}`, w, bound("-Infinity"), bound("Infinity")),
		"action_space":      fmt.Sprintf(`{"type": "Discrete", "dtype": "int64", "start": 0, "n": %d}`, actions),
		"dataset_size":      0.0, "discreet_columns": x.l.Observations, "discreet_schema_version": canon.Version,
	})
}

func writeJSON(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}
