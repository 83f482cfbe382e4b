package train_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/train"
)

// TestRestoringReissuesNothing goes through a crash as the documentation tells to:
// a snapshot, five reports after it, a sixth task out.
func TestRestoringReissuesNothing(t *testing.T) {
	terms := small(train.SignPRS)
	var log bytes.Buffer
	agg := aggregator(t, terms, train.Options{Log: &log})
	a := agent(t, terms.Randomizer, 1000, 1)
	early := must(agg.Snapshot())(t)
	for range 5 {
		submit(t, agg, answer(t, a, agg.Issue(0)), train.Accepted)
	}
	out := answer(t, a, agg.Issue(0))
	again := must(train.RestoreAggregator(early, train.Options{}))(t)
	for log.Len() > 0 {
		submit(t, again, log.Next(agg.ReportSize()), train.Accepted)
	}
	submit(t, again, answer(t, a, again.Issue(0)), train.Accepted)
	submit(t, again, out, train.Accepted) // whoever was at work is not turned away
	if _, err := train.RestoreAggregator(must(again.Snapshot())(t), train.Options{}); err != nil {
		t.Errorf("the restored aggregator's snapshot: %v", err)
	}
	// A log in front of an aggregator that issued nothing raises what is issued.
	bare := must(train.RestoreAggregator(early, train.Options{}))(t)
	submit(t, bare, out, train.Accepted)
	if s := bare.Status(); s.Issued < 6 {
		t.Errorf("%d tasks issued; slot 5 was answered", s.Issued)
	}
}

// TestDeadlines: agents send at the deadline, so that a report may be on its way
// for the grace; a log is replayed at any time; nobody pays for a task that is over.
func TestDeadlines(t *testing.T) {
	terms := small(train.SignPRS)
	terms.Grace = 5
	now := time.Unix(1000, 0)
	clock := func() time.Time { return now }
	var log bytes.Buffer
	agg := aggregator(t, terms, train.Options{Now: clock, Log: &log})
	early := must(agg.Snapshot())(t)
	a := agent(t, terms.Randomizer, 1000, 1)
	a.Now = clock
	var reports [][]byte
	for range 3 {
		reports = append(reports, answer(t, a, agg.Issue(1010)))
	}
	now = time.Unix(1010, 0)
	submit(t, agg, reports[0], train.Accepted)
	now = time.Unix(1015, 999)
	submit(t, agg, reports[1], train.Accepted)
	now = time.Unix(1016, 0)
	submit(t, agg, reports[2], train.Late)
	again := must(train.RestoreAggregator(early, train.Options{Now: clock}))(t)
	for log.Len() > 0 {
		if v, err := again.Replay(log.Next(agg.ReportSize())); v != train.Accepted || err != nil {
			t.Errorf("replayed after the deadline: %v, %v", v, err)
		}
	}
	over := agg.Issue(1015)
	if err := a.Accept(&over, make([]float64, 8)); !errors.Is(err, train.ErrTask) {
		t.Errorf("a task that is over: %v; want ErrTask", err)
	}
	if b, err := try(a, over); !errors.Is(err, train.ErrTask) || b != nil {
		t.Errorf("a task that is over: %v; want ErrTask", err)
	}
	if b, err := a.Wallet.Spent(context.Background()); err != nil || b.Epsilon != 3*terms.Randomizer.Epsilon {
		t.Errorf("spent %v, %v; want that of 3 reports", b, err)
	}
}

// TestTokensAreOfOneRun also where two runs have one secret.
func TestTokensAreOfOneRun(t *testing.T) {
	terms := small(train.SignPRS)
	secret, one, other := [32]byte{1}, [32]byte{2}, [32]byte{3}
	first := aggregator(t, terms, train.Options{Secret: &secret, RunSeed: &one})
	second := aggregator(t, terms, train.Options{Secret: &secret, RunSeed: &other})
	report := answer(t, agent(t, terms.Randomizer, 1000, 1), first.Issue(0))
	second.Issue(0) // the same slot of the same version
	submit(t, second, report, train.Forged)
	submit(t, first, report, train.Accepted)
}

// TestOneWalletTwoRuns: a report goes to the run that it was made for, or nowhere.
func TestOneWalletTwoRuns(t *testing.T) {
	terms := small(train.SignPRS)
	a := agent(t, terms.Randomizer, 1000, 1)
	first, second := aggregator(t, terms, train.Options{}).Issue(0), aggregator(t, terms, train.Options{}).Issue(0)
	report := answer(t, a, first)
	if !bytes.Equal(answer(t, a, first), report) {
		t.Error("a retry sends other bytes")
	}
	if b, err := try(a, second); !errors.Is(err, train.ErrTask) || b != nil {
		t.Errorf("the same slot of another run: %v; want ErrTask", err)
	}
}
