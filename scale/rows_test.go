// Rows that an engine groups by person: the bytes of one process whatever their order, and what is refused.

package scale

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// grouping is an engine that groups the rows of a table by person, in another order each time.
type grouping struct {
	dir, head string
	rows      []string
	rng       *rand.Rand
	// spoil, if not nil, changes partitions before a round's workers see them.
	spoil func(round int, parts [][]string)
	// again has every partition answered twice, as by a task whose executor was lost, and the later answer taken.
	again bool
}

func (g *grouping) file(name string, rows []string) (string, error) {
	path := filepath.Join(g.dir, name)
	return path, os.WriteFile(path, []byte(strings.Join(append([]string{g.head}, rows...), "\n")+"\n"), 0o600)
}

// Round implements [Engine].
func (g *grouping) Round(ctx context.Context, r Round) ([]Partial, error) {
	rows := slices.Clone(g.rows)
	g.rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	parts, worker := make([][]string, r.Task.Shards), new(Worker)
	for piece := range slices.Chunk(rows, 500) {
		path, err := g.file("placing.csv", piece)
		if err != nil {
			return nil, err
		}
		places, err := worker.Places(ctx, r.Task, path, r.Key)
		if err != nil {
			return nil, err
		}
		for i, p := range places {
			parts[p] = append(parts[p], piece[i])
		}
	}
	for _, p := range parts {
		inOrder(p)
	}
	if g.spoil != nil {
		g.spoil(r.Task.Round, parts)
	}
	var out []Partial
	for number, rows := range parts {
		path, err := g.file(fmt.Sprintf("part-%d.csv", number), rows)
		if err != nil {
			return nil, err
		}
		var p Partial
		for range map[bool]int{false: 1, true: 2}[g.again] {
			if p, err = worker.Partition(ctx, r.Task, r.Hash, number, path, filepath.Join(g.dir, strconv.Itoa(number)), r.Key); err != nil {
				return nil, err
			}
		}
		text, err := p.Encode()
		if err == nil {
			p, err = ParsePartial(text)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	g.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out, nil
}

// inOrder sorts lines by person, episode and step, which are in their first three columns.
func inOrder(lines []string) {
	slices.SortFunc(lines, func(a, b string) int {
		x, y := strings.SplitN(a, ",", 4), strings.SplitN(b, ",", 4)
		m, _ := strconv.Atoi(x[1])
		n, _ := strconv.Atoi(y[1])
		return cmp.Or(strings.Compare(x[2], y[2]), strings.Compare(x[0], y[0]), m-n)
	})
}

// grouped is a stage whose data are rows of a table, and a driver whose engine groups them.
func grouped(t testing.TB, overrides ...string) (stage, Driver, *grouping) {
	t.Helper()
	s := newStage(t, append([]string{`data.path="rows.csv"`, "data.format=csv"}, overrides...)...)
	path := filepath.Join(s.dir, "rows.csv")
	if err := file.Write(path, "", people(t, 120, 3)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	g := &grouping{dir: t.TempDir(), head: lines[0], rows: lines[1:], rng: rand.New(rand.NewPCG(1, 2))}
	if !strings.HasPrefix(g.head, "episode_id,step,unit_id,") {
		t.Fatalf("the table begins with %s", g.head)
	}
	inOrder(g.rows)
	if _, err := (&grouping{dir: s.dir, head: g.head}).file("rows.csv", g.rows); err != nil {
		t.Fatal(err)
	}
	d := s.driver(t)
	d.Shards, d.Partitions, d.Engine = nil, 5, g
	return s, d, g
}

// TestGroupedRowsReleaseTheBytesOfOneProcess: in any order, and answered more than once.
func TestGroupedRowsReleaseTheBytesOfOneProcess(t *testing.T) {
	for i, overrides := range [][]string{
		nil,
		{"method.name=dp-refine", "target={kind: logged}", "data.behavior=null"},
		{"method={name: dp-fqe}"},
		append(byPlace("group: fixed, persons: {0: 60, 1: 60}"), "data.steps={sort: true}"),
	} {
		s, d, g := grouped(t, overrides...)
		g.again = i == 0
		r, err := d.Evaluate(t.Context(), discreet.WithSource(noise.NewSeeded(5)))
		if err != nil {
			t.Errorf("%v: %v", overrides, err)
			continue
		}
		if want := s.inOneProcess(t, 5); !bytes.Equal(r.JSON, want) {
			t.Errorf("%v: five partitions release\n%s\none process\n%s", overrides, r.JSON, want)
		}
		hidden := d.Key.partition(0, 5).key
		for _, text := range listing(t, d.Dir) {
			if strings.Contains(text, "person 1") || strings.Contains(text, hex.EncodeToString(hidden[:])) {
				t.Errorf("%v: the run directory tells of persons or of the key of the hash: %s", overrides, text)
			}
		}
	}
}

// TestRowsThatAreNotTheirsAreRefused: of a person in two partitions, of rows that others took the
// place of between two rounds, and of partitions that are lost.
func TestRowsThatAreNotTheirsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(round int, parts [][]string)
		want  error
		says  string
	}{
		"a person in two partitions": {func(_ int, p [][]string) {
			p[0], p[1] = p[0][:len(p[0])-1], append(p[1], p[0][len(p[0])-1])
		}, ErrShard, "shard 1 did not pass"},
		"two partitions for one another": {func(_ int, p [][]string) { p[0], p[1] = p[1], p[0] }, ErrShard, "did not pass"},
		"a row that is another in a later round": {func(round int, p [][]string) {
			if round == 2 {
				p[3] = p[3][:len(p[3])-1]
			}
		}, ErrShard, "not those that were checked"},
		"a person twice": {func(_ int, p [][]string) { p[2] = append(p[2], p[2]...) }, ErrShard, "shard 2 did not pass"},
	} {
		_, d, g := grouped(t)
		g.spoil = c.spoil
		if _, err := d.Evaluate(t.Context()); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %s", name, err, c.says)
		} else if strings.Contains(err.Error(), "person ") {
			t.Errorf("%s: the error names a person: %v", name, err)
		}
	}
}

// TestSpellingsOfAnIdMeet: rows of ids that may be one are in one partition, where they are refused as in one process.
func TestSpellingsOfAnIdMeet(t *testing.T) {
	_, d, g := grouped(t)
	for i, row := range g.rows {
		if strings.Contains(row, ",person 7,") {
			g.rows[i] = strings.Replace(row, ",person 7,", ",person  8,", 1)
		}
	}
	d.Partitions = 12
	_, err := d.Evaluate(t.Context())
	if !errors.Is(err, ErrShard) {
		t.Fatal(err)
	}
	told, _ := filepath.Glob(filepath.Join(g.dir, "*"+faultsSuffix))
	if len(told) != 1 {
		t.Fatalf("%d partitions are faulty; want 1", len(told))
	}
	if text, err := os.ReadFile(told[0]); err != nil || !strings.Contains(string(text), "another spelling") {
		t.Errorf("the curator is told %q, %v", text, err)
	}
}

// TestALedgerChargesRowsOnce, and takes no fingerprint of what this process cannot read. Rows that fail
// their check are a failed check.
func TestALedgerChargesRowsOnce(t *testing.T) {
	s, d, g := grouped(t, "ledger={path: budget.db, dataset: chain}", `data.path="/nowhere"`)
	l, err := ledger.Create(t.Context(), filepath.Join(s.dir, "budget.db"), ledger.Config{Dataset: "chain", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 10, Delta: 1e-5}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	g.spoil = func(_ int, p [][]string) { p[0], p[1] = p[1], p[0] }
	if _, err := d.Evaluate(t.Context()); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), "failed check 1") {
		t.Errorf("rows that are not theirs: %v", err)
	}
	g.spoil = nil
	for range 2 {
		if _, err := d.Evaluate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	charges := 0
	for n, err := range l.Entries(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n.Charge != nil {
			charges++
		}
		if n.Charge != nil && n.Charge.Fingerprint != "" {
			t.Errorf("the charge has a fingerprint: %+v", n.Charge)
		}
	}
	if charges != 1 {
		t.Errorf("%d charges; want 1", charges)
	}
}

// TestARunOfRowsGoesOn after it was stopped, with the same partitions alone.
func TestARunOfRowsGoesOn(t *testing.T) {
	_, d, g := grouped(t)
	stop := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	d.Progress = func(round int) {
		if round == 2 {
			cancel(stop)
		}
	}
	if _, err := d.Evaluate(ctx, discreet.WithSource(noise.NewSeeded(5))); err == nil {
		t.Fatal("the run was not stopped")
	}
	d.Progress = nil
	other := d
	other.Partitions = 6
	if _, err := other.Evaluate(t.Context()); !errors.Is(err, ErrRun) && !errors.Is(err, ErrShard) {
		t.Errorf("six partitions go on with a run of five: %v", err)
	}
	g.rng = rand.New(rand.NewPCG(3, 4))
	if _, err := d.Evaluate(t.Context(), discreet.WithSource(noise.NewSeeded(5))); err != nil {
		t.Error(err)
	}
}
