package aggregator_test

import (
	"errors"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	_ "modernc.org/sqlite" // the driver of the store

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/train"
)

// TestSettingsThatAreRefused.
func TestSettingsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	for name, change := range map[string]func(*aggregator.Config){
		"no store": func(c *aggregator.Config) { c.Store = "" }, "no keys": func(c *aggregator.Config) { c.Keys = nil },
		"negative queue": func(c *aggregator.Config) { c.Queue = -1 }, "negative grace": func(c *aggregator.Config) { c.Grace = -1 },
		"no log": func(c *aggregator.Config) { c.Log = nil }, "large requests": func(c *aggregator.Config) { c.MostRequest = 1 << 30 },
		"no port":                func(c *aggregator.Config) { c.Listen = "127.0.0.1" },
		"a queue for everything": func(c *aggregator.Config) { c.Queue = 1 << 30 }, "a batch of everything": func(c *aggregator.Config) { c.Batch = 1 << 20 },
		"certificates of a minute": func(c *aggregator.Config) { c.Valid = time.Minute }, "certificates for ever": func(c *aggregator.Config) { c.Valid = 1e6 * time.Hour },
		"grace of a day": func(c *aggregator.Config) { c.Grace = 24 * time.Hour }, "a request a week": func(c *aggregator.Config) { c.PerDevice.Every = 168 * time.Hour },
		"one connection": func(c *aggregator.Config) { c.Limits.Connections = 1 }, "none of an address": func(c *aggregator.Config) { c.Limits.AddressConnections = -1 },
	} {
		c := w.config()
		change(&c)
		if err := c.Validate(); !errors.Is(err, aggregator.ErrConfig) && name != "no log" && name != "no port" {
			t.Errorf("%s: %v", name, err)
		}
		if a, err := aggregator.New(t.Context(), c); err == nil {
			t.Errorf("%s: served", name)
			_ = a.Close()
		}
	}
	w.serve(t, w.config())
	o := w.operator(t)
	good := w.spec(3, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1})
	elsewhere := newWorld(t)
	for name, change := range map[string]func(*fleetv1.RunSpec, *fleetv1.CreateRunRequest){
		"another root": func(s *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) { r.Spec, _ = fleet.SignRun(elsewhere.root, s) },
		"foreign keys": func(s *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			s.Keys = elsewhere.spec(3, train.Randomizer{}).Keys
			r.Spec, _ = fleet.SignRun(w.root, s)
		},
		"large reports": func(s *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			s.ReportBytes = 4096
			r.Spec, _ = fleet.SignRun(w.root, s)
		},
		"two weights":   func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) { r.Weights = make([]byte, 16) },
		"half a weight": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) { r.Weights = make([]byte, 20) },
		"no optimizer":  func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) { r.OptimizerJson = nil },
		"unknown key": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			r.OptimizerJson = []byte(`{"kind":"sgd","step":1,"stop":2}`)
		},
		"two values": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) { r.InfluenceJson = []byte(`{}{}`) },
		"influence":  func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) { r.InfluenceJson = []byte(`{"norm":-1}`) },
		"no rounds":  func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) { r.ScheduleJson = []byte(`{"sample_rate":1}`) },
		"unannounced": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			r.ScheduleJson = []byte(`{"rounds":4,"train_seconds":1,"upload_seconds":1,"sample_rate":1,"min_reports":1,"max_reports":1,"evaluate_every":2}`)
		},
		"only evaluates": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			r.Evaluations = 9
			r.ScheduleJson = []byte(`{"rounds":4,"train_seconds":1,"upload_seconds":1,"sample_rate":1,"min_reports":1,"max_reports":1,"evaluate_every":1}`)
		},
		"min beyond max": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			r.ScheduleJson = []byte(`{"rounds":4,"train_seconds":1,"upload_seconds":1,"sample_rate":1,"min_reports":2,"max_reports":1}`)
		},
		"sample rate 0": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			r.ScheduleJson = []byte(`{"rounds":4,"train_seconds":1,"upload_seconds":1,"min_reports":1,"max_reports":1}`)
		},
		"endless windows": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			r.ScheduleJson = []byte(`{"rounds":4,"train_seconds":1e9,"upload_seconds":1,"sample_rate":1,"min_reports":1,"max_reports":1}`)
		},
	} {
		s := proto.CloneOf(good)
		signed, err := fleet.SignRun(w.root, s)
		if err != nil {
			t.Fatal(err)
		}
		r := &fleetv1.CreateRunRequest{Spec: signed, Weights: make([]byte, 24), OptimizerJson: optimizer}
		change(s, r)
		if _, err := o.CreateRun(t.Context(), r); connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.create(t, good, "", 0)
	for name, r := range map[string]*fleetv1.OpenRoundRequest{
		"no kind": {SampleRate: 1, UploadFor: 1, MinReports: 1, MaxReports: 1}, "no time": {Kind: 1, SampleRate: 1, MinReports: 1, MaxReports: 1},
		"no reports": {Kind: 1, SampleRate: 1, UploadFor: 1}, "threshold": {Kind: 1, SampleRate: 1, UploadFor: 1, MinReports: 1, MaxReports: 1, Threshold: 2},
		"rate 2": {Kind: 1, SampleRate: 2, UploadFor: 1, MinReports: 1, MaxReports: 1},
	} {
		if _, err := o.OpenRound(t.Context(), r); connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("round with %s: %v", name, err)
		}
	}
}
