package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/discreet-rl/discreet/serve/internal/asks"
	"github.com/discreet-rl/discreet/serve/internal/notify"
)

const (
	// notifyRest is the time between two messages about a dataset.
	notifyRest = 5 * time.Minute
	// notifyWait is that to the next attempt, doubled with each, up to longestWait. It is longer
	// than an attempt takes, so that no two run at a time.
	notifyWait  = 30 * time.Second
	longestWait = time.Hour
	// A channel is tested after testEvery, and after testSoon where it failed.
	testEvery = time.Hour
	testSoon  = 5 * time.Minute
	// longestSaid is how much of what a receiver says is logged.
	longestSaid = 300
)

// pace is how often messages are sent; tests have less time.
type pace struct{ rest, wait, test, again time.Duration }

func usualPace() pace { return pace{notifyRest, notifyWait, testEvery, testSoon} }

// after is the time from one attempt to the next.
func (p pace) after(tries int) time.Duration {
	d := p.wait
	for ; tries > 0 && d < longestWait; tries-- {
		d *= 2
	}
	return min(d, longestWait)
}

// receiver is told of notices. What is due follows from the notices in the store and from
// what is noted there of earlier attempts.
type receiver struct {
	*Service
	notify.Channel
	name     string // in the store
	kind     string // webhook or mail
	datasets []string
	refused  *atomic.Bool // the last test, or message about records, failed
	direct   map[string]*directly
}

// directly is the delivery of a verdict that the store cannot keep.
type directly struct {
	tries int
	due   time.Time
	text  string // that was told last
}

// makeReceivers makes those of the configuration.
func (s *Service) makeReceivers() (all []*receiver, err error) {
	n := s.config.Notify
	if n == nil {
		return nil, nil
	}
	authorities := ""
	if n.Authorities != "" {
		authorities = s.config.path(n.Authorities)
	}
	roots, err := notify.Roots(authorities)
	if err != nil {
		return nil, fmt.Errorf("%w: notify.authorities: %w", ErrConfig, err)
	}
	add := func(name, kind string, to notify.Channel, datasets []string) {
		all = append(all, &receiver{Service: s, Channel: to, name: name, kind: kind, datasets: datasets, refused: new(atomic.Bool), direct: map[string]*directly{}})
	}
	if w := n.Webhook; w != nil {
		add("webhook", "webhook", notify.Webhook{URL: w.URL, Token: s.config.path(w.Token), Roots: roots}, s.names)
	}
	if m := n.Mail; m != nil {
		for _, person := range slices.Sorted(maps.Keys(m.To)) {
			to := notify.Mail{Server: m.Server, Security: notify.Security(m.TLS), From: m.From, To: m.To[person], User: m.User, Password: s.config.path(m.Password), Roots: roots, Now: time.Now}
			if to.Security == "" {
				to.Security = notify.StartTLS
			}
			add("mail:"+person, "mail", to, s.config.stewarded(person))
		}
	}
	return all, nil
}

// observeReceivers makes the metric of each kind of receiver. Whether a message about an ask arrives
// is not in it: that there is one depends on the data.
func (s *Service) observeReceivers() {
	kinds := map[string][]*receiver{}
	for _, c := range s.receivers {
		kinds[c.kind] = append(kinds[c.kind], c)
	}
	for kind, all := range kinds {
		s.metrics.GaugeOf("notify_refused", "Receivers of notices that refused the last test, or the last message about store, ledger and witness.", map[string]string{"channel": kind}, func() (n float64) {
			for _, c := range all {
				if c.refused.Load() {
					n++
				}
			}
			return n
		})
	}
}

// deliver sends what is due until ctx ends.
func (c *receiver) deliver(ctx context.Context) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		for _, dataset := range c.datasets {
			c.one(ctx, dataset)
			c.verdict(ctx, dataset)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// one tells of the notices of a dataset.
func (c *receiver) one(ctx context.Context, dataset string) {
	d, err := c.store.Due(ctx, c.name, dataset, c.pace.after)
	if err != nil {
		return // none is due, or the store is away, which is told by itself
	}
	err = c.Send(ctx, notify.Message{ID: messageID(c.name, d.ID()), Dataset: dataset, Kinds: d.Kinds, Link: c.link(dataset), Again: d.Again})
	if !slices.Contains(d.Kinds, asks.OfAsk) && ctx.Err() == nil {
		c.hear(err)
	}
	if err == nil {
		// If this is lost the message is sent again, and says so.
		_ = c.store.Delivered(context.WithoutCancel(ctx), d, c.pace.rest)
	}
}

// verdict tells of a store that cannot keep a notice of it.
func (c *receiver) verdict(ctx context.Context, dataset string) {
	err := c.Service.datasets[dataset].compared.verdict()
	part := partOf(err)
	is := c.direct[dataset]
	if is == nil {
		is = &directly{}
		c.direct[dataset] = is
	}
	if part != partStore && part != partAudit {
		is.text, is.tries = "", 0
		return
	}
	if is.text == err.Error() || time.Now().Before(is.due) {
		return
	}
	is.due = time.Now().Add(c.pace.after(is.tries))
	is.tries++
	// Nothing keeps that it was sent: another service, or this one after a restart, sends it too.
	sent := c.Send(ctx, notify.Message{ID: messageID(c.name, dataset, err.Error()), Dataset: dataset, Kinds: []string{asks.OfRecords}, Link: c.link(dataset), Again: true})
	if ctx.Err() != nil {
		return
	}
	c.hear(sent)
	if sent == nil {
		*is = directly{text: err.Error(), due: time.Now().Add(c.pace.rest)}
	}
}

// hear notes whether the receiver takes what is sent.
func (c *receiver) hear(err error) {
	if c.refused.Swap(err != nil) != (err != nil) {
		if err != nil {
			text := err.Error()
			c.log.Error("a receiver of notices refuses", "receiver", c.kind, "error", text[:min(len(text), longestSaid)])
			return
		}
		c.log.Info("a receiver of notices takes them again", "receiver", c.kind)
	}
}

// test tests the receiver until ctx ends.
func (c *receiver) test(ctx context.Context) {
	for {
		err := c.Test(ctx)
		if ctx.Err() != nil {
			return
		}
		c.hear(err)
		next := c.pace.test
		if err != nil {
			next = c.pace.again
		}
		t := time.NewTimer(next)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
	}
}

func (c *receiver) link(dataset string) string {
	return c.config.notifyAddress() + "/datasets/" + dataset + "/notices"
}

// messageID names a message to a receiver.
func messageID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:12])
}

// keepVerdicts writes verdicts that the store can keep among the notices, and that they are over. One
// that changes again within rest is written then.
func (s *Service) keepVerdicts(ctx context.Context) {
	type kept struct {
		text string
		due  time.Time
	}
	last := map[string]kept{}
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		for _, name := range s.names {
			err := s.datasets[name].compared.verdict()
			text := ""
			if part := partOf(err); part == partLedger || part == partWitness {
				text = err.Error()
			}
			is := last[name]
			if text == is.text || time.Now().Before(is.due) {
				continue
			}
			told := text
			if told == "" {
				told = toldAgain
			}
			if s.store.Tell(ctx, name, told) == nil {
				last[name] = kept{text, time.Now().Add(s.pace.rest)}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// toldAgain is the end of a verdict.
const toldAgain = "store, ledger and witness agree again"
