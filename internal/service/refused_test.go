package service_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service"
)

// Whoever has to know of a refusal knows before it is answered, with the reason and who it was;
// where they cannot be told the answer is 503. What is let in, and what may be asked again, is
// told to nobody.
func TestRefusalsAreToldBeforeTheyAreAnswered(t *testing.T) {
	var told []string
	var fails error
	s, err := service.New(service.Config{
		Listen: "127.0.0.1:0", Metrics: service.NewMetrics("test"), Log: slog.New(slog.DiscardHandler), Limits: service.Limits{AddressRate: service.Rate{Every: time.Hour, Burst: 12}},
		Identify: func(r *http.Request) (service.Identity, error) {
			switch name := r.Header.Get("Who"); name {
			case "":
				return service.Identity{Role: "ghost"}, service.ErrAnonymous
			case "away":
				return service.Identity{}, service.ErrAway
			default:
				return service.Identity{Role: r.Header.Get("Role"), Name: name}, nil
			}
		},
		Admit: func(id service.Identity) error {
			if id.Name == "gone" {
				return service.ErrRevoked
			}
			return nil
		},
		Refused: func(_ *http.Request, id service.Identity, reason string) error {
			told = append(told, fmt.Sprintf("%s %s %s", reason, id.Role, id.Name))
			return fails
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	s.Handle("GET /a", service.Access{Roles: []string{"one"}}, hello)
	s.Handle("GET /seldom", service.Access{Roles: []string{"one"}, Rate: service.Rate{Every: time.Hour, Burst: 1}}, hello)
	url, _ := run(t, s)
	ask := func(path, who, role string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(url, "https", "http", 1)+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Who", who)
		r.Header.Set("Role", role)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode
	}
	steps := []struct {
		path, who, role string
		want            int
		tells           string
	}{
		{"/a", "ann", "one", 200, ""},
		{"/a", "", "", 401, "anonymous  "},
		{"/a", "away", "one", 503, ""},
		{"/a", "ann", "two", 403, "role two ann"},
		{"/a", "gone", "one", 403, "revoked one gone"},
		{"/seldom", "amy", "one", 200, ""},
		{"/seldom", "amy", "one", 429, "rate one amy"},
		{"/a", "", "", 503, "anonymous  "}, // from here on nobody can be told
		{"/a", "ann", "two", 503, "role two ann"},
		{"/a", "gone", "one", 503, "revoked one gone"},
		{"/seldom", "amy", "one", 503, "rate one amy"},
		{"/a", "ann", "one", 200, ""},
		{"/a", "ann", "one", 503, "address  "}, // one too many of this address
	}
	for i, step := range steps {
		told = nil
		if i == 7 {
			fails = errors.New("no")
		}
		if status := ask(step.path, step.who, step.role); status != step.want {
			t.Errorf("step %d: status %d; want %d", i, status, step.want)
		}
		if got := strings.Join(told, ", "); got != step.tells {
			t.Errorf("step %d: told %q; want %q", i, got, step.tells)
		}
	}
	fails = nil
	if status := ask("/a", "ann", "one"); status != http.StatusTooManyRequests {
		t.Errorf("one too many: status %d", status)
	}
}
