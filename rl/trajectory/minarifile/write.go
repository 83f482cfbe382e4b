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
	"github.com/parquet-go/parquet-go"
)

// Write writes a dataset in the Parquet layout to a new directory, whose name
// should be one that Minari accepts, such as clinic-v0. Observations become one
// box of float64, whose columns are named in the metadata; probabilities and
// discounts become infos; persons and the names of episodes become metadata of
// the episodes. What was written of a failed attempt is removed. Only its owner
// may read the directory: it holds data about people.
//
// Minari wants an observation after the last decision. Where a terminated episode
// has none its last observation is repeated, which nobody should use; a truncated
// episode without one is an error that wraps [trajectory.ErrEpisode].
func Write(dir string, d *trajectory.Dataset) error {
	x := &writer{d: d, l: trajectory.NewLayout(d), data: filepath.Join(dir, "data")}
	if filepath.Base(dir) == "metadata.json" {
		return fmt.Errorf("minari: %w: a dataset is a directory; name that, with the format minari", trajectory.ErrOptions)
	}
	if err := x.check(); err != nil {
		return err
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
	d      *trajectory.Dataset
	l      *trajectory.Layout
	data   string
	leaves []written
	schema *parquet.Schema
}

// written is a column of an episode's file: the numbers of a row, or a flag.
type written struct {
	path   string
	node   parquet.Node
	list   bool
	values func(dst []parquet.Value, row int) []parquet.Value // of a decision
	pad    int                                                // how many zeros stand in the last row
}

// check looks for what Minari cannot hold, and lists the columns.
func (x *writer) check() error {
	d := x.d
	bad := func(what string, kind error) error { return fmt.Errorf("minari: %w: %s", kind, what) }
	if d.Action == nil || len(d.Columns) == 0 || d.Episodes() == 0 {
		return bad("the dataset has no actions, no observations or no episodes, and Minari keeps all of them; write another format", trajectory.ErrColumn)
	}
	for e := range d.Episodes() {
		if !d.Terminated[e] && d.FinalObservation(e) == nil {
			return bad(fmt.Sprintf("episode %d is truncated and the observation after it is unknown; write another format", e), trajectory.ErrEpisode)
		}
	}
	double := parquet.Leaf(parquet.DoubleType)
	numbers := func(path string, list bool, width int, values []float64) {
		if values == nil {
			return
		}
		w := written{path: path, node: double, list: list, pad: width}
		if list {
			w.node = parquet.List(double)
		}
		w.values = func(dst []parquet.Value, row int) []parquet.Value {
			for _, v := range values[row*width : (row+1)*width] {
				dst = append(dst, parquet.DoubleValue(v))
			}
			return dst
		}
		x.leaves = append(x.leaves, w)
	}
	x.leaves = append(x.leaves, written{path: "actions", node: parquet.Leaf(parquet.Int64Type), pad: 1,
		values: func(dst []parquet.Value, row int) []parquet.Value {
			return append(dst, parquet.Int64Value(int64(d.Action[row])))
		}})
	numbers("infos.action_probs", true, d.Actions, d.ActionProbs)
	numbers("infos.behavior_prob", false, 1, d.BehaviorProb)
	numbers("infos.discount", false, 1, d.Discount)
	numbers("infos.target_prob", false, 1, d.TargetProb)
	numbers("observations", true, len(d.Columns), d.Obs)
	numbers("rewards", false, 1, d.Reward)
	// The flags are put in row by row.
	x.leaves = append(x.leaves, written{path: "terminations", node: parquet.Leaf(parquet.BooleanType)},
		written{path: "truncations", node: parquet.Leaf(parquet.BooleanType)})
	x.build()
	return nil
}

// build makes the schema. A group sorts its columns by name, as the leaves are.
func (x *writer) build() {
	top, infos := parquet.Group{}, parquet.Group{}
	for _, w := range x.leaves {
		if name, ok := strings.CutPrefix(w.path, "infos."); ok {
			infos[name] = w.node
		} else {
			top[w.path] = w.node
		}
	}
	if len(infos) > 0 {
		top["infos"] = infos
	}
	x.schema = parquet.NewSchema("schema", top)
}

// episode writes one episode.
func (x *writer) episode(p, e int) error {
	d := x.d
	dir := filepath.Join(x.data, strconv.Itoa(e))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	lo, hi := d.EpisodeStart[e], d.EpisodeStart[e+1]
	about := map[string]any{"id": e, "total_steps": hi - lo}
	if x.l.Units {
		about["unit_id"] = x.l.Person(p)
	}
	if d.EpisodeID != nil {
		about["episode_id"] = d.EpisodeID[e]
	}
	if err := writeJSON(filepath.Join(dir, "metadata.json"), about); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "part-0.parquet"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	w := parquet.NewWriter(f, x.schema, parquet.Compression(&parquet.Snappy))
	rows := make([]parquet.Row, 0, hi-lo+1)
	for row := lo; row <= hi; row++ {
		rows = append(rows, x.row(e, row, hi))
	}
	_, err = w.WriteRows(rows)
	return errors.Join(err, w.Close(), f.Close())
}

// row makes one row of an episode that ends before row hi; hi itself is the
// observation after the last decision, and padding.
func (x *writer) row(e, row, hi int) parquet.Row {
	var out parquet.Row
	var values []parquet.Value
	for column, w := range x.leaves {
		values = values[:0]
		switch {
		case w.path == "terminations":
			values = append(values, parquet.BooleanValue(row == hi-1 && x.d.Terminated[e]))
		case w.path == "truncations":
			values = append(values, parquet.BooleanValue(row == hi-1 && !x.d.Terminated[e]))
		case row < hi:
			values = w.values(values, row)
		case w.path == "observations":
			for _, v := range x.last(e, hi) {
				values = append(values, parquet.DoubleValue(v))
			}
		case w.path == "actions":
			values = append(values, parquet.Int64Value(0))
		default:
			for range w.pad {
				values = append(values, parquet.DoubleValue(0))
			}
		}
		for i, v := range values {
			repetition, definition := 0, 0
			if w.list {
				repetition, definition = min(i, 1), 1
			}
			out = append(out, v.Level(repetition, definition, column))
		}
	}
	return out
}

// last is the observation after an episode's last decision.
func (x *writer) last(e, hi int) []float64 {
	if final := x.d.FinalObservation(e); final != nil {
		return final
	}
	return x.d.Observation(hi - 1)
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
		"dataset_id": filepath.Base(dir), "data_format": "parquet", "jpeg_encoding": true,
		"total_episodes": d.Episodes(), "total_steps": d.Rows(), "minari_version": "0.5.3",
		"observation_space": fmt.Sprintf(`{"type": "Box", "dtype": "float64", "shape": [%d], "low": %s, "high": %s}`, w, bound("-Infinity"), bound("Infinity")),
		"action_space":      fmt.Sprintf(`{"type": "Discrete", "dtype": "int64", "start": 0, "n": %d}`, actions),
		"dataset_size":      0.0, "discreet_columns": x.l.Observations, "discreet_schema_version": trajectory.SchemaVersion,
	})
}

func writeJSON(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}
