package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
)

// Success asks separate agents, who do nothing else, whether they reach a score.
// Each plays one episode, with actions drawn from the policy or greedily as in
// training but without uniform ones, and answers by randomised response. An agent
// whose environment fails answers as one that does not reach the score.
type Success struct {
	// Every is the number of submissions between evaluations.
	Every int
	// Agents is the number of agents asked each time; each is asked once.
	Agents int
	// Epsilon is what an answer costs its agent.
	Epsilon float64
	// Threshold is the score to reach.
	Threshold float64
}

func (s Success) check() error {
	if s.Every < 1 || s.Agents < 1 || math.IsNaN(s.Threshold) {
		return fmt.Errorf("%w: success: every %d submissions, %d agents, threshold %v; want at least 1 of each and a number", train.ErrConfig, s.Every, s.Agents, s.Threshold)
	}
	if _, err := local.NewResponse(2, s.Epsilon); err != nil {
		return fmt.Errorf("%w: success: %w", train.ErrConfig, err)
	}
	return nil
}

// Estimate is what evaluating agents told.
type Estimate struct {
	// Submissions is when they were asked.
	Submissions uint64 `json:"submissions"`
	// Share estimates the share of agents that reach the score, without bias: it may
	// lie outside [0, 1].
	Share float64 `json:"share"`
	// StdError bounds its standard deviation, from the randomised response and the
	// choice of agents together, whatever the true share is.
	StdError float64 `json:"std_error"`
	// Agents is the number of agents who answered.
	Agents int `json:"agents"`
}

// evaluate asks the next evaluating agents about the current weights.
func (r *run) evaluate(ctx context.Context, at uint64) error {
	s := r.cfg.Success
	rr, err := local.NewResponse(2, s.Epsilon)
	if err != nil {
		return err
	}
	f := &assignment{theta: make([]float64, r.cfg.Terms.Dim)}
	r.agg.Theta(f.theta)
	counts := make([]int64, 2)
	first := FirstEvaluator + uint64(len(r.success)*s.Agents)
	for i := range s.Agents {
		if err := ctx.Err(); err != nil {
			return err // asked again, of the same agents, on resuming
		}
		f.task.Slot = first + uint64(i)
		said, err := r.ask(ctx, f, rr)
		if errors.Is(err, train.ErrForfeited) || errors.Is(err, train.ErrBudget) {
			continue // the others answer
		}
		if err != nil {
			return fmt.Errorf("evaluation after %d submissions: %w", at, err)
		}
		counts[said]++
	}
	r.success = append(r.success, estimate(at, counts, rr))
	return nil
}

// estimate is what counts of randomised answers say. Without any answer it is one
// half, which no share is farther from than one half.
func estimate(at uint64, counts []int64, rr local.Response) Estimate {
	n := counts[0] + counts[1]
	if n == 0 {
		return Estimate{Submissions: at, Share: .5, StdError: .5}
	}
	shares := make([]float64, 2)
	rr.Estimate(shares, counts)
	// Var of the mean answer is at most 1/(4 n).
	slope := 2*rr.Truth() - 1
	return Estimate{Submissions: at, Share: shares[1], StdError: 1 / (2 * slope * math.Sqrt(float64(n))), Agents: int(n)}
}

// ask lets one evaluating agent play and answer.
func (r *run) ask(ctx context.Context, f *assignment, rr local.Response) (int, error) {
	f.agent = f.task.Slot
	wallet, err := r.cfg.newWallet(f.agent)
	if err != nil {
		return 0, err
	}
	f.wallet = wallet
	p, err := r.worker.enter(f)
	if err != nil {
		return 0, err
	}
	x := learn.Explore{Greedy: r.cfg.Local.Greedy}
	score, failed := r.worker.device.Play(f.theta, p, x, r.worker.rng) // silence would tell of a failure
	receipt, kept, err := wallet.Debit(ctx, f.task.Slot, rr.Event())
	if err != nil {
		return 0, err
	}
	if kept != nil {
		return rr.Decode(kept)
	}
	ctx = context.WithoutCancel(ctx)
	if err := receipt.Redeem(dp.ReplaceOne, rr.Event()); err != nil {
		return 0, err
	}
	bucket := 0
	if failed == nil && score >= r.cfg.Success.Threshold {
		bucket = 1
	}
	report := rr.Randomize(nil, bucket, r.worker.source(f.task.Slot))
	if err := wallet.Keep(ctx, f.task.Slot, receipt, report); err != nil {
		return 0, err
	}
	return rr.Decode(report)
}
