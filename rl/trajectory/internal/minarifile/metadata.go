package minarifile

import (
	"bytes"
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
)

// metadata is what is used of data/metadata.json.
type metadata struct {
	TotalEpisodes int    `json:"total_episodes"`
	DataFormat    string `json:"data_format"`
	ActionSpace   string `json:"action_space"`
	// Columns names the observations of a box, an addition of our own.
	Columns []string `json:"discreet_columns"`
	Version string   `json:"discreet_schema_version"`
}

// ids are what is used of data/<k>/metadata.json.
type ids struct {
	TotalSteps *int    `json:"total_steps"`
	Unit       *string `json:"unit_id"`    // our own
	Episode    *string `json:"episode_id"` // our own
}

// dataset is a directory of episodes.
type dataset struct {
	data  string // the data directory
	meta  metadata
	start int // the number of the first action
	file  string
	parts []int // the numbers of the episodes, sorted
}

func fault(file, what, remedy string, kind, cause error) error {
	return &trajectory.InputError{File: file, What: what, Remedy: remedy, Kind: kind, Cause: cause}
}

// openDataset finds the data directory and reads the metadata.
func openDataset(path string) (*dataset, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	d := &dataset{data: filepath.Dir(path)}
	if info.IsDir() {
		d.data = path
		if inner := filepath.Join(path, "data"); isFile(filepath.Join(inner, "metadata.json")) {
			d.data = inner
		}
	}
	file := filepath.Join(d.data, "metadata.json")
	if err := readJSON(file, &d.meta); errors.Is(err, os.ErrNotExist) {
		return nil, fault(path, "is not a Minari dataset: there is no data/metadata.json", "name the dataset's directory, such as ~/.minari/datasets/group/name-v0", trajectory.ErrFormat, err)
	} else if err != nil {
		return nil, err
	}
	if v := d.meta.Version; v != "" && v != canon.Version {
		return nil, fault(file, "the schema version is not known", "this program reads version "+canon.Version+"; write the dataset anew, or use a newer program", trajectory.ErrFormat, nil)
	}
	switch d.meta.DataFormat {
	case "parquet", "arrow":
		d.file = "part-0." + d.meta.DataFormat
	case "hdf5":
		return nil, fault(file, "the dataset has the HDF5 layout, which is not read", "write it with data_format arrow or parquet", trajectory.ErrFormat, nil)
	default:
		return nil, fault(file, "data_format is neither parquet nor arrow", "write the dataset with data_format arrow or parquet", trajectory.ErrFormat, nil)
	}
	if err := d.readStart(file); err != nil {
		return nil, err
	}
	return d, d.list(file)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// maxJSON bounds a file of metadata.
const maxJSON = 64 << 20

func readJSON(path string, into any) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxJSON {
		return fault(path, "is no file, or longer than 64 MB", "check that this is the right dataset", trajectory.ErrFormat, nil)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fault(path, "is not the JSON that Minari writes", "the file may be damaged; write the dataset anew", trajectory.ErrFormat, err)
	}
	return plainMembers(path, text)
}

// members are the names of what is used of the metadata.
var members = []string{"total_episodes", "data_format", "action_space", "discreet_columns", "discreet_schema_version", "total_steps", "unit_id", "episode_id"}

// plainMembers refuses a member that comes twice, or whose name is one of ours but
// for the case of its letters: encoding/json takes the last of them.
func plainMembers(path string, text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	depth, key := 0, false
	seen := map[string]bool{}
	for {
		token, err := d.Token()
		if err != nil {
			return nil // the end: it is JSON
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				depth++
			} else {
				depth--
			}
			key = depth == 1
			continue
		case string:
			if depth == 1 && key {
				if err := plainMember(path, token, seen); err != nil {
					return err
				}
				key = false
				continue
			}
		}
		key = depth == 1
	}
}

func plainMember(path, name string, seen map[string]bool) error {
	for _, m := range members {
		if name != m && strings.EqualFold(name, m) {
			return fault(path, "holds the member "+strconv.QuoteToASCII(name)+" where "+m+" is wanted", "write its name in small letters", trajectory.ErrFormat, nil)
		}
	}
	if seen[name] {
		return fault(path, "holds a member twice", "write every member once", trajectory.ErrFormat, nil)
	}
	seen[name] = true
	return nil
}

// readStart reads the number of the first action of a discrete space. The space
// is JSON within JSON, and one of numbers may hold Infinity, which is none:
// whatever is no discrete space starts at 0.
func (d *dataset) readStart(file string) error {
	var space struct {
		Type  string `json:"type"`
		Start int    `json:"start"`
	}
	if json.Unmarshal([]byte(d.meta.ActionSpace), &space) != nil || space.Type != "Discrete" {
		return nil
	}
	if space.Start < -1<<30 || space.Start > 1<<30 {
		return fault(file, "the actions start beyond a thousand million", "number the actions 0, 1, 2, ...", trajectory.ErrFormat, nil)
	}
	d.start = space.Start
	return nil
}

// list finds the episodes.
func (d *dataset) list(file string) error {
	entries, err := os.ReadDir(d.data)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n >= 0 && strconv.Itoa(n) == e.Name() && e.IsDir() {
			d.parts = append(d.parts, n)
		}
	}
	slices.Sort(d.parts)
	switch {
	case len(d.parts) == 0:
		return fault(file, "there is no episode", "check that this is the right dataset", trajectory.ErrEmpty, nil)
	case len(d.parts) != d.meta.TotalEpisodes:
		return fault(file, fmt.Sprintf("total_episodes is %d and there are %d directories of episodes", d.meta.TotalEpisodes, len(d.parts)),
			"the dataset may be copied in part; copy it anew", trajectory.ErrFormat, nil)
	}
	return nil
}
