package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// paper is a log that takes lines, or fails.
type paper struct {
	mu    sync.Mutex
	lines []string
	at    []time.Time
	fails error
}

func (p *paper) record(notes ...asks.Note) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails != nil {
		return p.fails
	}
	for _, n := range notes {
		p.lines, p.at = append(p.lines, n.Address+" "+n.Dataset+n.What), append(p.at, time.Now())
	}
	return nil
}

func (p *paper) fail(err error) { p.mu.Lock(); p.fails = err; p.mu.Unlock() }

func (p *paper) is(t *testing.T, want ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if fmt.Sprint(p.lines) != fmt.Sprint(want) {
		t.Errorf("the log is %q; want %q", p.lines, want)
	}
}

func from(address string) asks.Note {
	return asks.Note{By: asks.By{Who: nobody, Address: address}, What: "no"}
}

var errFull = errors.New("the disk is full")

// A flood from one address is two lines: one before the first is answered, and the number of the
// others when the minute is over.
func TestAFloodIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{}
		c := newTally(p.record, 10, func(err error) { t.Error(err) })
		begun := time.Now()
		var all sync.WaitGroup
		for range 10000 {
			all.Go(func() {
				if err := c.note(from("a")); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		p.is(t, "a no")
		time.Sleep(tallyWindow - time.Nanosecond)
		synctest.Wait()
		p.is(t, "a no")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		p.is(t, "a no", "a no: 9999 more within a minute")
		if at := p.at[1].Sub(begun); at != tallyWindow {
			t.Errorf("counted after %v; want %v", at, tallyWindow)
		}
		// A quiet minute later it begins anew, and a single one is one line.
		time.Sleep(2 * tallyWindow)
		if err := c.note(from("a")); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * tallyWindow)
		synctest.Wait()
		p.is(t, "a no", "a no: 9999 more within a minute", "a no")
		if len(c.open) != 0 {
			t.Errorf("%d are still counted", len(c.open))
		}
	})
}

// What happens in several datasets is counted once and said in each.
func TestACountIsSaidInEachDataset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{}
		c := newTally(p.record, 10, func(err error) { t.Error(err) })
		x, y := from("a"), from("a")
		x.Dataset, y.Dataset = "x ", "y "
		for range 3 {
			if err := c.note(x, y); err != nil {
				t.Error(err)
			}
		}
		if err := c.close(); err != nil {
			t.Error(err)
		}
		p.is(t, "a x no", "a y no", "a x no: 2 more within a minute", "a y no: 2 more within a minute")
	})
}

// Who comes from many addresses is counted without them; nothing is left out.
func TestManyAddressesAreCountedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{}
		c := newTally(p.record, 3, func(err error) { t.Error(err) })
		c.rest = asks.Note{By: asks.By{Who: nobody}, What: refusesOthers}
		for i := range 1000 {
			if err := c.note(from(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		}
		if err := c.close(); err != nil {
			t.Error(err)
		}
		p.is(t, "0 no", "1 no", "2 no", " "+refusesOthers, " "+refusesOthers+": 996 more within a minute")
	})
}

// What persons do beyond what is counted has a line each time, and says what it was.
func TestWhatPersonsDoKeepsItsName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{}
		c := newTally(p.record, 1, func(err error) { t.Error(err) })
		for _, address := range []string{"a", "b", "b", "a"} {
			if err := c.note(from(address)); err != nil {
				t.Error(err)
			}
		}
		if err := c.close(); err != nil {
			t.Error(err)
		}
		p.is(t, "a no", "b no", "b no", "a no: 1 more within a minute")
	})
}

// Where the first line cannot be written, nobody is answered as if it were, and the next tries
// again. A count that cannot be written is kept, and said with what came meanwhile.
func TestWhatCannotBeWrittenIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{fails: errFull}
		failed := 0
		c := newTally(p.record, 10, func(error) { failed++ })
		for range 3 {
			if err := c.note(from("a")); !errors.Is(err, errFull) {
				t.Errorf("a first that is not written: %v", err)
			}
		}
		p.fail(nil)
		for range 5 {
			if err := c.note(from("a")); err != nil {
				t.Error(err)
			}
		}
		p.fail(errFull)
		time.Sleep(tallyWindow + time.Second)
		synctest.Wait()
		p.is(t, "a no")
		if failed != 1 {
			t.Errorf("%d failures were told; want 1", failed)
		}
		p.fail(nil)
		if err := c.note(from("a")); err != nil {
			t.Error(err)
		}
		time.Sleep(tallyWindow)
		synctest.Wait()
		p.is(t, "a no", "a no: 5 more within a minute")
	})
}

// At shutdown all counts are written, and what is refused after that is written at once.
func TestAtShutdownCountsAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{}
		c := newTally(p.record, 10, func(err error) { t.Error(err) })
		for range 4 {
			if err := c.note(from("a")); err != nil {
				t.Error(err)
			}
		}
		if err := c.close(); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := c.note(from("a")); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(2 * tallyWindow)
		synctest.Wait()
		p.is(t, "a no", "a no: 3 more within a minute", "a no", "a no")
		p.fail(errFull)
		if err := c.close(); err != nil { // nothing is left
			t.Error(err)
		}
	})
}

// Whatever comes when, and while the log fails now and then: each that was answered is in the log
// once, by itself or in a count.
func TestEachIsCountedOnce(t *testing.T) {
	for n := range 40 {
		synctest.Test(t, func(t *testing.T) {
			p := &paper{}
			slow := func(notes ...asks.Note) error {
				time.Sleep(time.Duration(n) * time.Second)
				return p.record(notes...)
			}
			c := newTally(slow, 2+n%3, func(error) {})
			if n%2 == 0 {
				c.rest = asks.Note{By: asks.By{Who: nobody}, What: refusesOthers}
			}
			var all sync.WaitGroup
			var mu sync.Mutex
			answered := 0
			for i := range 300 {
				all.Go(func() {
					time.Sleep(time.Duration(i*i%241) * time.Second)
					if c.note(from(fmt.Sprint(i%4))) == nil {
						mu.Lock()
						answered++
						mu.Unlock()
					}
				})
			}
			for range 3 {
				time.Sleep(50 * time.Second)
				p.fail(errFull)
				time.Sleep(10 * time.Second)
				p.fail(nil)
			}
			all.Wait()
			if err := c.close(); err != nil {
				t.Error(err)
			}
			said := 0
			for _, line := range p.lines {
				more := 1
				if _, number, counted := strings.Cut(line, ": "); counted && strings.Contains(line, " more ") {
					if i := strings.LastIndex(number, ": "); i >= 0 {
						number = number[i+2:]
					}
					if _, err := fmt.Sscanf(number, "%d more", &more); err != nil {
						t.Fatal(line)
					}
				}
				said += more
			}
			if said != answered {
				t.Errorf("the log says %d, and %d were answered", said, answered)
			}
		})
	}
}

// Those who wait while a transaction is written share the next one, and each returns when its own
// is durable.
func TestNotesShareATransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each = time.Second
		var mu sync.Mutex
		var durable []asks.Note
		written := 0
		trail := newTrail(func(_ context.Context, notes []asks.Note) error {
			time.Sleep(each)
			mu.Lock()
			defer mu.Unlock()
			durable = append(durable, notes...)
			written++
			return nil
		})
		begun := time.Now()
		var all sync.WaitGroup
		for i := range 500 {
			all.Go(func() {
				n := from(fmt.Sprint(i))
				if err := trail.record(n); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, d := range durable {
					if d == n {
						return
					}
				}
				t.Errorf("%d returned before it was written", i)
			})
		}
		all.Wait()
		if len(durable) != 500 || written > 2 || time.Since(begun) > 2*each {
			t.Errorf("%d notes in %d transactions and %v; want 500, at most 2", len(durable), written, time.Since(begun))
		}
	})
}

// All who share a transaction that fails learn of it, and the next one is tried.
func TestATransactionThatFailsFailsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := errFull
		trail := newTrail(func(context.Context, []asks.Note) error { time.Sleep(time.Second); return fails })
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := trail.record(from("a")); !errors.Is(err, errFull) {
					t.Errorf("%v", err)
				}
			})
		}
		all.Wait()
		fails = nil
		if err := trail.record(from("a")); err != nil {
			t.Error(err)
		}
	})
}

// The log has words for each reason of a gate but that of being away, which refuses nobody.
func TestEachReasonHasWords(t *testing.T) {
	for _, reason := range service.Reasons() {
		if (refusals[reason] == "") != (reason == "away") {
			t.Errorf("%s: %q", reason, refusals[reason])
		}
	}
}

// The address of a stranger of IPv6 is that of a network, who may have all of it; no port is kept.
func TestAddressesOfTheLog(t *testing.T) {
	for remote, want := range map[string][2]string{
		"192.0.2.1:443":             {"192.0.2.1", "192.0.2.1"},
		"[::ffff:192.0.2.1]:443":    {"192.0.2.1", "192.0.2.1"},
		"[2001:db8:1:2:3:4:5:6]:80": {"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		"[fe80::1%eth0]:80":         {"fe80::1", "fe80::/64"},
		"":                          {"", ""},
	} {
		if got := [2]string{at(remote, false), at(remote, true)}; got != want {
			t.Errorf("%s: %q; want %q", remote, got, want)
		}
	}
}

// A certificate that may read the metrics alone is nobody of the service, whatever its name is: in
// the log it is no person.
func TestAnOperatorIsNoPerson(t *testing.T) {
	p := &paper{}
	s := &Service{log: slog.New(slog.DiscardHandler), events: &events{strangers: newTally(p.record, 10, nil), persons: newTally(p.record, 10, nil), of: map[string][]string{"ann": {"x "}}}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.RemoteAddr = "192.0.2.1:1"
	for _, id := range []service.Identity{{Role: operatorRole, Name: "ann"}, {Role: personRole, Name: "ann"}, {}} {
		if err := s.gateRefused(r, id, "role"); err != nil {
			t.Error(err)
		}
	}
	p.is(t, "192.0.2.1 "+refusals["role"], "192.0.2.1 x "+refusals["role"], "192.0.2.1 "+refusals["role"])
	for key := range s.events.strangers.open {
		if key.Who != operator && key.Who != nobody {
			t.Errorf("%q is no person", key.Who)
		}
	}
}
