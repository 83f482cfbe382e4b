package asks_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// A message is about all notices that a channel was not told of. Until it is known to have arrived
// there is one attempt after the other, each of which knows that there was one before, and no two
// at a time; then there is none, until there are other notices and some rest.
func TestNoticesAreDeliveredOnce(t *testing.T) {
	onEach(t, func(t *testing.T, s *asks.Store, later func(time.Duration)) {
		const short = 20 * time.Millisecond
		tries := []int{}
		wait := short
		due := func(channel string) (*asks.Delivery, error) {
			return s.Due(t.Context(), channel, "trial", func(n int) time.Duration { tries = append(tries, n); return wait })
		}
		none := func(what, channel string) {
			t.Helper()
			if d, err := due(channel); !errors.Is(err, asks.ErrNone) {
				t.Errorf("%s: %v, %v; want nothing", what, d, err)
			}
		}
		is := func(what, channel string, again bool, kinds ...string) *asks.Delivery {
			t.Helper()
			later(short)
			for end := time.Now().Add(10 * time.Second); ; {
				d, err := due(channel)
				if errors.Is(err, asks.ErrNone) && time.Now().Before(end) {
					continue // the clock is the database's
				}
				if err != nil || d.Again != again || !slices.Equal(d.Kinds, kinds) {
					t.Fatalf("%s: %v, %v; want %v, again %v", what, d, err, kinds, again)
				}
				return d
			}
		}
		none("without notices", "webhook")
		for range 2 {
			if err := s.Tell(t.Context(), "trial", "the ledger is away"); err != nil {
				t.Fatal(err)
			}
		}
		if list, err := s.Notices(t.Context(), "trial", 1<<60, 10); err != nil || len(list) != 1 {
			t.Errorf("told twice the same, the notices are %v, %v", list, err)
		}
		first := is("one notice", "webhook", false, asks.OfRecords)
		again := is("an attempt of which nothing is known", "webhook", true, asks.OfRecords)
		if first.ID() != again.ID() || !slices.Equal(tries, []int{0, 1}) {
			t.Errorf("%v, %v after %v", first, again, tries)
		}
		if err := s.Delivered(t.Context(), again, 0); err != nil {
			t.Fatal(err)
		}
		none("told", "webhook")
		is("another channel", "mail:stella", false, asks.OfRecords)
		// A flood is one message.
		for i := range 100 {
			added(t, s, fmt.Sprint(i))
		}
		wait = time.Hour
		flood := is("a hundred of asks", "webhook", false, asks.OfAsk)
		none("while it is sent", "webhook")
		if err := s.Delivered(t.Context(), flood, time.Hour); err != nil {
			t.Fatal(err)
		}
		added(t, s, "one more")
		none("soon after", "webhook")
		// Of two processes, the one that was told less changes nothing.
		if err := s.Delivered(t.Context(), first, 0); err != nil {
			t.Fatal(err)
		}
		none("what was told before", "webhook")
	})
}

// added is an ask that ends with a notice.
func added(t *testing.T, s *asks.Store, key string) {
	t.Helper()
	if _, err := s.Add(t.Context(), ann, asks.Ask{Key: key, Analyst: "ann", Dataset: "trial", Question: "q", State: asks.Queued}, 1000); err != nil {
		t.Fatal(err)
	}
	l, err := s.Take(t.Context(), []string{"trial"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(t.Context(), l, asks.Outcome{State: asks.Refused, Notices: []string{"row 7"}}); err != nil {
		t.Fatal(err)
	}
}

// The backlog has what has no end, as whoever is told no ends may know it: an ask that waits for
// failed checks leaves it when one that is released does.
func TestTheBacklogShowsNoCheck(t *testing.T) {
	onEach(t, func(t *testing.T, s *asks.Store, later func(time.Duration)) {
		now, err := s.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		const hour = time.Hour
		full := now.Truncate(hour).Add(hour)
		add := func(dataset string, state asks.State) *asks.Ask {
			a, err := s.Add(t.Context(), ann, asks.Ask{Key: dataset + string(state), Analyst: "ann", Dataset: dataset, Question: "q", State: state}, 100)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		is := func(what, dataset string, at time.Time, queued, waiting int) {
			t.Helper()
			b, err := s.Backlog(t.Context(), dataset, at)
			if err != nil || b.Queued.Asks != queued || b.Waiting.Asks != waiting {
				t.Errorf("%s: %+v, %v; want %d queued, %d waiting", what, b, err, queued, waiting)
			}
		}
		for dataset, o := range map[string]asks.Outcome{
			"released": {State: asks.Released, Release: []byte("{}")}, "refused": {State: asks.Refused}, "pending": {State: asks.Pending},
			"waits for failed checks": {State: asks.Queued},
		} {
			add(dataset, asks.Queued)
			is("before it was asked", dataset, now.Add(-hour), 0, 0)
			is("asked", dataset, full.Add(-1), 1, 0)
			l, err := s.Take(t.Context(), []string{dataset}, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			o.Every = hour
			if err := s.Finish(t.Context(), l, o); err != nil {
				t.Fatal(err)
			}
			is(dataset+", before it is told", dataset, full.Add(-1), 1, 0)
			is(dataset+", when it is told", dataset, full, 0, 0)
		}
		// One that no data were read for stays.
		add("ledger", asks.Queued)
		l, err := s.Take(t.Context(), []string{"ledger"}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Finish(t.Context(), l, asks.Outcome{State: asks.Queued, Unread: true, Every: hour}); err != nil {
			t.Fatal(err)
		}
		is("put back for the ledger", "ledger", full.Add(hour), 1, 0)
		// Waiting for a steward is another pile, and its age is another.
		a := add("steward", asks.Waiting)
		is("waiting", "steward", full, 0, 1)
		later(time.Minute)
		if _, err := s.Move(t.Context(), ann, a.ID, []asks.State{asks.Waiting}, asks.Queued, ""); err != nil {
			t.Fatal(err)
		}
		is("approved", "steward", full.Add(hour), 1, 0)
		if b, err := s.Backlog(t.Context(), "steward", full.Add(hour)); err != nil || b.Queued.Oldest.Before(a.Asked) {
			t.Errorf("%+v, %v; asked at %v", b, err, a.Asked)
		}
	})
}

// While an ask whose check may be open rests, no other of its dataset is run; when it has ended, or its
// check is not open, others are.
func TestAnOpenCheckGoesOnFirst(t *testing.T) {
	onEach(t, func(t *testing.T, s *asks.Store, _ func(time.Duration)) {
		take := func() *asks.Lease {
			t.Helper()
			l, err := s.Take(t.Context(), []string{"trial"}, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		for _, key := range []string{"first", "second"} {
			if _, err := s.Add(t.Context(), ann, asks.Ask{Key: key, Analyst: "ann", Dataset: "trial", Question: "q", State: asks.Queued}, 100); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Finish(t.Context(), take(), asks.Outcome{State: asks.Queued, Open: true}); err != nil {
			t.Fatal(err)
		}
		if l, err := s.Take(t.Context(), []string{"trial"}, time.Minute); !errors.Is(err, asks.ErrNone) {
			t.Errorf("beside an open check runs %v, %v", l, err)
		}
		if err := s.GoOn(t.Context(), "trial"); err != nil {
			t.Fatal(err)
		}
		l := take()
		if l.Key != "first" || !l.Begun() {
			t.Errorf("%v is run, begun %v", l.Ask, l.Begun())
		}
		if err := s.Finish(t.Context(), l, asks.Outcome{State: asks.Queued}); err != nil {
			t.Fatal(err)
		}
		if l := take(); l.Key != "second" || l.Begun() {
			t.Errorf("%v is run, begun %v", l.Ask, l.Begun())
		}
	})
}
