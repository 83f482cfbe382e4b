package ledger_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-rl/discreet/dp"
)

// A clock that is set back makes no entry older than those before it: as of a time, none of
// what was charged later shows.
func TestAClockThatIsSetBackShowsNoLaterCharge(t *testing.T) {
	ctx := context.Background()
	location := stores[0].make(t)
	l := history(t, location)
	before, err := l.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	for time.Since(at) < time.Millisecond { // entries have times in microseconds
	}
	at = at.Add(time.Millisecond / 2)
	release(t, l, ask(dp.Gaussian{NoiseMultiplier: 60}), "{}")
	synctest.Test(t, func(t *testing.T) { // begins in the year 2000
		set := open(t, location, "trial")
		release(t, set, ask(dp.Gaussian{NoiseMultiplier: 70}), "{}")
	})
	then, err := l.StateAt(ctx, at)
	if err != nil || then.Totals != before.Totals || then.Spent != before.Spent {
		t.Errorf("as of %v: %+v, %v; want %+v", at, then, err, before)
	}
	verified(t, l)
}
