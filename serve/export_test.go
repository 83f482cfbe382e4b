package serve

import (
	"net/http"
	"time"

	"github.com/discreet-rl/discreet/internal/service"
)

// Hold changes how long a worker that is not heard of keeps its ask; it is for tests, before Run.
func (s *Service) Hold(d time.Duration) { s.hold = d }

// Hurry has receivers of notices told, and tested, without rest between, records compared all the time,
// and full minutes of no length; it is for tests, before Run.
func (s *Service) Hurry() {
	s.comparing = 50 * time.Millisecond
	s.backlog.every = 50 * time.Millisecond
	s.pace = pace{rest: time.Millisecond, wait: 50 * time.Millisecond, test: 50 * time.Millisecond, again: 50 * time.Millisecond}
}

// Panicking adds a page on which requests panic; it is for tests, before Run.
func (s *Service) Panicking() {
	s.server.Handle("GET /panic", service.Access{Anonymous: true}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a test") }))
}

// Untested has receivers of notices tested once alone; it is for tests, before Run.
func (s *Service) Untested() { s.pace.test = time.Hour }
