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
		p.Count, p.Again = len(p.Persons), plan.Slim()
		return p, nil
	}, nil
}

func readShard(ctx context.Context, s *spec.Spec, plan *evaluate.Plan, warn bool) (*shards.Part, error) {
	p, err := shardInParts(ctx, s, plan, warn)
	if p != nil || err != nil {
		return p, err
	}
	read, notices, err := file.Read(ctx, s.Paths, s.Format, s.Reading)
	if err != nil {
		return nil, err
	}
	w, err := wholeOf(s, read, notices)
	if err != nil {
		return nil, err
	}
	p = &shards.Part{Persons: w.data.PersonID, Episodes: w.data.Episodes(), Rows: w.data.Rows(), Nobody: w.data.Nobody(), Remarks: w.notices}
	if p.Sizes, err = plan.Sizes(w.data); err != nil {
		return nil, err
	}
	if warn {
		report, err := describe(ctx, s, w.data, plan)
		if err != nil {
			return nil, err
		}
		p.Remarks = append(p.Remarks, report.Warnings...)
	}
	p.Ready, err = plan.CheckPart(ctx, w.data)
	return p, err
}

// shardInParts reads a shard part by part. It returns nothing where anything is wrong with its persons: who
// reads them at once then says what.
func shardInParts(ctx context.Context, s *spec.Spec, plan *evaluate.Plan, warn bool) (*shards.Part, error) {
	if !byParts(s, plan) {
		return nil, nil
	}
	stream, err := file.Open(ctx, s.Paths, s.Format, s.Reading)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	a := newAssembly(s, plan, warn)
	if !a.add(a.readAll(stream, &weigher{spec: s}, &trajectory.Dataset{}, func() bool { return ctx.Err() != nil })) || a.nobody == nil || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	p := &shards.Part{Persons: stream.PersonIDs(), Episodes: a.kept, Rows: a.rows, Nobody: a.nobody, Remarks: a.notices(stream)}
	if warn {
		doubts, err := a.watch.Warnings()
		if err == nil {
			doubts, err = contradictions(ctx, s, doubts)
		}
		if err != nil {
			return nil, err
		}
		p.Remarks = append(p.Remarks, doubts...)
	}
	p.Ready, p.Sizes, err = a.gathering.ReadyPart(ctx)
	return p, err
}
