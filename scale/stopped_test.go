// A driver that was stopped: it goes on with the sums that were drawn and draws none again, or is refused because something else changed.

package scale

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/noise"
)

// TestADrawWithAPrivateScaleIsMadeOnce: a driver of dp-lsw that is stopped after its noise
// was kept gives the release of that noise; nothing in the files of the run tells how
// large the noise is.
func TestADrawWithAPrivateScaleIsMadeOnce(t *testing.T) {
	s := newStage(t, "method={name: dp-lsw, constants: balle16}", "target={kind: logged}", "data.behavior=null")
	d := s.driver(t)
	first, err := d.Evaluate(context.Background(), discreet.WithSource(noise.NewSeeded(5)))
	if err != nil {
		t.Fatal(err)
	}
	asked := false
	d.Progress = func(int) { asked = true }
	again, err := d.Evaluate(context.Background(), discreet.WithSource(noise.NewSeeded(6)))
	if want := s.inOneProcess(t, 5); !bytes.Equal(first.JSON, want) {
		t.Errorf("shards release\n%s\none process\n%s", first.JSON, want)
	}
	if err != nil || !bytes.Equal(first.JSON, again.JSON) || asked {
		t.Errorf("a second driver with other noise: %v, shards asked: %v, another release: %v", err, asked, !bytes.Equal(first.JSON, again.JSON))
	}
	var n sumFile
	if _, err := (store{dir: d.Dir, key: d.Key}).read(filepath.Join(d.Dir, "sum-0001.json"), &n); err != nil {
		t.Fatal(err)
	}
	if n.Sigma != 0 || len(n.Sum) != 40 {
		t.Errorf("the kept draw has sigma %v and %d numbers; want 0, and one for each of 40 states", n.Sigma, len(n.Sum))
	}
}

// TestACheckThatIsCutOffLeavesNothing: between the check, which brings the first sum, and the charge nothing is drawn,
// kept or paid, and what workers answered is of no use to the next driver.
func TestACheckThatIsCutOffLeavesNothing(t *testing.T) {
	s := newStage(t, "ledger={path: budget.db, dataset: chain}")
	l, err := ledger.Create(t.Context(), filepath.Join(s.dir, "budget.db"), ledger.Config{Dataset: "chain", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 10, Delta: 1e-5}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	charges := func() (n int) {
		for e, err := range l.Entries(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Charge != nil {
				n++
			}
		}
		return n
	}
	d := s.driver(t)
	ctx, cancel := context.WithCancel(t.Context())
	var before []Partial
	d.Engine = broken{do: func(_ Round, p []Partial) ([]Partial, error) {
		cancel()
		before = p
		return p, nil
	}}
	if _, err := d.Evaluate(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	d.Engine = broken{do: func(_ Round, p []Partial) ([]Partial, error) { return append(p[:3:3], before[3]), nil }}
	if _, err := d.Evaluate(t.Context()); !errors.Is(err, ErrPartial) || !strings.Contains(err.Error(), "shard 3 is of another run") {
		t.Errorf("a partial of the check before: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(d.Dir, "*"))
	if want := []string{filepath.Join(d.Dir, marker), (store{dir: d.Dir}).taskOf(0)}; err != nil || charges() != 0 || !slices.Equal(left, want) {
		t.Errorf("checks leave %d charges and %v, %v", charges(), left, err)
	}
	d.Engine = Local{}
	if _, err := d.Evaluate(t.Context()); err != nil || charges() != 1 {
		t.Errorf("%d charges, %v", charges(), err)
	}
}

// TestAStoppedDriverGoesOnWithoutASecondDraw: stopped before any round, it makes in the
// end the release that the kept sums determine, and asks for no sum that was drawn.
func TestAStoppedDriverGoesOnWithoutASecondDraw(t *testing.T) {
	s := newStage(t, "method={name: dp-refine}", "target={kind: logged}", "data.behavior=null")
	want := s.inOneProcess(t, 5)
	for _, k := range []int{1, 4, 5} {
		d := s.driver(t)
		d.Dir = filepath.Join(s.dir, fmt.Sprintf("run %d", k))
		stop(t, d, k, discreet.WithSource(noise.NewSeeded(5)))
		kept, err := filepath.Glob(filepath.Join(d.Dir, "sum-*.json"))
		if err != nil || len(kept) != k-1 {
			t.Fatalf("stopped in round %d: %d sums are kept, %v", k, len(kept), err)
		}
		var rounds []int
		d.Progress = func(round int) { rounds = append(rounds, round) }
		// Other noise: what was drawn before must come from the transcript.
		second, err := d.Evaluate(context.Background(), discreet.WithSource(noise.NewSeeded(6)))
		if err != nil {
			t.Fatal(err)
		}
		if rounds[0] != k || len(rounds) != 6-k {
			t.Errorf("stopped in round %d, it goes on with rounds %v", k, rounds)
		}
		third, err := d.Evaluate(context.Background(), discreet.WithSource(noise.NewSeeded(7)))
		if err != nil || !bytes.Equal(second.JSON, third.JSON) {
			t.Errorf("a run that ended gives another release when it is asked again: %v", err)
		}
		if bytes.Equal(second.JSON, want) {
			t.Errorf("stopped in round %d: the rest of the noise is that of the first driver", k)
		}
	}
}

// TestARunIsBoundToItsQuestionDataAndKey: each is refused where it changed.
func TestARunIsBoundToItsQuestionDataAndKey(t *testing.T) {
	s := newStage(t)
	d := s.driver(t)
	stop(t, d, 2)
	other := stage{dir: s.dir, config: s.config, shards: s.shards, overrides: []string{"privacy.epsilon=1"}}.driver(t)
	if _, err := other.Evaluate(context.Background()); !errors.Is(err, ErrRun) {
		t.Errorf("another question goes on with the run: %v", err)
	}
	keyed := d
	keyed.Key = RunKey{10}
	if _, err := keyed.Evaluate(context.Background()); !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), "run.json: its MAC is wrong") {
		t.Errorf("another key goes on with the run: %v", err)
	}
	moved := d
	var err error
	if moved.Shards, err = write(people(t, 120, 4), filepath.Join(s.dir, "others"), 4, [16]byte{1}); err != nil {
		t.Fatal(err)
	}
	if _, err := moved.Evaluate(context.Background()); !errors.Is(err, ErrShard) {
		t.Errorf("other data go on with the run: %v", err)
	}
	if err := os.Remove(filepath.Join(d.Dir, "run.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Evaluate(context.Background()); !errors.Is(err, ErrRun) {
		t.Errorf("sums without their run go on: %v", err)
	}
}

// TestTwoDriversShareOneDraw: who comes second to the name of a sum goes on with what is
// there.
func TestTwoDriversShareOneDraw(t *testing.T) {
	s := store{dir: t.TempDir(), key: RunKey{9}, run: Hash{7}}
	first, err := s.keep(1, noisySum{Step: 1, Sigma: 2, Sum: []int64{3}})
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.keep(1, noisySum{Step: 1, Sigma: 2, Sum: []int64{4}})
	if err != nil || second.Sum[0] != first.Sum[0] {
		t.Errorf("two drivers keep %v and %v for one round: %v", first, second, err)
	}
}
