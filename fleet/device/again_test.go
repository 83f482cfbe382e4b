package device_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/service"
)

// busy is a server that turns some enrolments away before it takes one.
type busy struct {
	*server
	refusals []connect.Code
	asked    int
}

func (b *busy) Enrol(ctx context.Context, r *fleetv1.EnrolRequest) (*fleetv1.EnrolResponse, error) {
	if b.asked++; b.asked <= len(b.refusals) {
		return nil, connect.NewError(b.refusals[b.asked-1], errors.New("come later"))
	}
	return b.server.Enrol(ctx, r)
}

// Enrolment is asked for again where the server is away or has too much to do, and not where
// it refuses.
func TestEnrolmentIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		refusals []connect.Code
		asked    int
	}{
		"busy":     {[]connect.Code{connect.CodeResourceExhausted, connect.CodeUnavailable, connect.CodeDeadlineExceeded}, 4},
		"no code":  {[]connect.Code{connect.CodePermissionDenied}, 1},
		"bad form": {[]connect.Code{connect.CodeUnavailable, connect.CodeInvalidArgument}, 2},
	} {
		s := newServer(t, signs, 4, nil)
		b := &busy{server: s, refusals: c.refusals}
		cfg := s.config(t.TempDir())
		cfg.BackOff, cfg.MostBackOff = time.Microsecond, time.Microsecond
		a, err := device.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		err = a.Enrol(t.Context(), b, "right")
		if b.asked != c.asked || (err == nil) != (name == "busy") {
			t.Errorf("%s: asked %d times, %v; want %d", name, b.asked, err, c.asked)
		}
		tolerate(t, a.Close())
	}
}

// revoked is a server that has revoked the device, as the gate before it says.
type revoked struct{ *server }

func (revoked) GetRun(context.Context, *fleetv1.GetRunRequest) (*fleetv1.GetRunResponse, error) {
	err := connect.NewError(connect.CodePermissionDenied, errors.New("Forbidden"))
	err.Meta().Set(service.RefusedHeader, service.RefusedRevoked)
	return nil, err
}

// A device that was revoked says so and stops, with the code of a refusal.
func TestARevokedDeviceStops(t *testing.T) {
	s := newServer(t, signs, 4, nil)
	a := enrolled(t, s, s.config(t.TempDir()))
	services := s.services()
	services.Runs = revoked{s}
	err := a.Run(t.Context(), services, learner(ones))
	if fault.Exit(err) != fault.ExitRefused || !strings.Contains(err.Error(), "revoked this device") {
		t.Errorf("%v; want a refusal that says so", err)
	}
}
