package scan

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/shards"
	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// PlanShards plans, and refuses what cannot be in shards.
func PlanShards(s *spec.Spec) (*evaluate.Plan, error) {
	switch {
	case len(s.Reading.OutcomeFiles) > 0:
		return nil, fmt.Errorf("%w: data.outcome.path names a file beside the data, which workers on shards do not read; read the data in one process, or make shards of a table that has the outcomes", config.ErrConfig)
	case s.Reading.Rows != "":
		return nil, fmt.Errorf("%w: data.rows is of NDJSON, and shards are Parquet; make them of a table that discreet import wrote, and leave data.rows out", config.ErrConfig)
	case s.Public.Privacy == nil:
		return nil, fmt.Errorf("%w: privacy is none, and sums without noise are not made in shards; read the data in one process", config.ErrConfig)
	case s.Public.Privacy.Unit.String() != evaluate.Person.String():
		return nil, fmt.Errorf("%w: privacy.unit is %s, and shards hold whole persons; use person, or read the data in one process", config.ErrConfig, s.Public.Privacy.Unit)
	case s.Public.Persons == 0:
		return nil, fmt.Errorf("%w: problem.persons is missing; with shards the number of persons must be known before the data are opened; give it", config.ErrConfig)
	}
	plan, err := s.Plan()
	if err != nil {
		return nil, err
	}
	return plan, plan.InParts()
}

// Shards plans a configuration, refuses what cannot be in shards, and returns what reads
// them. Several goroutines may use it.
func Shards(c config.Config) (shards.Read, error) {
	s, err := spec.New(c)
	if err != nil {
		return nil, err
	}
	plan, err := PlanShards(s)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, path, format string, warn bool) (*shards.Part, error) {
		p, err := readShard(ctx, s.ForShard(path, format), plan, warn)
		if err != nil {
			return nil, err
		}
		p.Count = len(p.Persons)
		return p, nil
	}, nil
}

// Owners reads whose the rows of a file are, as [file.Stream.Owners] does, as a configuration
// reads its data.
func Owners(ctx context.Context, c config.Config, path string, each func(plain []byte, rows int) error) error {
	s, err := spec.New(c)
	if err != nil {
		return err
	}
	in, err := file.Open(ctx, []string{path}, s.Format, s.Reading)
	if err != nil {
		return err
	}
	defer in.Close()
	return in.Owners(each)
}

// The parts in which files are read apart have some bytes at least, and each costs time and pieces of its own: some
// for few workers, more once all of them are long, and not too many.
const (
	leastPart = 2 << 20
	longPart  = 64 << 20
	someParts = 16
	mostParts = 1 << 10
)

// Files lists the files of a configuration's data, a large one as often as there are parts of it to be read.
func Files(ctx context.Context, c config.Config) ([]string, error) {
	s, err := spec.New(c)
	if err != nil {
		return nil, err
	}
	in, err := file.Open(ctx, s.Paths, s.Format, s.Reading)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	total, sizes := int64(0), make([]int64, len(in.Files()))
	for i, path := range in.Files() {
		info, err := source.Stat(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", trajectory.ErrInput, err)
		}
		sizes[i] = info.Size()
		total += sizes[i]
	}
	var all []string
	part := max(leastPart, min(longPart, total/someParts), total/mostParts)
	for i, path := range in.Files() {
		all = append(all, slices.Repeat([]string{path}, int(max(sizes[i]/part, 1)))...)
	}
	return all, nil
}

// Divide gives the rows of one of [Files] by place, as [file.Stream.Divide] does, for those who read
// them as a shard.
func Divide(ctx context.Context, c config.Config, files []string, index, places int, place func(plain []byte) int, give func(place int, piece []byte) error) (after []byte, err error) {
	s, err := spec.New(c)
	if err != nil {
		return nil, err
	}
	in, err := file.OpenOne(ctx, files, index, s.Format, s.Reading)
	if err != nil {
		return nil, err
	}
	further := []trajectory.Options{comparing(s, trajectory.BehaviorProb), ending(s)}
	return in.Divide(further, places, place, give)
}

// readShard reads a shard part by part. One that is empty, or in which something is wrong, is
// read at once, which tells its columns, and what comes first.
func readShard(ctx context.Context, s *spec.Spec, plan *evaluate.Plan, warn bool) (*shards.Part, error) {
	stream, err := file.Open(ctx, s.Paths, s.Format, s.Reading)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	if s.Reading.Arranges() {
		if _, err := stream.Together(ctx); err != nil {
			return nil, err
		}
	}
	q := asked{ready: true, part: true, warnings: warn}
	a := newAssembly(s, plan, q)
	f := a.readStream(stream, &weigher{spec: s}, &trajectory.Dataset{}, func() bool { return ctx.Err() != nil })
	ids := stream.PersonIDs()
	var sizes []int64
	kept := int64(math.MaxInt64) // of data that are read at once
	if a.add(f) && a.nobody != nil {
		a.told = append(stream.Notices(), a.notices()...)
		a.ready, sizes, kept, a.fault = a.gathering.ReadyPart(ctx)
	} else {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if a, err = asOne(ctx, s, nil); err != nil {
			return nil, err
		}
		ids, a.nobody = a.data.PersonID, a.data.Nobody()
		if a.bind(ctx, plan, q); a.fault == nil {
			sizes, a.fault = plan.Sizes(a.data)
		}
	}
	if a.fault != nil {
		return nil, a.fault
	}
	if warn {
		watch, err := a.watched()
		if err != nil {
			return nil, err
		}
		doubts, err := watch.Warnings()
		if err == nil {
			doubts, err = contradictions(ctx, s, doubts)
		}
		if err != nil {
			return nil, err
		}
		a.told = append(a.told, doubts...)
	}
	return &shards.Part{Persons: ids, Episodes: a.kept, Rows: a.rows, Nobody: a.nobody, Remarks: a.told, Ready: a.ready, Sizes: sizes, Kept: kept}, nil
}
