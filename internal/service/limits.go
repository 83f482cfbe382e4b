package service

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// Limits bound what anybody can make the service hold or wait for.
type Limits struct {
	// Header is the size of a request's header in bytes; 8 KiB if 0.
	Header int
	// HeaderTime is how long a header may take, 10 s if 0; RequestTime a whole
	// request and its answer, 30 s if 0; IdleTime a connection without a request, 60 s
	// if 0.
	HeaderTime, RequestTime, IdleTime time.Duration
	// Connections are open at the same time at most; 32768 if 0, or three quarters of the
	// files that the process may have open, if these are fewer: stores need the rest.
	Connections int
}

func (l Limits) withDefaults() Limits {
	if l.Header == 0 {
		l.Header = 8 << 10
	}
	if l.HeaderTime == 0 {
		l.HeaderTime = 10 * time.Second
	}
	if l.RequestTime == 0 {
		l.RequestTime = 30 * time.Second
	}
	if l.IdleTime == 0 {
		l.IdleTime = time.Minute
	}
	if l.Connections == 0 {
		l.Connections = min(32<<10, max(1, openFiles()/4*3))
	}
	return l
}

func (l Limits) validate() error {
	if l.Header < 1 || l.HeaderTime < 0 || l.RequestTime < 0 || l.IdleTime < 0 || l.Connections < 1 {
		return fmt.Errorf("%w: limits: header %d bytes, %v, request %v, idle %v, %d connections; want numbers above 0", ErrConfig, l.Header, l.HeaderTime, l.RequestTime, l.IdleTime, l.Connections)
	}
	return nil
}

// limited accepts no more than so many connections at a time; others wait in the
// system's queue.
type limited struct {
	net.Listener
	free chan struct{}
	open func(int)
	done chan struct{}
	once sync.Once
}

func limit(l net.Listener, n int, open func(int)) net.Listener {
	return &limited{Listener: l, free: make(chan struct{}, n), open: open, done: make(chan struct{})}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.free <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	l.open(1)
	return &limitedConn{Conn: c, release: func() { l.open(-1); <-l.free }}, nil
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	once    sync.Once
	release func()
}

func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.release)
	return err
}

// Rate is how often somebody may ask: Burst times at once, and then once every
// Every.
type Rate struct {
	Every time.Duration
	Burst int
}

// rates keeps, for each who asked, when they will have paid for what they asked
// (the generic cell rate algorithm). Who has paid is forgotten.
type rates struct {
	rate Rate
	now  func() time.Time

	mu    sync.Mutex
	until map[string]time.Time
	swept time.Time
}

func newRates(r Rate, now func() time.Time) *rates {
	return &rates{rate: r, now: now, until: map[string]time.Time{}}
}

// allow reports whether who may ask now, or else how long they have to wait.
func (r *rates) allow(who string) (wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.sweep(now)
	paid := r.until[who]
	if paid.Before(now) {
		paid = now
	}
	if ahead := paid.Sub(now) - time.Duration(r.rate.Burst-1)*r.rate.Every; ahead > 0 {
		return ahead
	}
	r.until[who] = paid.Add(r.rate.Every)
	return 0
}

// sweep forgets who has paid, now and then.
func (r *rates) sweep(now time.Time) {
	span := max(time.Second, time.Duration(r.rate.Burst)*r.rate.Every)
	if now.Sub(r.swept) < span {
		return
	}
	r.swept = now
	for who, paid := range r.until {
		if !paid.After(now) {
			delete(r.until, who)
		}
	}
}
