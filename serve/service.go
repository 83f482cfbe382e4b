package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/database"
	"github.com/discreet-rl/discreet/serve/internal/asks"
	"github.com/discreet-rl/discreet/serve/internal/tokens"
)

// Service is open: its datasets are ready to be asked about.
type Service struct {
	config   Config
	files    string
	store    *asks.Store
	tokens   *tokens.Roll
	events   *events
	issuer   *issuer // nil for none
	address  string  // for browsers, where there is an issuer
	datasets map[string]*dataset
	names    []string
	server   *service.Server
	log      *slog.Logger
	metrics  *service.Metrics
	taken    prometheus.Counter
	// putBack by dataset.
	putBack    map[string]prometheus.Counter
	unrecorded prometheus.Counter
	backlog    backlogs
	planning   chan struct{}
	pages      *service.Pace // of one person
	watches    watches
	wake       chan struct{}
	changed    *broadcast
	hold       time.Duration // of a lease
	rooms      *database.Rooms
	receivers  []*receiver
	backer     *backer // nil for none
	pace       pace
	comparing  time.Duration
}

// logged are the keys that the log takes. None is of a user, and none of data.
var logged = map[string]service.Kind{"error": service.Text, "dataset": service.Word, "ask": service.Word, "address": service.Text, "receiver": service.Word, "workers": service.Number, "epsilon": service.Number, "delta": service.Number, service.StackKey: service.Text}

// Open opens the store, the ledgers and the contracts. Its errors are for the steward.
func Open(ctx context.Context, c Config) (*Service, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	c.Dir = dir
	s := &Service{config: c, files: c.path(c.Files), datasets: map[string]*dataset{}, wake: make(chan struct{}, 1), changed: newBroadcast(), planning: make(chan struct{}, mostPlans), hold: defaultHold, pace: usualPace(), backlog: backlogs{every: time.Minute}, comparing: defaultComparing, pages: service.NewPace(c.callRate(), nil)}
	if err := os.MkdirAll(s.files, 0o700); err != nil {
		return nil, fmt.Errorf("%w: files: %w", ErrConfig, err)
	}
	if s.store, err = asks.Open(ctx, c.place(c.Store), database.Options{}); err != nil {
		return nil, err
	}
	if err := s.store.Sound(ctx); err != nil {
		return nil, errors.Join(facts{store: fmt.Errorf("%s: %w", s.store.Name(), err)}.verdict(), s.Close())
	}
	s.names = slices.Sorted(maps.Keys(c.Datasets))
	budgets := map[string]string{}
	for _, name := range s.names {
		d, err := openDataset(ctx, c, name, s.store)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("dataset %s: %w", name, err), s.Close())
		}
		s.datasets[name] = d
		budget := d.location + "\x00" + d.part.Ledger.Dataset
		if other := budgets[budget]; other != "" {
			return nil, errors.Join(fmt.Errorf("%w: datasets %s and %s have one budget, dataset %q of one ledger; their rules would contradict each other", ErrConfig, other, name, d.part.Ledger.Dataset), s.Close())
		}
		budgets[budget] = name
	}
	s.rooms = database.NewRooms(s.written()...)
	s.log = service.NewLog(os.Stderr, slog.LevelInfo, logged)
	for _, name := range s.names {
		s.followVerdicts(s.datasets[name])
	}
	for _, name := range s.names {
		if b := s.datasets[name].other; b != nil {
			s.log.Warn("the ledger's budget is in force, and budget in the configuration is another one, which would only begin a ledger; the steward changes it with discreet ledger budget", "dataset", name, "epsilon", b.Epsilon, "delta", b.Delta)
		}
	}
	if c.OIDC != nil {
		told := func(err error) { s.log.Warn("the issuer cannot be reached", "error", err) }
		if s.issuer, err = openIssuer(ctx, *c.OIDC, told); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.address = c.OIDC.Address
	}
	s.events = newEvents(c, s.store, func(err error) {
		s.log.Error("a count of the audit log could not be written; it is tried again", "error", err)
	})
	source := follow(s.store)
	if c.Tokens != inStore {
		source = tokens.File(c.path(c.Tokens))
	}
	if s.tokens, err = tokens.Follow(s.noting(source), nil); err == nil {
		err = s.mount()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// written are the directories of this machine that the service writes to.
func (s *Service) written() []string {
	dirs := []string{s.files}
	if store := s.config.place(s.config.Store); !isPostgres(store) {
		dirs = append(dirs, filepath.Dir(store))
	}
	for _, d := range s.datasets {
		if !strings.Contains(d.location, "://") {
			dirs = append(dirs, filepath.Dir(d.location))
		}
	}
	return dirs
}

// Close writes what the audit log counts, and closes the store and the ledgers.
func (s *Service) Close() error {
	var err error
	if s.events != nil {
		err = s.events.close()
	}
	for _, d := range s.datasets {
		err = errors.Join(err, d.close())
	}
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	return err
}

// mount makes the server and its routes.
func (s *Service) mount() error {
	var err error
	if s.receivers, err = s.makeReceivers(); err != nil {
		return err
	}
	if s.config.Backups != nil {
		if s.backer, err = newBacker(s.config); err != nil {
			return err
		}
	}
	s.observe()
	s.observeBackups()
	s.observeReceivers()
	listen := s.config.Listen
	if listen == "" {
		listen = defaultListen
	}
	s.server, err = service.New(service.Config{
		Listen: listen, TLS: s.config.tls(), Operators: operatorRole, Identify: s.identify, Refused: s.gateRefused, Ready: s.inOrder, Log: s.log, Metrics: s.metrics,
	})
	if err != nil {
		return err
	}
	s.routes()
	return nil
}

// Listen opens the port, so that its number is known before Run serves it.
func (s *Service) Listen(ctx context.Context) (net.Addr, error) {
	a, err := s.server.Listen(ctx)
	if tcp, ok := a.(*net.TCPAddr); ok && s.address == "" && tcp.IP.IsLoopback() {
		s.address = "http://" + a.String()
		if s.config.TLS != nil {
			s.address = "https://" + a.String()
		}
	}
	return a, err
}

// Run serves and answers until ctx ends. Then no ask is begun, and those that are being
// answered are brought to their end.
func (s *Service) Run(ctx context.Context) error {
	if err := s.store.Recover(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	workers := max(1, s.config.Workers)
	s.log.Info("ready", "workers", workers)
	var working sync.WaitGroup
	for range workers {
		working.Go(func() { s.work(context.WithoutCancel(ctx), ctx.Done()) })
	}
	working.Go(func() { s.watch(ctx) })
	working.Go(func() { s.keepVerdicts(ctx) })
	if s.backer != nil {
		working.Go(func() { s.backUp(ctx) })
	}
	for _, c := range s.receivers {
		working.Go(func() { c.deliver(ctx) })
		working.Go(func() { c.test(ctx) })
	}
	err := s.server.Run(ctx)
	working.Wait()
	return err
}

// call has a worker look at the queue.
func (s *Service) call() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// broadcast wakes everybody who waits.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{}
}

func newBroadcast() *broadcast { return &broadcast{ch: make(chan struct{})} }

// C is closed at the next Broadcast.
func (b *broadcast) C() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ch
}

// Broadcast wakes who waits on C.
func (b *broadcast) Broadcast() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.ch)
	b.ch = make(chan struct{})
}
