package figure

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/discreet-rl/discreet/internal/atomicfile"
)

// finished is an item whose jobs are all done.
type finished struct {
	Item
	table  *Table
	claims []Claim
	trials int
	each   int // trials of each point; 0 where there are none
	quick  bool
	// part of whole is the number of trials of each point where the full run is
	// not finished; else both are 0.
	part, whole int
}

// write renders every item whose jobs are done: those of this run, and those
// that an earlier one finished, in full where the directory has that.
func write(s Study, st *store, o Options) (*Result, error) {
	var all []finished
	r := &Result{Claims: []Claim{}, Trials: map[string]int{}}
	for _, item := range s.Items {
		f, ok := collect(item, st)
		if !ok {
			continue
		}
		if o.Dir != "" {
			if err := f.write(o.Dir); err != nil {
				return nil, err
			}
		}
		all = append(all, f)
		r.Trials[item.Name] = f.each
		r.Items = append(r.Items, item.Name)
		r.Claims = append(r.Claims, f.claims...)
	}
	if o.Page != "" {
		if err := writeMarkdown(o.Page, s, all); err != nil {
			return nil, err
		}
	}
	if o.Dir == "" {
		return r, nil
	}
	err := atomicfile.Write(filepath.Join(o.Dir, "claims.json"), 0o644, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r.Claims)
	})
	return r, errors.Join(err, writeIndex(filepath.Join(o.Dir, "index.html"), s, all))
}

// collect reads an item's samples in the order of its jobs: those of the full
// list, or, where jobs of it are missing, its trials up to a number that all
// points have, or those of the quick list, whichever has more trials; ok is false
// where there are neither.
func collect(item Item, st *store) (f finished, ok bool) {
	full, quick := item.Jobs(false), item.Jobs(true)
	all, less := trialsOf(full), trialsOf(quick)
	part := st.part(item.Name, full)
	switch {
	case st.has(item.Name, full):
		f = finished{trials: len(full), each: all}
	case st.has(item.Name, quick) && less >= part:
		full = quick
		f = finished{trials: len(quick), each: less, quick: true}
	case part >= 2:
		full = slices.DeleteFunc(full, func(j Job) bool { return j.Trial > part })
		f = finished{trials: len(full), each: part, part: part, whole: all}
	default:
		return f, false
	}
	var samples []Sample
	for _, j := range full {
		samples = append(samples, st.done[job{item.Name, j.Key}]...)
	}
	f.Item, f.table = item, newTable(samples)
	if item.Claims != nil {
		f.claims = item.Claims(f.table)
	}
	return f, true
}

// trialsOf is the number of trials of each point, 0 where jobs do not say.
func trialsOf(jobs []Job) int {
	n := 0
	for _, j := range jobs {
		n = max(n, j.Trial)
	}
	return n
}

func (f finished) write(dir string) error {
	path := filepath.Join(dir, f.Name)
	return errors.Join(
		atomicfile.Write(path+".csv", 0o644, f.writeCSV),
		atomicfile.Write(path+".svg", 0o644, func(w io.Writer) error { return draw(w, f.Item, f.table) }))
}

// writeCSV writes one row a cell.
func (f finished) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	err := c.Write([]string{"panel", "series", "x", "mean", "standard_error", "standard_deviation", "trials"})
	for _, at := range f.table.order {
		cell := f.table.cells[at]
		err = errors.Join(err, c.Write([]string{at.panel, at.series, number(at.x), number(cell.Mean), number(cell.SE()), number(cell.SD), strconv.Itoa(cell.N)}))
	}
	c.Flush()
	return errors.Join(err, c.Error())
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
