package serve

import (
	"cmp"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// largestCall is the size of a request, a policy's file included.
const largestCall = 4 << 20

// callRate is how often a person may call.
func (c Config) callRate() service.Rate {
	n := cmp.Or(c.CallsPerSecond, defaultCalls)
	return service.Rate{Every: time.Second / time.Duration(n), Burst: 4 * n}
}

// routes mounts the calls. Each of the two services is one handler of its prefix.
func (s *Service) routes() {
	options := []connect.HandlerOption{connect.WithReadMaxBytes(largestCall), connect.WithRecover(s.recovered), boundedGzip(), refusesUnknown()}
	access := service.Access{Roles: []string{personRole}, Body: largestCall + 64<<10, Rate: s.config.callRate()}
	for _, mount := range []func() (string, http.Handler){
		func() (string, http.Handler) {
			return curatorv1.NewCuratorServiceHandler(curator{s}, options...)
		},
		func() (string, http.Handler) {
			return curatorv1.NewStewardServiceHandler(steward{s}, options...)
		},
	} {
		prefix, handler := mount()
		s.server.Handle(prefix, access, addressed(handler))
	}
	console{s}.routes()
}
