package serve_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/serve"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// part is the steward's part over the trial in examples/pbc.
const part = `
data:
  path: %s
  behavior: {source: design, kind: constant_by_step, probs: [[0.5, 0.5], 1], note: arms drawn by lot}
problem:
  persons: %d
  gamma: 1
  reward: {min: 0, max: 1}
  horizon: 3
  return: {min: 0, max: 3}
privacy: {unit: person, adjacency: replace_one}
contract: {methods: [dp-is, dp-wis]}
ledger: {path: budget.db, dataset: pbc}
`

const configuration = `
listen: 127.0.0.1:0
calls_per_second: 100000
store: curator.db
files: policies
tokens: tokens
datasets:
  pbc:
    title: the trial
    config: pbc.yaml
    budget: {epsilon: 3, delta: 1e-5}
    people: {stella: steward, ann: analyst, amy: analyst, arthur: auditor}
    largest_epsilon: 1
    %s
`

const trial = "../examples/pbc/trajectories.csv"

// wish is a question about the trial.
func wish(epsilon float64) string {
	return fmt.Sprintf("target: {kind: constant, action: 1}\nmethod: {name: dp-wis}\nprivacy: {epsilon: %g, delta: 1e-5}\n", epsilon)
}

// house is a service with the directory that it lives in.
type house struct {
	t   testing.TB
	dir string
	mu  sync.Mutex // of url, where a process is started again
	url string
	// tokens by person.
	tokens map[string]string
	// operator reads the metrics.
	operator *http.Client
	// prepare changes the service before it runs; nil for nothing.
	prepare func(*serve.Service)
	stop    func() error
}

// furnish writes the files of a service about the trial.
func furnish(t testing.TB, rules string) *house {
	t.Helper()
	data, err := filepath.Abs(trial)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, dir: t.TempDir(), tokens: map[string]string{}, operator: http.DefaultClient}
	h.write("pbc.yaml", fmt.Sprintf(part, data, 312))
	h.write("serve.yaml", fmt.Sprintf(configuration, rules))
	return h
}

func (h *house) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) config() serve.Config {
	h.t.Helper()
	c, err := serve.Load(filepath.Join(h.dir, "serve.yaml"))
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// open starts the service, and makes a token for each person at the first time.
func (h *house) open() *house {
	h.t.Helper()
	c := h.config()
	for _, person := range []string{"stella", "ann", "amy", "arthur"} {
		if h.tokens[person] == "" {
			token, err := c.CreateToken(person, "test", time.Hour)
			if err != nil {
				h.t.Fatal(err)
			}
			h.tokens[person] = token
		}
	}
	s, err := serve.Open(h.t.Context(), c)
	if err != nil {
		h.t.Fatal(err)
	}
	if h.prepare != nil {
		h.prepare(s)
	}
	address, err := s.Listen(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	h.at("http://" + address.String())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stopped := false
	h.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return errors.Join(<-ended, s.Close())
	}
	h.t.Cleanup(func() {
		if err := h.stop(); err != nil {
			h.t.Error(err)
		}
	})
	return h
}

// at is where the service is.
func (h *house) at(url string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.url = url
}

func opened(t testing.TB, rules string) *house { return furnish(t, rules).open() }

// bearer presents a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func (h *house) client(person string) curatorv1.CuratorServiceClient {
	return curatorv1.NewCuratorServiceClient(&http.Client{Transport: bearer(h.tokens[person])}, h.url)
}

func (h *house) steward() curatorv1.StewardServiceClient {
	return curatorv1.NewStewardServiceClient(&http.Client{Transport: bearer(h.tokens["stella"])}, h.url)
}

// ask hands in a question and returns its id.
func (h *house) ask(person, key, question string) string {
	h.t.Helper()
	r, err := h.client(person).Ask(h.t.Context(), &curatorv1.AskRequest{Dataset: "pbc", Question: question, Purpose: "a test", Key: key})
	if err != nil {
		h.t.Fatal(err)
	}
	return r.GetAsk().GetId()
}

// end watches an ask until it has ended.
func (h *house) end(person, id string) *curatorv1.AskState {
	h.t.Helper()
	for {
		stream, err := h.client(person).WatchAsk(h.t.Context(), &curatorv1.WatchAskRequest{Id: id})
		if err != nil {
			h.t.Fatal(err)
		}
		var ended *curatorv1.AskState
		for ended == nil && stream.Receive() {
			if a := stream.Msg().GetAsk(); a.GetEnded() != nil {
				ended = a
			}
		}
		if err := errors.Join(stream.Err(), stream.Close()); err != nil { // or its connection stays open
			h.t.Fatal(err)
		}
		if ended != nil {
			return ended
		}
	}
}

// code is the code of an error of a call; 0 without one.
func code(err error) connect.Code {
	if err == nil {
		return 0
	}
	return connect.CodeOf(err)
}

const oneKey = "0123456789abcdef"

// What a person in a hurry does: plan, ask, watch, have the release, and hold it against
// its entry.
func TestAnAskIsAnswered(t *testing.T) {
	h := opened(t, "")
	c := h.client("ann")
	plan, err := c.Plan(t.Context(), &curatorv1.PlanRequest{Dataset: "pbc", Question: wish(0.5)})
	if err != nil {
		t.Fatal(err)
	}
	if !plan.GetFits() || plan.GetEpsilon() > 0.5 || plan.GetHalfWidth() <= 0 || plan.GetNeedsApproval() {
		t.Errorf("plan %v", plan)
	}
	id := h.ask("ann", oneKey, wish(0.5))
	if a := h.end("ann", id); a.GetState() != curatorv1.State_STATE_RELEASED {
		t.Fatalf("ended as %v", a)
	}
	r, err := c.GetRelease(t.Context(), &curatorv1.GetReleaseRequest{Id: id})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := discreet.Verify(r.GetRelease(), nil); err != nil {
		t.Error(err)
	}
	v, err := c.VerifyRelease(t.Context(), &curatorv1.VerifyReleaseRequest{Id: id})
	if err != nil || !v.GetHolds() {
		t.Errorf("%v, %v", v, err)
	}
	b, err := c.GetBudget(t.Context(), &curatorv1.GetBudgetRequest{Dataset: "pbc"})
	if err != nil || b.GetSpent().GetEpsilon() <= 0 || b.GetBudget().GetEpsilon() != 3 {
		t.Errorf("budget %v, %v", b, err)
	}
	if strings.Contains(string(r.GetRelease()), h.dir) {
		t.Error("the release tells where the data are")
	}
	// Asked again under its key, it is the same ask, and nothing more is spent.
	if again := h.ask("ann", oneKey, wish(0.5)); again != id {
		t.Errorf("asked again it is %s; want %s", again, id)
	}
	if _, err := c.Ask(t.Context(), &curatorv1.AskRequest{Dataset: "pbc", Question: wish(0.4), Purpose: "a test", Key: oneKey}); code(err) != connect.CodeInvalidArgument {
		t.Errorf("another question under the key: %v", err)
	}
}
