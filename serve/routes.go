package serve

import (
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// largestCall is the size of a request, a policy's file included.
const largestCall = 4 << 20

// plans a minute and calls a second of one person, in all.
var callRate = service.Rate{Every: 20 * time.Millisecond, Burst: 200}

// routes mounts the calls. Each of the two services is one handler of its prefix.
func (s *Service) routes() {
	options := []connect.HandlerOption{connect.WithReadMaxBytes(largestCall), connect.WithRecover(s.recovered)}
	access := service.Access{Roles: []string{personRole}, Body: largestCall + 64<<10, Rate: callRate}
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
