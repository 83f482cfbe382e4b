package alerttest

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// Watch is a monitor that scrapes by itself.
type Watch struct {
	t testing.TB

	mu     sync.Mutex
	steps  int
	firing []string
	began  map[string]int // how often each alert began to fire
}

// Watch scrapes the targets of each time until the test ends, as it were step after the last time,
// and in truth pause.
func (m *Monitor) Watch(step, pause time.Duration, targets func() []Target) *Watch {
	w := &Watch{t: m.t, began: map[string]int{}}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			alerts, err := m.Step(step, targets()...)
			if err != nil {
				m.t.Errorf("the monitor: %v", err)
				return
			}
			w.note(alerts)
		}
	}()
	m.t.Cleanup(func() {
		close(stop)
		<-ended
	})
	return w
}

func (w *Watch) note(alerts []Alert) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.firing
	w.steps, w.firing = w.steps+1, nil
	for _, a := range alerts {
		if !slices.Contains(w.firing, a.Alert) {
			w.firing = append(w.firing, a.Alert)
		}
	}
	for _, name := range w.firing {
		if !slices.Contains(was, name) {
			w.began[name]++
		}
	}
}

// Firing are the alerts that fire.
func (w *Watch) Firing() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.firing)
}

// Began is how many scrapes there were, and how often each alert began to fire.
func (w *Watch) Began() (scrapes int, began map[string]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	began = map[string]int{}
	for name, n := range w.began {
		began[name] = n
	}
	return w.steps, began
}

// Until waits until the alerts that fire are as they should be, and returns after how many scrapes; it
// fails after limit.
func (w *Watch) Until(what string, limit time.Duration, holds func(firing []string) bool) (scrapes int) {
	w.t.Helper()
	begun, _ := w.Began()
	for end := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		now, _ := w.Began()
		if now > begun && holds(w.Firing()) {
			return now - begun
		}
		if time.Now().After(end) {
			w.t.Fatalf("%s: after %d scrapes %v fire", what, now-begun, w.Firing())
		}
	}
}
