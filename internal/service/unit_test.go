package service_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/internal/service"
)

// TestARateHoldsInEveryWindow: of any sequence of requests, those that are allowed
// number at most burst + window/every in every window of time, and whoever was told to
// wait is allowed after that wait.
func TestARateHoldsInEveryWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := service.Rate{Every: time.Duration(rapid.IntRange(1, 1000).Draw(t, "every")) * time.Millisecond, Burst: rapid.IntRange(1, 5).Draw(t, "burst")}
		allow := service.Allow(r)
		at := time.Unix(1e9, 0)
		var allowed []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "requests") {
			at = at.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "gap")) * time.Millisecond / 2)
			if wait := allow("x", at); wait > 0 {
				if at = at.Add(wait); allow("x", at) != 0 {
					t.Fatalf("refused after a wait of %v", wait)
				}
			}
			allowed = append(allowed, at)
		}
		for i, from := range allowed {
			for j, to := range allowed[i:] {
				if most := r.Burst + int(to.Sub(from)/r.Every); j+1 > most {
					t.Fatalf("%d allowed within %v; want at most %d", j+1, to.Sub(from), most)
				}
			}
		}
		if allow("y", at) != 0 {
			t.Fatal("one who never asked pays for another")
		}
	})
}

// TestALogSaysNothingThatIsNotOnItsList whatever it is given.
func TestALogSaysNothingThatIsNotOnItsList(t *testing.T) {
	var b strings.Builder
	l := service.NewLog(&b, slog.LevelInfo, map[string]service.Kind{"round": service.Number, "state": service.Word, "error": service.Text})
	secret := "192.0.2.77"
	l.With("peer", secret).WithGroup(secret).Info("m",
		"device", secret, "round", secret, "state", "From "+secret, "state", strings.Repeat("a", 65), "round", []byte(secret),
		slog.Group("round", "x", secret), "state", fmt.Errorf("of %s", secret), "state", slog.AnyValue(struct{ X string }{secret}))
	if strings.Contains(b.String(), secret) {
		t.Errorf("the log tells: %s", b.String())
	}
	if n := strings.Count(b.String(), "withheld"); n < 9 {
		t.Errorf("%d slips show; want 9: %s", n, b.String())
	}
	b.Reset()
	l.Info("m", "round", 7, "state", "applied", "error", errors.New("Disk full"))
	if want := `"msg":"m","round":7,"state":"applied","error":"Disk full"`; !strings.Contains(b.String(), want) {
		t.Errorf("the log says %s; want %s", b.String(), want)
	}
}

func TestALabelHasTheValuesThatItWasMadeWith(t *testing.T) {
	m := service.NewMetrics("test").WithProcess()
	m.Counters("uploads_total", "Uploads.", "verdict", "accepted", "spent")["spent"].Add(3)
	m.GaugeFunc("age_seconds", "Age.", func() float64 { return 2.5 })
	m.Histogram("commit_seconds", "Commits.", []float64{.1, 1}).Observe(.5)
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text, _ := io.ReadAll(w.Result().Body)
	for _, want := range []string{
		`test_uploads_total{verdict="accepted"} 0`, `test_uploads_total{verdict="spent"} 3`, "test_age_seconds 2.5",
		`test_commit_seconds_bucket{le="0.1"} 0`, `test_commit_seconds_bucket{le="1"} 1`, "go_goroutines",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}
