package serve

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// What is told to whoever reads the metrics. None of it depends on what is in the data, but for how
// long asks take, to a minute and no sooner than their analysts are told: how asks end is for those,
// and failed checks are for the stewards' notices alone.

// observe makes the metrics.
func (s *Service) observe() {
	s.metrics = service.NewMetrics("discreet_curator")
	s.taken = s.metrics.Counter("asks_total", "Asks that were taken in.")
	s.putBack = s.metrics.Counters("asks_put_back_total", "Asks put back into the queue before their data were read, because store, ledger or witness refused.", "dataset", s.names...)
	s.unrecorded = s.metrics.Counter("audit_refusals_total", "Answers refused because the audit log takes no line.")
	s.metrics.GaugeFunc("datasets_out_of_order", "Datasets that take no charges, because store, ledger and witness do not agree.", s.outOfOrder)
	s.metrics.GaugeFunc("disks_refuse", "1 if a disk of the service takes nothing, else 0.", func() float64 { return s.within(s.rooms.Check) })
	for _, name := range s.names {
		d := s.datasets[name]
		for _, part := range []string{partStore, partAudit, partLedger, partWitness} {
			s.metrics.GaugeOf("dataset_refused", "1 if a dataset takes no charges because of this part, else 0.", map[string]string{"dataset": name, "part": part}, func() float64 {
				if partOf(d.compared.verdict()) == part {
					return 1
				}
				return 0
			})
		}
		s.metrics.GaugeOf("publish_seconds", "By how much the end of an ask may be announced later.", map[string]string{"dataset": name}, d.every.Seconds)
		for _, state := range []asks.State{asks.Queued, asks.Waiting} {
			labels := map[string]string{"dataset": name, "state": string(state)}
			s.metrics.GaugeOf("asks_open", "Asks for a worker (queued) or a steward (waiting) at the last full minute, until their end is announced.", labels, func() float64 {
				p, _, err := s.backlog.of(s.store, name, state)
				return orUnknown(float64(p.Asks), err)
			})
			s.metrics.GaugeOf("oldest_ask_seconds", "Age of the oldest of them.", labels, func() float64 {
				p, at, err := s.backlog.of(s.store, name, state)
				if p.Asks == 0 {
					return orUnknown(0, err)
				}
				return orUnknown(max(0, at.Sub(p.Oldest).Seconds()), err)
			})
		}
	}
}

// orUnknown is a number, or none where it is not known.
func orUnknown(n float64, err error) float64 {
	if err != nil {
		return math.NaN()
	}
	return n
}

// scrapeTime is how long a metric may take.
const scrapeTime = 2 * time.Second

// within is 1 for an error of f, else 0.
func (s *Service) within(f func(context.Context) error) float64 {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	if f(ctx) != nil {
		return 1
	}
	return 0
}

// backlogs are those of each dataset at the last full minute, so that scrapes in between do not show
// when in it an ask ended.
type backlogs struct {
	every time.Duration // a minute, but in tests
	mu    sync.Mutex
	at    time.Time
	read  map[string]asks.Backlog
}

// of returns a pile of a dataset, and the minute that it is of.
func (b *backlogs) of(store *asks.Store, dataset string, state asks.State) (asks.Pile, time.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	if now := time.Now().UTC().Truncate(b.every); !now.Equal(b.at) {
		b.at, b.read = now, map[string]asks.Backlog{}
	}
	all, ok := b.read[dataset]
	if !ok {
		var err error
		if all, err = store.Backlog(ctx, dataset, b.at); err != nil {
			return asks.Pile{}, b.at, err
		}
		b.read[dataset] = all
	}
	if state == asks.Waiting {
		return all.Waiting, b.at, nil
	}
	return all.Queued, b.at, nil
}
