package scan

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/shards"
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
	return func(ctx context.Context, path string, warn bool) (*shards.Part, error) {
		p, err := readShard(ctx, s.ForShard(path), plan, warn)
		if err != nil {
			return nil, err
		}
		p.Count = len(p.Persons)
		return p, nil
	}, nil
}

// readShard reads a shard part by part. One that is empty, or in which something is wrong, is
// read at once, which tells its columns, and what comes first.
func readShard(ctx context.Context, s *spec.Spec, plan *evaluate.Plan, warn bool) (*shards.Part, error) {
	stream, err := file.Open(ctx, s.Paths, s.Format, s.Reading)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	a, w := newAssembly(s, plan, warn), &weigher{spec: s}
	f := a.readAll(stream, w, &trajectory.Dataset{}, func() bool { return ctx.Err() != nil })
	persons, notices := stream.PersonIDs(), stream.Notices()
	if f.err != nil || f.nobody == nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		all, told, err := file.Read(ctx, s.Paths, s.Format, s.Reading)
		if err != nil {
			return nil, err
		}
		persons, notices = all.PersonID, told
		f = a.noFindings()
		a.check(f, w, all)
	}
	if !a.add(f) {
		return nil, a.err
	}
	p := &shards.Part{Persons: persons, Episodes: a.kept, Rows: a.rows, Nobody: a.nobody, Remarks: append(notices, a.notices()...)}
	if warn {
		told, err := a.watch.Warnings()
		if err == nil {
			told, err = contradictions(ctx, s, told)
		}
		if err != nil {
			return nil, err
		}
		p.Remarks = append(p.Remarks, told...)
	}
	p.Ready, p.Sizes, p.Kept, err = a.gathering.ReadyPart(ctx)
	return p, err
}
