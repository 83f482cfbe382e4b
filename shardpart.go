package discreet

import (
	"context"
	"errors"
	"io"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/shards"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// ReadShards plans a configuration, refuses what cannot be in shards, and returns what reads
// them. Several goroutines may use it. Where the method looks at persons apart from each other
// it keeps two numbers and the names of each, else all rows. Package scale calls it.
func ReadShards(c Config) (shards.Read, error) {
	j, err := newJob(c)
	if err != nil {
		return nil, err
	}
	plan, err := j.plannedInParts()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, shard string, look bool) (*shards.Part, error) {
		mine := *j // reading writes to it
		p, err := mine.part(ctx, plan, shard, look)
		if err != nil {
			return nil, err
		}
		p.Count, p.Again = len(p.Persons), plan.Gather() != nil
		return p, nil
	}, nil
}

// part reads a shard.
func (j *job) part(ctx context.Context, plan *evaluate.Plan, shard string, look bool) (*shards.Part, error) {
	j.config.Data.Path, j.config.Data.Format = Paths{shard}, "parquet"
	j.config.Problem.Persons = 0 // is of all shards, and held against them all
	j.options.Alone = true
	p, err := j.partByParts(ctx, plan, shard, look)
	if p != nil || err != nil {
		return p, err
	}
	read, notices, err := file.Read(ctx, []string{shard}, "parquet", j.options)
	if err != nil {
		return nil, err
	}
	data, err := j.fit(read)
	if err != nil {
		return nil, err
	}
	p = &shards.Part{Persons: data.PersonID, Episodes: data.Episodes(), Rows: data.Rows(), Nobody: data.Nobody(), Remarks: append(notices, j.unfitNotice(read.Episodes())...)}
	none, err := j.ungrouped(data)
	if err != nil {
		return nil, err
	}
	if none != "" {
		p.Remarks = append(p.Remarks, none)
	}
	if p.Sizes, err = plan.Sizes(data); err != nil {
		return nil, err
	}
	if look {
		report, err := j.look(ctx, data, plan)
		if err != nil {
			return nil, err
		}
		p.Remarks = append(p.Remarks, report.Warnings...)
	}
	p.Ready, err = plan.CheckPart(ctx, data)
	return p, err
}

// partByParts reads a shard part by part. It returns nothing where the method needs all
// of its persons at once, and where anything is wrong with them: who reads them at once
// then says what.
func (j *job) partByParts(ctx context.Context, plan *evaluate.Plan, shard string, look bool) (*shards.Part, error) {
	if plan.Gather() == nil || j.public.Targets != nil || j.public.Behavior != nil {
		return nil, nil
	}
	s, err := file.Open(ctx, []string{shard}, "parquet", j.options)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	a, d := j.assembly(plan), &trajectory.Dataset{}
	if !look {
		a.watch = nil
	}
	for {
		if err := s.Part(d); errors.Is(err, io.EOF) {
			break
		} else if err != nil || !a.add(a.look(j, d)) {
			return nil, ctx.Err()
		}
	}
	if a.nobody == nil {
		return nil, ctx.Err()
	}
	p := &shards.Part{Persons: s.PersonIDs(), Episodes: a.kept, Rows: a.rows, Nobody: a.nobody}
	j.unfit = trajectory.Repaired{Episodes: a.unfit}
	p.Remarks = append(s.Notices(), j.unfitNotice(a.episodes)...)
	if look {
		told, err := j.doubted(ctx, a.watch.Warnings())
		if err != nil {
			return nil, err
		}
		p.Remarks = append(p.Remarks, told...)
	}
	p.Ready, err = a.gathering.ReadyPart()
	return p, err
}
