package figure

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strconv"

	"github.com/discreet-rl/discreet/internal/atomicfile"
)

// finished is an item whose jobs are all done.
type finished struct {
	Item
	table  *Table
	claims []Claim
	trials int
	quick  bool
}

// write renders every item whose jobs are done: those of this run, and those
// that an earlier one finished, in full where the directory has that.
func write(s Study, st *store, o Options) (*Result, error) {
	var all []finished
	r := &Result{Claims: []Claim{}}
	for _, item := range s.Items {
		f, ok := collect(item, st)
		if !ok {
			continue
		}
		if err := f.write(o.Dir); err != nil {
			return nil, err
		}
		all = append(all, f)
		r.Items = append(r.Items, item.Name)
		r.Claims = append(r.Claims, f.claims...)
	}
	err := atomicfile.Write(filepath.Join(o.Dir, "claims.json"), 0o644, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r.Claims)
	})
	return r, errors.Join(err, writeIndex(filepath.Join(o.Dir, "index.html"), s, all))
}

// collect reads an item's samples in the order of its jobs; ok is false while
// jobs of both the full and the quick list are missing.
func collect(item Item, st *store) (f finished, ok bool) {
	for _, quick := range []bool{false, true} {
		samples, trials, whole := []Sample(nil), 0, true
		for _, j := range item.Jobs(quick) {
			got, found := st.done[job{item.Name, j.Key}]
			samples, whole = append(samples, got...), whole && found
			trials++
		}
		if !whole {
			continue
		}
		f = finished{Item: item, table: newTable(samples), trials: trials, quick: quick}
		if item.Claims != nil {
			f.claims = item.Claims(f.table)
		}
		return f, true
	}
	return f, false
}

func (f finished) write(dir string) error {
	path := filepath.Join(dir, f.Name)
	return errors.Join(
		atomicfile.Write(path+".csv", 0o644, f.writeCSV),
		atomicfile.Write(path+".svg", 0o644, func(w io.Writer) error { return draw(w, "svg", f.Panels, f.table) }),
		atomicfile.Write(path+".png", 0o644, func(w io.Writer) error { return draw(w, "png", f.Panels, f.table) }))
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
