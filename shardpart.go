package discreet

import (
	"context"
	"errors"
	"io"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Part is one shard of the data, read and bound to the plan of its configuration. What
// it holds is private.
type Part struct {
	// Persons are their ids in the order of the shard, nil where they have none.
	Persons []string
	// Count is how many persons there are, and Episodes and Rows how many count.
	Count, Episodes, Rows int
	// Nobody has the columns of the data and no person.
	Nobody *trajectory.Dataset
	// Sizes are how many persons are in each group, where these numbers are public.
	Sizes []int64
	// Remarks are for the curator of the data.
	Remarks []string

	ready *evaluate.Ready
	again bool
}

// Parts reads shards as one configuration says, which is planned once. Several goroutines
// may use it.
type Parts struct {
	job  *job
	plan *evaluate.Plan
}

// NewParts plans a configuration, and refuses what cannot be in shards.
func NewParts(c Config) (*Parts, error) {
	j, err := newJob(c)
	if err != nil {
		return nil, err
	}
	plan, err := j.plannedInParts()
	if err != nil {
		return nil, err
	}
	return &Parts{j, plan}, nil
}

// Read reads a shard as the configuration says, and checks it. With look it also says
// what is doubtful in it. Errors of the data are for their curator. It is read by one
// goroutine: who has several processors reads several shards at a time. Where the method
// looks at persons apart from each other it keeps two numbers and the names of each, else
// all rows.
func (of *Parts) Read(ctx context.Context, shard string, look bool) (*Part, error) {
	mine := *of.job // reading writes to it
	p, err := mine.part(ctx, of.plan, shard, look)
	if err != nil {
		return nil, err
	}
	p.Count, p.again = len(p.Persons), of.plan.Gather() != nil
	return p, nil
}

// part reads a shard.
func (j *job) part(ctx context.Context, plan *evaluate.Plan, shard string, look bool) (*Part, error) {
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
	p = &Part{Persons: data.PersonID, Episodes: data.Episodes(), Rows: data.Rows(), Nobody: data.Nobody(), Remarks: append(notices, j.unfitNotice(read.Episodes())...)}
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
	p.ready, err = plan.CheckPart(ctx, data)
	return p, err
}

// partByParts reads a shard part by part. It returns nothing where the method needs all
// of its persons at once, and where anything is wrong with them: who reads them at once
// then says what.
func (j *job) partByParts(ctx context.Context, plan *evaluate.Plan, shard string, look bool) (*Part, error) {
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
	p := &Part{Persons: s.PersonIDs(), Episodes: a.kept, Rows: a.rows, Nobody: a.nobody}
	j.unfit = trajectory.Repaired{Episodes: a.unfit}
	p.Remarks = append(s.Notices(), j.unfitNotice(a.episodes)...)
	if look {
		told, err := j.doubted(ctx, a.watch.Warnings())
		if err != nil {
			return nil, err
		}
		p.Remarks = append(p.Remarks, told...)
	}
	p.ready, err = a.gathering.ReadyPart()
	return p, err
}

// Again tells that [Part.Replay] can be called again, and by several goroutines: what is
// kept of the shard are two numbers a person.
func (p *Part) Again() bool { return p.again }

// Replay hands x what the persons of the shard add to each sum, as
// [evaluate.Ready.Replay] says.
func (p *Part) Replay(ctx context.Context, x noise.Sums) error { return p.ready.Replay(ctx, x) }
