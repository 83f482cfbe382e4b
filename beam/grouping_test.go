package beam

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
	"github.com/discreet-rl/discreet/scale"
)

// apart is the stage with its persons in three files of a format, and no shards.
func (s stage) apart(t testing.TB, format string) stage {
	t.Helper()
	d, _, err := file.Read(t.Context(), s.shards, "parquet", trajectory.Options{Optional: trajectory.AllParts})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 3 {
		var of []int
		for p := range d.Persons() {
			if p%3 == k {
				of = append(of, p)
			}
		}
		if err := file.Write(filepath.Join(s.dir, fmt.Sprintf("rows%d.%s", k, format)), "", d.Take(of)); err != nil {
			t.Fatal(err)
		}
	}
	s.data, s.partitions, s.shards = []string{fmt.Sprintf(`data.path="rows*.%s"`, format), "data.format=" + format}, 5, nil
	return s
}

// TestRowsOnPrismReleaseTheBytesOfOneProcess, of CSV and Parquet, for a ratio and a method of several rounds; the run directory holds
// no id of a person.
func TestRowsOnPrismReleaseTheBytesOfOneProcess(t *testing.T) {
	e := onPrism(t, Config{})
	for _, format := range []string{"csv", "parquet"} {
		s := newStage(t, 120, 2).apart(t, format)
		for name, overrides := range map[string][]string{"dp-wis": wis, "dp-refine": refine} {
			s.evaluate(t, name, e, overrides...)
		}
		files, err := filepath.Glob(filepath.Join(s.dir, "dp-*", "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, path := range files {
			if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "person 1") || strings.Contains(string(text), hex.EncodeToString(runKey[:])) {
				t.Errorf("%s names persons or the run key, %v", path, err)
			}
		}
	}
}

// inFiles is an engine of which the files of one round are others.
type inFiles struct {
	*Engine
	round int
	files []string
}

func (e inFiles) Round(ctx context.Context, r scale.Round) ([]scale.Partial, error) {
	if r.Task.Round != e.round {
		return e.Engine.Round(ctx, r)
	}
	return e.Engine.round(ctx, r, e.files, grouping)
}

// inParts is an engine of which every file is read in so many parts.
type inParts struct {
	*Engine
	parts int
}

func (e inParts) Round(ctx context.Context, r scale.Round) ([]scale.Partial, error) {
	files, err := r.Task.Files(ctx)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, f := range files {
		all = append(all, slices.Repeat([]string{f}, e.parts)...)
	}
	return e.Engine.round(ctx, r, all, grouping)
}

// TestPartsOfFilesOnPrismReleaseTheBytesOfOneProcess.
func TestPartsOfFilesOnPrismReleaseTheBytesOfOneProcess(t *testing.T) {
	e := onPrism(t, Config{})
	for _, format := range []string{"csv", "parquet"} {
		newStage(t, 120, 2).apart(t, format).evaluate(t, "parts", inParts{e, 6}, refine...)
	}
}

func init() {
	register.DoFn3x1[context.Context, int, func(string, []byte), error](&placeTogether{})
	register.DoFn3x2[context.Context, string, func(*[]byte) bool, []byte, error](&gatherTogether{})
}

// Where two that work at a time meet.
var (
	placing   = make(chan bool)
	gathering = make(chan bool)
)

// longestWait is how long one waits for another who does not come.
const longestWait = time.Minute

// meet returns when another is at the same place.
func meet(ctx context.Context, at chan bool) error {
	ctx, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	select {
	case at <- true:
	case <-at:
	case <-ctx.Done():
		return errors.New("nobody else was at work")
	}
	return nil
}

// placeTogether gives a number to the partition of that number.
type placeTogether struct{}

func (*placeTogether) ProcessElement(ctx context.Context, number int, emit func(string, []byte)) error {
	emit(fmt.Sprint(number), []byte{1})
	return meet(ctx, placing)
}

// gatherTogether answers for a partition.
type gatherTogether struct{}

func (*gatherTogether) ProcessElement(ctx context.Context, partition string, _ func(*[]byte) bool) ([]byte, error) {
	return []byte(partition), meet(ctx, gathering)
}

// TestPrismWorksOnTwoAtATime, on elements and on partitions: each waits until another is worked on.
func TestPrismWorksOnTwoAtATime(t *testing.T) {
	e := onPrism(t, Config{Parallelism: 2})
	p, s := sdk.NewPipelineWithRoot()
	placed := inBranches(s, e.ways(), []int{0, 1, 2, 3}, &placeTogether{})
	gathered(s, e.ways(), 4, placed, &gatherTogether{})
	if err := e.run(t.Context(), "together", p); err != nil {
		t.Fatal(err)
	}
}

// files are those of the stage's rows.
func (s stage) files(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, "rows*"))
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	return files
}

// TestAFileThatIsAwayIsTriedAgain: its job fails when others were read, and the next one has it, with the bytes of one process.
func TestAFileThatIsAwayIsTriedAgain(t *testing.T) {
	s := newStage(t, 120, 2).apart(t, "csv")
	files, failures := s.files(t), 0
	there, away := files[1], filepath.Join(s.dir, "away.csv")
	files[1] = away
	e := onPrism(t, Config{Attempts: 3, Tell: func(line string) {
		failures++
		if err := os.Symlink(there, away); err != nil || !strings.Contains(line, "attempt 1 of 3") {
			t.Errorf("told %q, %v", line, err)
		}
	}})
	s.evaluate(t, "back", inFiles{e, 2, files}, wis...)
	if failures != 1 {
		t.Errorf("%d jobs failed; want 1", failures)
	}
}

// TestRowsThatAreRefused: faulty rows, columns, and workers without a key, in one attempt, and of no row is told what is in it.
func TestRowsThatAreRefused(t *testing.T) {
	s := newStage(t, 120, 2).apart(t, "csv")
	e := onPrism(t, Config{Tell: func(line string) { t.Errorf("tried again: %s", line) }})
	refused := func(run, says string, overrides ...string) {
		t.Helper()
		d, err := s.driver(run, e, overrides...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = d.Evaluate(t.Context()); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "person ") || strings.Contains(err.Error(), "/parts-") {
			t.Errorf("%s: %v", run, err)
		}
	}
	refused("faulty", "did not pass its check", "data.on_violation=reject", "problem.reward={min: 0, max: 0.5, outside: reject}", "problem.return={min: 0, max: 0.5}")
	if told, err := filepath.Glob(filepath.Join(s.dir, "faulty", "*.part.faults.txt")); err != nil || len(told) == 0 {
		t.Errorf("the curator is told in %d files, %v", len(told), err)
	}
	s.partitions = 2000
	refused("many", "fewer partitions")
	s.partitions = 5
	if err := os.WriteFile(filepath.Join(s.dir, "rows1.csv"), []byte("episode_id,step,reward\n1,0,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("columns", "rows1.csv cannot be read")
	if told, err := filepath.Glob(filepath.Join(s.dir, "columns", "file-1.faults.txt")); err != nil || len(told) != 1 {
		t.Errorf("the curator is told in %d files, %v", len(told), err)
	}
	t.Setenv(scale.KeyVariable, "")
	refused("keyless", scale.KeyVariable)
}
