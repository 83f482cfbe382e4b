package importing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/buildinfo"
	"github.com/discreet-rl/discreet/internal/filelock"
	"github.com/discreet-rl/discreet/internal/scan"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Manifest says what a table was made of.
type Manifest struct {
	// Private says whom the manifest is for.
	Private string `json:"private"`
	Version string `json:"version"`
	Program string `json:"program"`
	// Table is the Parquet file, and CSV the same rows for auditors, nil without. All that
	// follows is in the metadata of the table as well: whoever recognises its bytes, as a
	// ledger does, knows what it was made of.
	Table *scan.Contents `json:"table,omitempty"`
	CSV   *scan.Contents `json:"csv,omitempty"`
	// Inputs are the raw files. Records are their rows, those that hold a last observation
	// alone included, and Lines the physical lines of CSV files.
	Inputs  []scan.Contents `json:"inputs"`
	Records int             `json:"records"`
	Lines   int             `json:"lines,omitempty"`

	Persons  int `json:"persons"`
	Episodes int `json:"episodes"`
	Rows     int `json:"rows"`
	// Replaced counts the missing observations in whose place data.missing put a number:
	// all that was changed.
	Replaced int `json:"observations_replaced"`
	// Unusable are episodes that are in the table though some values cannot be used; nil
	// where there are none.
	Unusable *Unusable `json:"unusable,omitempty"`
}

// Unusable counts episodes, and lists the first 20 faults, with file and row, and how many
// there are of each kind.
type Unusable struct {
	Episodes int      `json:"episodes"`
	First    []string `json:"first"`
	Kinds    []Kind   `json:"kinds"`
}

// Kind counts faults of one kind.
type Kind struct {
	Column string `json:"column,omitempty"`
	What   string `json:"what"`
	Faults int    `json:"faults"`
}

// manifestMark is the text in the metadata of a table that holds its manifest.
const manifestMark = "discreet_manifest"

const forCurator = "counts and digests of data about people: for their curator alone"

// Order is what to import, and where to.
type Order struct {
	Config config.Config
	// Table is the Parquet file to write. The manifest has its name with .json behind it.
	// CSV, if not empty, is a CSV file to write as well. None of them may exist.
	Table, CSV string
	// Repair keeps episodes with a value that cannot be used, so that a question counts them
	// as missing. Otherwise they are refused.
	Repair   bool
	Progress scan.Progress
}

// parts is the number of parts that the rows are put into on disk before they are sorted.
const parts = 128

// Import makes the table, and returns its manifest and notices for the curator.
func Import(ctx context.Context, order Order) (m *Manifest, notices []string, err error) {
	for _, path := range order.files() {
		if _, err := os.Lstat(path); err == nil {
			return nil, nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
		}
	}
	s, err := spec.ForImport(order.Config, order.Repair)
	if err != nil {
		return nil, nil, err
	}
	if err := scan.CheckFiles(ctx, s); err != nil {
		return nil, nil, err
	}
	m = &Manifest{Private: forCurator, Version: scan.ImportVersion, Program: buildinfo.Version()}
	if order.Repair {
		m.Version = scan.RepairedVersion
	}
	if m.Inputs, err = scan.ContentsOf(ctx, s); err != nil {
		return nil, nil, err
	}
	dir, end, err := rowsBeside(order.Table)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	rows, notices, err := m.read(ctx, s, dir, order.Progress)
	if fault := (*trajectory.InputError)(nil); order.Repair && errors.As(err, &fault) {
		err = fmt.Errorf("%w\n--repair keeps episodes whose values cannot be used; whose a row is, and which rows are an episode, no rule can say: mend the raw data", err)
	}
	if err == nil {
		err = m.stood(ctx, s)
	}
	if err == nil {
		err = m.write(ctx, rows, dir, order)
	}
	if err != nil {
		return nil, notices, err
	}
	return m, notices, nil
}

// files are those that will be written.
func (o *Order) files() []string {
	all := []string{o.Table, o.Table + ".json"}
	if o.CSV != "" {
		all = append(all, o.CSV)
	}
	return all
}

// read puts the rows on disk, in order.
func (m *Manifest) read(ctx context.Context, s *spec.Spec, dir string, progress scan.Progress) (*file.Spill, []string, error) {
	o := s.Reading
	o.Progress = progress
	columns, fault := scan.Columns(ctx, s, nil)
	o.Observations = s.ImportColumns(columns)
	in, err := file.Open(ctx, s.Paths, s.Format, o)
	if err != nil {
		return nil, nil, err
	}
	seed := maphash.MakeSeed()
	rows, err := in.Spill(dir, parts, func(id string) int { return int(maphash.String(seed, id) % parts) })
	if err != nil {
		return nil, nil, err
	}
	sum, err := rows.Sort(ctx)
	if err == nil {
		err = fault
	}
	if err != nil {
		return nil, nil, err
	}
	m.Records, m.Lines, m.Persons, m.Episodes, m.Rows, m.Replaced = sum.Records, sum.Lines, sum.Persons, sum.Episodes, sum.Rows, sum.Repaired.Observations
	m.Unusable = unusable(sum.Repaired)
	return rows, sum.Notices, nil
}

// unusable says which episodes cannot be used.
func unusable(r trajectory.Repaired) *Unusable {
	if r.Episodes == 0 {
		return nil
	}
	u := &Unusable{Episodes: r.Episodes}
	for _, k := range r.Kinds {
		u.Kinds = append(u.Kinds, Kind(k))
	}
	for _, e := range r.First {
		e := *e
		e.File = filepath.Base(e.File)
		u.First = append(u.First, e.Error())
	}
	return u
}

// stood says whether the inputs are those whose contents the manifest states, before a table of
// them takes its name.
func (m *Manifest) stood(ctx context.Context, s *spec.Spec) error {
	again, err := scan.ContentsOf(ctx, s)
	if err != nil {
		return err
	}
	for i, was := range m.Inputs {
		if len(again) != len(m.Inputs) || again[i] != was {
			return &trajectory.InputError{File: was.File, What: "was changed while it was read", Remedy: "import it when nobody writes to it", Kind: trajectory.ErrFormat}
		}
	}
	return nil
}

// write writes the table, then what goes with it, in a directory of its own until each is
// whole. Nothing is left where it fails.
func (m *Manifest) write(ctx context.Context, rows *file.Spill, dir string, order Order) (err error) {
	var made []string
	defer func() {
		for _, path := range made {
			if err != nil {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	create := func(path string, write func(io.Writer) error) (*scan.Contents, error) {
		w := counted{hash: sha256.New()}
		err := atomicfile.CreateFrom(dir, path, 0o600, func(to io.Writer) error {
			w.to = to
			return write(&w)
		})
		if err == nil {
			made = append(made, path)
		}
		return &scan.Contents{File: filepath.Base(path), Bytes: w.n, SHA256: hex.EncodeToString(w.hash.Sum(nil))}, err
	}
	within, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if m.Table, err = create(order.Table, func(w io.Writer) error {
		return rows.WriteParquet(ctx, w, map[string]string{scan.ImportMark: m.Version, manifestMark: string(within)})
	}); err != nil {
		return err
	}
	if order.CSV != "" {
		if m.CSV, err = create(order.CSV, func(w io.Writer) error { return rows.WriteCSV(ctx, w) }); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	_, err = create(order.Table+".json", func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	return err
}

// counted hashes and counts what is written.
type counted struct {
	to   io.Writer
	hash interface {
		io.Writer
		Sum([]byte) []byte
	}
	n int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.hash.Write(b[:n])
	c.n += int64(n)
	return n, err
}

// rowsBeside makes a directory for rows beside a table that is made, under a name that
// follows from its, so that the next import finds what a killed process left; end removes it.
func rowsBeside(table string) (dir string, end func() error, err error) {
	dir = filepath.Join(filepath.Dir(table), ".importing-"+filepath.Base(table))
	lock, err := filelock.Take(dir + ".lock")
	if errors.Is(err, filelock.ErrHeld) {
		return "", nil, fmt.Errorf("%w: %s is being made already: wait for its end, or choose another name (%w)", config.ErrConfig, table, err)
	}
	if err != nil {
		return "", nil, err
	}
	err = os.RemoveAll(dir)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		return "", nil, errors.Join(err, lock.Release())
	}
	return dir, func() error { return errors.Join(os.RemoveAll(dir), lock.Release()) }, nil
}
