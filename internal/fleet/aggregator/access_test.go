package aggregator_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"
	_ "modernc.org/sqlite" // the driver of the store

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/service"
)

// access says who may call each procedure of the protocol.
var access = map[string]string{
	"EnrolService/Enrol": "anybody", "EnrolService/Renew": "device", "RunService/GetRun": "device operator", "RunService/GetRound": "device operator", "ReportService/Upload": "device", "ReportService/Draw": "device", "OperatorService/GetTranscript": "operator",
	"OperatorService/CreateRun": "operator", "OperatorService/OpenRound": "operator", "OperatorService/CloseRound": "operator", "OperatorService/Revoke": "operator",
	"OperatorService/RotateKey": "operator", "OperatorService/Status": "operator", "OperatorService/EndRun": "operator", "OperatorService/CreateCodes": "operator", "OperatorService/GetPolicy": "operator",
}

// TestWhoMayCallWhat of all procedures that the protocol has, and all routes that the
// server has: one that is not listed fails.
func TestWhoMayCallWhat(t *testing.T) {
	w := newWorld(t)
	cfg := w.config()
	a, err := aggregator.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	routes := a.Routes()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"GET /healthz": "anybody", "GET /readyz": "anybody", "GET /metrics": "operator", "GET /{$}": "operator", "GET /style.css": "operator"}
	services := fleetv1.File_discreet_fleet_v1_fleet_proto.Services()
	for i := range services.Len() {
		methods := services.Get(i).Methods()
		for j := range methods.Len() {
			m := methods.Get(j)
			short := string(m.Parent().Name()) + "/" + string(m.Name())
			who, listed := access[short]
			if !listed {
				t.Errorf("%s is not listed", short)
			}
			want["POST /"+string(m.Parent().(protoreflect.ServiceDescriptor).FullName())+"/"+string(m.Name())] = who
		}
	}
	for pattern, r := range routes {
		who := strings.Join(r.Roles, " ")
		if r.Anonymous {
			who = "anybody"
		}
		if who != want[pattern] {
			t.Errorf("%s is for %q; want %q", pattern, who, want[pattern])
		}
		delete(want, pattern)
	}
	if len(want) > 0 {
		t.Errorf("no routes for %v", want)
	}
	w.serve(t, w.config())
	d := w.enrol(t, 1)[0]
	for who, c := range map[string]*http.Client{"nobody": w.client(t, nil), "device": w.client(t, &d.pair), "operator": w.asOperator(t)} {
		for pattern, r := range routes {
			method, path, _ := strings.Cut(pattern, " ")
			q, err := http.NewRequestWithContext(t.Context(), method, w.url+strings.TrimSuffix(path, "{$}"), strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			q.Header.Set("Content-Type", "application/json")
			answer, err := c.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			served := r.Anonymous || slices.Contains(r.Roles, who)
			switch code := answer.StatusCode; {
			case !served && who == "nobody" && code != http.StatusUnauthorized, !served && who != "nobody" && code != http.StatusForbidden,
				served && code >= 500, served && (code == http.StatusUnauthorized || code == http.StatusForbidden && path != fleetv1.EnrolServiceEnrolProcedure):
				t.Errorf("%s, %s: %d", who, pattern, code)
			}
		}
	}
}

// TestRateOfADevice: the server holds each to its own.
func TestRateOfADevice(t *testing.T) {
	_, _, ds := oneOpenRound(t, func(c *aggregator.Config) { c.PerDevice = service.Rate{Every: time.Hour, Burst: 2} }, 2)
	for i, want := range []connect.Code{0, 0, connect.CodeUnavailable} {
		_, err := ds[0].askRun(t.Context())
		if (err == nil) != (want == 0) || err != nil && connect.CodeOf(err) != want {
			t.Errorf("request %d: %v", i, err)
		}
	}
	if _, err := ds[1].askRun(t.Context()); err != nil {
		t.Errorf("another device pays for it: %v", err)
	}
}
