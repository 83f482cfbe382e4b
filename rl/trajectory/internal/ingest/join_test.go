package ingest_test

import (
	stdcmp "cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// divided is a table in memory that is cut before the rows with the given numbers, from
// 0. Rows are numbered from the start of a stretch where relative says so.
type divided struct {
	*memory
	cuts     []int
	relative bool
}

func (d divided) Part(int, int) (table.Stretch, error) { return nil, nil }

func (d divided) Cut(int) []func() (table.Stretch, error) {
	var out []func() (table.Stretch, error)
	for i, start := range d.cuts {
		end := len(d.rows)
		if i+1 < len(d.cuts) {
			end = d.cuts[i+1]
		}
		out = append(out, func() (table.Stretch, error) {
			m := *d.memory
			m.rows, m.next, m.open = d.rows[:end], start, new(int)
			return &piece{memory: &m, whole: d, start: start, end: end}, nil
		})
	}
	return out
}

type piece struct {
	*memory
	whole      divided
	start, end int
}

func (p *piece) Read(b *table.Batch) error {
	err := p.memory.Read(b)
	if p.whole.relative {
		for i := range b.Rows {
			b.Row[i] -= p.start
		}
	}
	return err
}

func (p *piece) Beyond()              { p.rows = p.whole.rows }
func (p *piece) Span() (int64, int64) { return int64(p.start), int64(p.end) }

func (p *piece) Numbered() int {
	if p.whole.relative {
		return p.end - p.start
	}
	return 0
}

// gathered is what reading by parts tells.
type gathered struct {
	Persons  []string // their episodes
	IDs      []string
	Notices  []string
	Unused   trajectory.Unused
	Repaired string
	Count    int
}

// parts reads a stream to its end, by parts.
func parts(s *ingest.Stream) (persons []string, err error) {
	var d trajectory.Dataset
	for {
		if err := s.Part(&d); errors.Is(err, io.EOF) {
			return persons, nil
		} else if err != nil {
			return persons, err
		}
		persons = append(persons, textsOf(&d)...)
	}
}

// textsOf are the episodes of each person.
func textsOf(d *trajectory.Dataset) (persons []string) {
	for p := range d.Persons() {
		var text strings.Builder
		for e := d.PersonStart[p]; e < d.PersonStart[p+1]; e++ {
			lo, hi := d.EpisodeStart[e], d.EpisodeStart[e+1]
			fmt.Fprint(&text, d.Obs[lo:hi], d.BehaviorProb[lo:hi], d.Reward[lo:hi], d.Ended(e), d.Origin[e], d.Counted(p), "; ")
		}
		persons = append(persons, text.String())
	}
	return persons
}

func tells(s *ingest.Stream, persons []string) gathered {
	r := s.Repaired()
	r.Kinds = slices.SortedFunc(slices.Values(r.Kinds), func(a, b trajectory.FaultKind) int { // a batch is checked column by column
		return stdcmp.Or(strings.Compare(a.Column, b.Column), strings.Compare(a.What, b.What))
	})
	repaired := fmt.Sprint(r.Rewards, r.Observations, r.Episodes, r.Kinds)
	for _, e := range r.First {
		repaired += "\n" + e.Error()
	}
	return gathered{persons, s.PersonIDs(), s.Notices(), s.Unused(), repaired, s.Persons()}
}

// Streams of the stretches of a table, at whatever rows it is cut, find together what
// one stream finds. They do not where one stream finds fault, and may not where a person
// comes again whose later episodes one stream leaves out by the cap: persons of many
// rows and of one, ids that come again or are another spelling of an earlier one, values
// that cannot be used, caps, and rows that are numbered from the stretch or the file.
func TestStretchesFindWhatOneStreamFinds(t *testing.T) {
	joined, several, dir := 0, 0, t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		o := trajectory.Options{Horizon: rapid.IntRange(0, 6).Draw(t, "horizon"), EpisodesPerPerson: rapid.IntRange(0, 3).Draw(t, "episodes a person"),
			Need: trajectory.BehaviorProb, Reward: &trajectory.Range{Min: 0, Max: 5}, ClipRewards: true}
		if rapid.Bool().Draw(t, "repair") {
			o.Repair = true
		}
		prefix := rapid.SampledFrom([]string{"", "p", "00", "é ", "0123abcd-0000-4000-8000-00000000000"}).Draw(t, "prefix")
		hostile := rapid.IntRange(0, 3).Draw(t, "hostile") == 0
		units := rapid.IntRange(0, 4).Draw(t, "units") > 0
		o.OneRowEpisodes = units && rapid.IntRange(0, 4).Draw(t, "one-row episodes") == 0
		same := rapid.Bool().Draw(t, "a first episode has the id of its person")
		header := "episode_id,step,obs_x,behavior_prob,reward,terminated\n"
		if units {
			header = "unit_id," + header
		}
		texts := []*strings.Builder{{}}
		texts[0].WriteString(header)
		rows, starts, e, again, spans := 0, []int{0}, 0, false, false
		last, ofLast, met := "", "", map[string]bool{}
		for p := range rapid.IntRange(1, 7).Draw(t, "persons") {
			id := fmt.Sprint(prefix, rapid.SampledFrom([]int{p, p, 10 * p, 20 - p}).Draw(t, "id"))
			if hostile && p > 0 {
				id = rapid.SampledFrom([]string{id, "7", "07", prefix + "0", "x\u200by"}).Draw(t, "odd id")
			}
			again = again || met[id] && id != last
			last, met[id] = id, true
			for k := range rapid.IntRange(1, 3).Draw(t, "episodes") {
				name := fmt.Sprint("e", e)
				if same && k == 0 {
					name = id
				}
				if rows > 0 && rapid.IntRange(0, 9).Draw(t, "new file") == 0 {
					texts, starts, spans = append(texts, new(strings.Builder)), append(starts, rows), spans || id == ofLast
					texts[len(texts)-1].WriteString(header)
				}
				text := texts[len(texts)-1]
				ofLast = id
				n := rapid.SampledFrom([]int{1, 1, 2, 3, 9}).Draw(t, "rows")
				for i := range n {
					if units {
						text.WriteString(id + ",")
					}
					prob := rapid.SampledFrom([]string{".5", ".5", ".5", ".5", ".25", ".5", ".5", ".5", ".5", ".5", ".5", ".5", "0"}).Draw(t, "prob")
					step, end := i, i == n-1 && e%3 > 0
					if hostile && rapid.IntRange(0, 60).Draw(t, "a step is wrong") == 0 {
						step++
					}
					if hostile && rapid.IntRange(0, 60).Draw(t, "a flag is wrong") == 0 {
						end = true
					}
					fmt.Fprintf(text, "%s,%d,%d,%s,%d,%v\n", name, step, rows, prob, rapid.IntRange(0, 7).Draw(t, "reward"), end)
					rows++
				}
				e++
				if hostile && rapid.IntRange(0, 9).Draw(t, "again") == 0 {
					e--
				}
			}
		}
		starts = append(starts, rows)
		batch := rapid.IntRange(1, 9).Draw(t, "batch")
		relative := rapid.Bool().Draw(t, "relative")
		var files, all []string
		cuts, byName := make([][]int, len(texts)), map[string]int{}
		for f, text := range texts {
			cuts[f] = []int{0}
			for range rapid.IntRange(1, 6).Draw(t, "cuts") {
				last := cuts[f][len(cuts[f])-1]
				cuts[f] = append(cuts[f], min(starts[f+1]-starts[f], last+rapid.IntRange(0, 12).Draw(t, "cut")))
			}
			path := filepath.Join(dir, fmt.Sprint("f", f))
			if err := os.WriteFile(path, make([]byte, rapid.SampledFrom([]int{0, 1, 1, 9, 90}).Draw(t, "size")), 0o600); err != nil {
				t.Fatal(err)
			}
			files, all, byName[path] = append(files, path), append(all, text.String()), f
		}
		text := strings.Join(all, "\n")
		stream := func() *ingest.Stream {
			s, err := ingest.NewStream(context.Background(), table.Format{Name: "memory", Open: func(_ context.Context, path string) (table.Table, error) {
				m := parse(all[byName[path]], batch)
				m.open = new(int)
				return divided{m, cuts[byName[path]], relative}, nil
			}}, files, o)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}

		one := stream()
		persons, oneErr := parts(one)
		want := tells(one, persons)
		// An episode at a time, by which a fault is told that parts have found as well.
		single := stream()
		if d, _, err := ingest.Collect(single); !one.Apart() {
			if fmt.Sprint(err) != fmt.Sprint(oneErr) {
				t.Fatalf("by parts: %v; by episodes: %v\n%s", oneErr, err, text)
			}
			if err == nil {
				if diff := cmp.Diff(tells(single, textsOf(d)), want); diff != "" {
					t.Fatalf("(-by episodes +by parts) %s\n%s", diff, text)
				}
			}
		}

		whole := stream()
		defer whole.Close()
		streams := whole.Cut(2)
		if len(files) == 1 && len(streams) != len(cuts[0]) {
			t.Fatalf("%d streams, want %d", len(streams), len(cuts[0]))
		}
		found := make([][]string, len(streams))
		var wg sync.WaitGroup
		for i, x := range streams {
			wg.Go(func() { found[i], _ = parts(x) })
		}
		wg.Wait()
		good := true
		var persons2 []string
		for i, x := range streams {
			good = good && whole.Join(x)
			persons2 = append(persons2, found[i]...)
		}
		good = good && whole.Joined()
		left := again && units && (o.EpisodesPerPerson > 0 || o.Horizon > 0)
		if good && oneErr != nil || !good && oneErr == nil && !left && !spans {
			t.Fatalf("joined: %v; one stream: %v\n%v\n%s", good, oneErr, cuts, text)
		}
		if !good {
			return
		}
		joined++
		if len(files) > 1 {
			several++
		}
		if diff := cmp.Diff(want, tells(whole, persons2)); diff != "" {
			t.Fatalf("(-one stream +stretches) %v\n%s\n%s", cuts, diff, text)
		}
	})
	if joined < 20 || several < 1 {
		t.Errorf("%d logs were read by stretches, %d of them in several files; want 20 and 1 at least", joined, several)
	}
}
