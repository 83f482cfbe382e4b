package examine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp/audit"
)

const (
	// mostNumbers of a release are looked at.
	mostNumbers = 64
	// tries is the number of runs of each world that choose a pair.
	tries = 400
)

// choose puts the pairs first that a few runs tell apart best.
func (s *subject) choose(ctx context.Context) error {
	apart := map[string]float64{}
	var all []pair
	for i, p := range s.pairs {
		samples, err := s.released(ctx, p, tries, 1<<20)
		if err != nil {
			return err
		}
		p.Kind = fmt.Sprintf("%s, pair %d", p.Kind, i+1)
		all = append(all, p)
		if samples.Columns == nil {
			continue // every release of either is the same
		}
		found, err := samples.Bound(audit.Options{Delta: s.claim.Delta, FalseAlarm: 0.1})
		if err != nil {
			return err
		}
		apart[p.Kind] = found.Mu
	}
	slices.SortStableFunc(all, func(a, b pair) int { return cmp.Compare(apart[b.Kind], apart[a.Kind]) })
	s.pairs = all
	return nil
}

// sample bounds what the numbers and texts of the releases of the chosen pair show.
func (s *subject) sample(ctx context.Context, o *outcome) error {
	samples, err := s.released(ctx, s.pairs[o.at], s.runs, 0)
	if err != nil || samples.Columns == nil {
		return err
	}
	return s.hold(o, samples)
}

// released runs both worlds; first numbers the runs.
func (s *subject) released(ctx context.Context, p pair, runs, first int) (audit.Samples, error) {
	var members [2][]map[string]float64
	for world := range members {
		var err error
		members[world], err = parallel(ctx, runs, func(i int) (map[string]float64, error) {
			release, err := p.run(ctx, world == 1, s.seeded(world, first+i))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.Kind, err)
			}
			text, err := json.Marshal(release)
			if err != nil {
				return nil, err
			}
			return membersOf(text)
		})
		if err != nil {
			return audit.Samples{}, err
		}
	}
	return table(members), nil
}

// membersOf flattens a release: its numbers by path, a number that stands for all its
// texts, and how many members it has.
func membersOf(text []byte) (map[string]float64, error) {
	var release any
	if err := json.Unmarshal(text, &release); err != nil {
		return nil, err
	}
	out := map[string]float64{}
	words := fnv.New32a()
	flatten(release, "", func(path string, v any) {
		out["members"]++
		switch v := v.(type) {
		case float64:
			out[path] = v
		default:
			fmt.Fprintf(words, "%s=%v;", path, v)
		}
	})
	out["texts"] = float64(words.Sum32() % (1 << 16))
	return out, nil
}

// flatten calls leaf for each value, in order of paths.
func flatten(v any, path string, leaf func(path string, v any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			flatten(v[key], path+"/"+key, leaf)
		}
	case []any:
		for i, x := range v {
			flatten(x, fmt.Sprintf("%s/%d", path, i), leaf)
		}
	default:
		leaf(path, v)
	}
}

// table makes columns of the members that ever change. One that is not there counts
// as the largest number, so that its absence shows.
func table(members [2][]map[string]float64) audit.Samples {
	low, high, seen := map[string]float64{}, map[string]float64{}, map[string]int{}
	total := 0
	for _, world := range members {
		total += len(world)
		for _, m := range world {
			for path, v := range m {
				if seen[path] == 0 {
					low[path], high[path] = v, v
				}
				low[path], high[path] = min(low[path], v), max(high[path], v)
				seen[path]++
			}
		}
	}
	var s audit.Samples
	for _, path := range slices.Sorted(maps.Keys(seen)) {
		if (low[path] < high[path] || seen[path] < total) && len(s.Columns) < mostNumbers {
			s.Columns = append(s.Columns, path)
		}
	}
	for world, all := range members {
		for _, m := range all {
			x := make([]float64, len(s.Columns))
			for i, path := range s.Columns {
				v, ok := m[path]
				if !ok {
					v = math.MaxFloat32
				}
				x[i] = v
			}
			s.Worlds[world] = append(s.Worlds[world], x)
		}
	}
	return s
}
