package scale

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
)

// words are those of a partial of one shard, without their mask.
func (p Partial) unmasked(t testing.TB, key RunKey) []uint64 {
	t.Helper()
	n, err := p.Of[0].nonce()
	if err != nil {
		t.Fatal(err)
	}
	out := slices.Clone(p.words)
	key.uncover(out, n, p.Task, shardPlace{Shard: p.Of[0].Shard, key: [16]byte{1}})
	return out
}

// TestAWorkerThatRemembersAnswersAsANewOne: the same words under other masks, in every
// round, also where two goroutines ask it for one shard.
func TestAWorkerThatRemembersAnswersAsANewOne(t *testing.T) {
	for name, c := range map[string]struct {
		overrides []string
		kept      int // shards of which a worker keeps numbers
	}{
		"dp-wis":    {nil, 4},
		"dp-is":     {[]string{"method={name: dp-is}", "target={kind: logged}", "data.behavior=null"}, 4},
		"dp-refine": {[]string{"method={name: dp-refine}", "target={kind: logged}", "data.behavior=null"}, 4},
		"dp-lsw":    {[]string{"method={name: dp-lsw, constants: balle16}", "target={kind: logged}", "data.behavior=null"}, 4},
		"dp-fqe":    {[]string{"method={name: dp-fqe}"}, 4},
		"dp-dr":     {[]string{"method={name: dp-dr, baseline: model}"}, 4},
	} {
		d := newStage(t, c.overrides...).driver(t)
		var w Worker
		d.Engine = broken{do: func(r Round, parts []Partial) ([]Partial, error) {
			var wg sync.WaitGroup
			for i := range 2 * len(parts) {
				wg.Go(func() {
					got, err := w.Answer(context.Background(), r.Task, r.Hash, r.Shards[i/2], r.Key)
					if err != nil {
						t.Errorf("%s: round %d: %v", name, r.Task.Round, err)
						return
					}
					if want := parts[i/2].unmasked(t, r.Key); !slices.Equal(got.unmasked(t, r.Key), want) {
						t.Errorf("%s: round %d: another answer for shard %d", name, r.Task.Round, i/2)
					}
					if got.Of[0].Nonce == parts[i/2].Of[0].Nonce {
						t.Errorf("%s: round %d: a mask is used twice", name, r.Task.Round)
					}
				})
			}
			wg.Wait()
			return parts, nil
		}}
		if _, err := d.Evaluate(context.Background(), discreet.WithSource(noise.NewSeeded(5))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := len(w.last.shards); got != c.kept {
			t.Errorf("%s: a worker keeps numbers of %d shards; want %d", name, got, c.kept)
		}
	}
}

// TestAWorkerRemembersOfOneQuestionAndOneFile: another file under the name of a shard is
// read, and another question forgets the one before.
func TestAWorkerRemembersOfOneQuestionAndOneFile(t *testing.T) {
	s := newStage(t)
	d := s.driver(t)
	var w Worker
	var at []Task
	d.Engine = broken{do: func(r Round, parts []Partial) ([]Partial, error) {
		at = append(at, r.Task)
		_, err := w.Answer(context.Background(), r.Task, r.Hash, r.Shards[0], r.Key)
		return parts, err
	}}
	if _, err := d.Evaluate(context.Background()); err != nil {
		t.Fatal(err)
	}
	others, err := write(people(t, 120, 4), s.dir+"/others", 4, [16]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(others[0], s.shards[0]); err != nil {
		t.Fatal(err)
	}
	task := at[1]
	text, err := task.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Answer(context.Background(), task, hashOf(text), s.shards[0], d.Key)
	if err != nil {
		t.Fatal(err)
	}
	if want := answered(t, task, s.shards[0], d.Key); !slices.Equal(got.unmasked(t, d.Key), want.unmasked(t, d.Key)) {
		t.Error("a worker answers for a file that is gone")
	}
	before := w.last
	other := stage{dir: s.dir, config: s.config, shards: s.shards, overrides: []string{"privacy.epsilon=1"}}.driver(t)
	other.Dir += " of another"
	other.Engine = d.Engine
	if _, err := other.Evaluate(context.Background()); err != nil {
		t.Fatal(err)
	}
	if w.last == before || len(w.last.shards) != 1 {
		t.Errorf("of another question it keeps %d shards, or what it kept before", len(w.last.shards))
	}
}
