// Rows that an engine moves from the files to the workers: the bytes of one process, and what an engine cannot do to them.

package scale

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// mover is an engine that moves rows by itself, pieces in another order each time.
type mover struct {
	dir string
	rng *rand.Rand
	// parts are those of a file, where it is not 0.
	parts int
	// scattered, if not nil, is told of each part of a file that was read.
	scattered func(round, part int)
	// spoil, if not nil, changes pieces of partitions before a round's workers see them.
	spoil func(round int, parts [][][]byte)
}

// Round implements [Engine].
func (m *mover) Round(ctx context.Context, r Round) ([]Partial, error) {
	files, err := r.Task.Files(ctx)
	if err != nil {
		return nil, err
	}
	if m.parts > 0 {
		var all []string
		for _, f := range files {
			all = append(all, slices.Repeat([]string{f}, m.parts)...)
		}
		files = all
	}
	parts, worker := make([][][]byte, r.Task.Shards), new(Worker)
	for i := range files {
		if err := worker.Scatter(ctx, r.Task, r.Hash, files, i, filepath.Join(m.dir, fmt.Sprintf("file-%d", i)), r.Key, func(p int, piece []byte) error {
			parts[p] = append(parts[p], piece)
			return nil
		}); err != nil {
			return nil, err
		}
		if m.scattered != nil {
			m.scattered(r.Task.Round, i)
		}
	}
	if m.spoil != nil {
		m.spoil(r.Task.Round, parts)
	}
	var out []Partial
	for number, pieces := range parts {
		m.rng.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
		p, err := worker.Gather(ctx, r.Task, r.Hash, number, pieces, filepath.Join(m.dir, fmt.Sprint(number)), r.Key)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// inFiles is a stage whose data are rows in several files of a format, and a driver whose engine moves them.
func inFiles(t testing.TB, format string, overrides ...string) (stage, Driver, *mover) {
	t.Helper()
	s := newStage(t, append([]string{fmt.Sprintf(`data.path="rows/*.%s"`, format), "data.format=" + format}, overrides...)...)
	if err := os.Mkdir(filepath.Join(s.dir, "rows"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := people(t, 120, 3)
	for k := range 3 {
		var of []int
		for p := range d.Persons() {
			if p%3 == k {
				of = append(of, p)
			}
		}
		path := filepath.Join(s.dir, "rows", fmt.Sprintf("%d.%s", k, format))
		if format != "ndjson" {
			if err := file.Write(path, "", d.Take(of)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := file.Write(path+".csv", "", d.Take(of)); err != nil {
			t.Fatal(err)
		}
		put(t, objects(t, path+".csv"), filepath.Dir(path), filepath.Base(path))
		if err := os.Remove(path + ".csv"); err != nil {
			t.Fatal(err)
		}
	}
	m := &mover{dir: t.TempDir(), rng: rand.New(rand.NewPCG(1, 2))}
	dr := s.driver(t)
	dr.Shards, dr.Partitions, dr.Engine = nil, 5, m
	return s, dr, m
}

// objects are the rows of a CSV file as lines of JSON.
func objects(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var out strings.Builder
	for _, line := range lines[1:] {
		var cells []string
		for i, cell := range strings.Split(line, ",") {
			name := strings.Split(lines[0], ",")[i]
			if strings.HasSuffix(name, "_id") {
				cell = fmt.Sprintf("%q", cell)
			}
			if cell != "" {
				cells = append(cells, fmt.Sprintf("%q: %s", name, cell))
			}
		}
		fmt.Fprintf(&out, "{%s}\n", strings.Join(cells, ", "))
	}
	return out.String()
}

// TestMovedRowsReleaseTheBytesOfOneProcess, of every format, of files in parts and whole, in any order of pieces, and whatever else the question asks of the rows,
// which are moved as often as there are sums: the check brings the first.
func TestMovedRowsReleaseTheBytesOfOneProcess(t *testing.T) {
	for _, format := range []string{"csv", "parquet", "ndjson"} {
		for i, overrides := range [][]string{
			nil,
			{"method.name=dp-refine", "target={kind: logged}", "data.behavior=null"},
			{"data.behavior={source: design, kind: uniform, actions: 2}", "problem.end=terminated"},
			{"method={name: dp-fqe}"},
			{`data.columns={unit_id: [episode_id, unit_id]}`, "data.encode={obs_place: {0: 1, 1: 0}}"},
			append(byPlace("group: fixed, persons: {0: 60, 1: 60}"), "data.steps={sort: true}"),
			{"method.name=dp-is", "privacy.adjacency=add_remove_one", "problem.persons=100", "data.behavior={kind: estimate, actions: 2, once: false}"},
		} {
			s, d, m := inFiles(t, format, overrides...)
			m.parts = map[bool]int{true: 7}[i%2 == 0]
			var moves []int
			m.spoil = func(round int, _ [][][]byte) { moves = append(moves, round) }
			r, err := d.Evaluate(t.Context(), discreet.WithSource(noise.NewSeeded(5)))
			if err != nil {
				t.Errorf("%s, %v: %v%s", format, overrides, err, toldIn(t, m.dir))
				continue
			}
			sums, err := filepath.Glob(filepath.Join(d.Dir, "sum-*.json"))
			if err != nil || len(sums) == 0 || len(moves) != len(sums) || moves[0] != 0 || slices.Contains(moves, 1) {
				t.Errorf("%s, %v: rows are moved in rounds %v for %d sums, %v", format, overrides, moves, len(sums), err)
			}
			if want := s.inOneProcess(t, 5); !bytes.Equal(r.JSON, want) {
				t.Errorf("%s, %v: five partitions release\n%s\none process\n%s", format, overrides, r.JSON, want)
			}
		}
	}
}

// toldIn is what curators are told in a directory.
func toldIn(t testing.TB, dir string) (all string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all += "\n" + filepath.Base(path) + ": " + string(text)
	}
	return all
}

// TestPiecesThatComeTwiceCountOnce, as from an attempt that an engine doubled.
func TestPiecesThatComeTwiceCountOnce(t *testing.T) {
	s, d, m := inFiles(t, "csv")
	m.spoil = func(_ int, parts [][][]byte) {
		for i := range parts {
			parts[i] = append(parts[i], slices.Clone(parts[i])...)
		}
	}
	r, err := d.Evaluate(t.Context(), discreet.WithSource(noise.NewSeeded(5)))
	if err != nil || !bytes.Equal(r.JSON, s.inOneProcess(t, 5)) {
		t.Errorf("%v: every piece twice gives other bytes", err)
	}
}

// TestPiecesOfTwoVersionsAreRefused: of a file that was changed between two attempts at it.
func TestPiecesOfTwoVersionsAreRefused(t *testing.T) {
	var task Hash
	key := RunKey{7}
	s := sealer{key: key.pieces(task), of: key.partition(0, 1)}
	var pieces [][]byte
	for _, rows := range []string{"a row", "another"} {
		piece, err := s.seal(0, label{Name: "a.csv", Files: 1}, []byte(rows))
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, piece)
	}
	end, err := s.seal(0, label{Name: "a.csv", Files: 1, Number: 1, Last: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rows, _, err := s.join(0, [][]byte{end, pieces[0], end, pieces[0]}); err != nil || string(rows[moved+"00000"]) != "a row" {
		t.Errorf("a piece twice: %q, %v", rows, err)
	}
	if _, _, err := s.join(0, append(pieces, end)); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), "a.csv was changed") {
		t.Errorf("two versions of a piece: %v", err)
	}
}

// TestAnEngineCannotChangeRows: pieces that are lost, changed, of another partition, round or file are noticed, in the check
// and after it.
func TestAnEngineCannotChangeRows(t *testing.T) {
	var before [][][]byte
	for name, spoil := range map[string]func(p [][][]byte){
		"a piece is lost":                func(p [][][]byte) { p[2] = p[2][1:] },
		"the last piece is lost":         func(p [][][]byte) { p[2] = p[2][:len(p[2])-1] },
		"all pieces are lost":            func(p [][][]byte) { p[2] = nil },
		"a bit is another":               func(p [][][]byte) { p[2][0][len(p[2][0])-20] ^= 1 },
		"a label is another":             func(p [][][]byte) { p[2][0] = bytes.Replace(p[2][0], []byte(`"file":0`), []byte(`"file":1`), 1) },
		"a piece is cut":                 func(p [][][]byte) { p[2][0] = p[2][0][:5] },
		"pieces of another partition":    func(p [][][]byte) { p[1], p[2] = p[2], p[1] },
		"a piece of another one as well": func(p [][][]byte) { p[1] = append(p[1], p[2][0]) },
		"pieces of the round before":     func(p [][][]byte) { p[2] = before[2] },
	} {
		for _, round := range []int{0, 2} {
			_, d, m := inFiles(t, "csv")
			before = make([][][]byte, 5)
			m.spoil = func(k int, parts [][][]byte) {
				if k == round {
					spoil(parts)
				}
				copy(before, parts)
			}
			_, err := d.Evaluate(t.Context())
			if !errors.Is(err, ErrEngine) {
				t.Errorf("%s in round %d: %v", name, round, err)
			}
		}
	}
}

// TestRowsOfOtherFilesAreRefused: a file that is another one in a later round, or from one of its parts to the next, in the check before anything is charged.
func TestRowsOfOtherFilesAreRefused(t *testing.T) {
	for _, part := range []int{8, 4, 0} { // of three parts of three files: the last, one in the middle of a file, the first
		for _, round := range []int{0, 2} {
			s, d, m := inFiles(t, "csv", "method.name=dp-refine", "target={kind: logged}", "data.behavior=null", "privacy.adjacency=add_remove_one", "problem.persons=90")
			m.parts = 3
			m.scattered = func(k, i int) {
				if path := filepath.Join(s.dir, "rows", fmt.Sprintf("%d.csv", part/3)); k == round && i == part {
					text, err := os.ReadFile(path)
					if err != nil {
						t.Error(err)
					}
					lines := strings.SplitAfter(string(text), "\n")
					half := len(lines) / 2
					for strings.SplitN(lines[half], ",", 2)[0] == strings.SplitN(lines[half-1], ",", 2)[0] {
						half++ // to the next person
					}
					put(t, lines[0]+strings.Join(lines[half:], ""), filepath.Dir(path), filepath.Base(path))
				}
			}
			want := map[bool]string{true: "not those that were checked", false: "was changed while it was read"}[part == 8]
			if _, err := d.Evaluate(t.Context()); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), want) {
				t.Errorf("part %d, round %d: %v", part, round, err)
			}
			if _, err := os.Stat(store{dir: d.Dir}.started()); round == 0 && part != 8 && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("part %d: a file of two versions passed the check, %v", part, err)
			}
		}
	}
}

// TestFaultsOfMovedRowsAreThoseOfOneProcess: with the names of files and the numbers of rows, for the curator alone.
func TestFaultsOfMovedRowsAreThoseOfOneProcess(t *testing.T) {
	s, d, m := inFiles(t, "csv", "data.on_violation=reject")
	path := filepath.Join(s.dir, "rows", "2.csv")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	fields := strings.Split(lines[0], ",")
	at := len(lines) / 2
	cells := strings.Split(lines[at], ",")
	sound := lines[at]
	cells[slices.Index(fields, "reward")] = "plenty"
	lines[at] = strings.Join(cells, ",")
	put(t, strings.Join(lines, "\n"), filepath.Dir(path), filepath.Base(path))
	_, want := discreet.Evaluate(t.Context(), d.Config)
	if want == nil || !strings.Contains(want.Error(), fmt.Sprintf("2.csv:%d:", at+1)) {
		t.Fatalf("one process says %v", want)
	}
	evaluate := func() {
		t.Helper()
		for _, m.parts = range []int{0, 1, 5, 40} {
			if _, err := d.Evaluate(t.Context()); !errors.Is(err, ErrShard) || strings.Contains(err.Error(), "reward") {
				t.Errorf("five partitions say %v", err)
			}
			if got := toldIn(t, m.dir); !strings.Contains(got, want.Error()) {
				t.Errorf("%d parts: the curator is told%s\nand by one process %v", m.parts, got, want)
			}
			d.Dir, m.dir = d.Dir+"2", t.TempDir()
		}
	}
	evaluate()
	for _, bad := range []string{`"a quote that is not closed on its line`, `a field too few`} { // the format breaks off
		broken := slices.Clone(lines)
		broken[at] = sound
		broken[len(broken)-9] = bad
		put(t, strings.Join(broken, "\n"), filepath.Dir(path), filepath.Base(path))
		if _, want = discreet.Evaluate(t.Context(), d.Config); want == nil || !strings.Contains(want.Error(), fmt.Sprintf("2.csv:%d", len(broken)-8)) {
			t.Fatalf("one process says %v", want)
		}
		want = errors.New(want.Error()[strings.Index(want.Error(), "2.csv:"):])
		evaluate()
	}
	m.parts = 0
	put(t, "episode_id,step,reward\n1,0,1\n", filepath.Dir(path), filepath.Base(path))
	d.Dir += "2"
	if _, err := d.Evaluate(t.Context()); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), "2.csv cannot be read") {
		t.Errorf("columns of another file: %v", err)
	}
	if got := toldIn(t, m.dir); !strings.Contains(got, "file-2") {
		t.Errorf("the curator is told%s", got)
	}
}

// TestALargeFileStandsInParts: as many as its share of all bytes says, and every file once at least.
func TestALargeFileStandsInParts(t *testing.T) {
	s, d, _ := inFiles(t, "csv")
	if err := os.Truncate(filepath.Join(s.dir, "rows", "1.csv"), 100<<20); err != nil {
		t.Fatal(err)
	}
	hash, err := d.Config.Hash()
	if err != nil {
		t.Fatal(err)
	}
	files, err := Task{Question: string(d.Question), Dir: s.dir, ConfigHash: hash}.Files(t.Context())
	count := map[string]int{}
	for _, f := range files {
		count[filepath.Base(f)]++
	}
	if want := map[string]int{"0.csv": 1, "1.csv": 15, "2.csv": 1}; err != nil || !maps.Equal(count, want) || !slices.IsSorted(files) {
		t.Errorf("%v, %v; want %v", files, err, want)
	}
}
