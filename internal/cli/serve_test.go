package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/serve"
)

// A steward starts the example's service on a free port, makes a token, and an analyst
// plans, asks, and has an answer that the report shows.
func TestFromNothingToARelease(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"serve.yaml", "pbc.yaml", "question.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../examples/serve", name))
		if err != nil {
			t.Fatal(err)
		}
		trial, err := filepath.Abs("../../examples/pbc")
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.NewReplacer("127.0.0.1:8420", "127.0.0.1:0", "../pbc", trial).Replace(string(text))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, question := filepath.Join(dir, "serve.yaml"), filepath.Join(dir, "question.yaml")
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(wantCode int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := Main(args, nil, &out, &errs); code != wantCode {
			t.Fatalf("discreet %s: exit code %d; want %d: %s", strings.Join(args, " "), code, wantCode, &errs)
		}
		return out.String() + errs.String()
	}
	t.Setenv(tokenVariable, strings.TrimSpace(run(0, "serve", "token", "create", config, "ann")))
	run(2, "serve", "token", "create", config, "nobody")

	c, err := serve.Load(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	told, tell := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- runServe(ctx, tell, c, config) }()
	line, err := bufio.NewReader(told).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	server := "--server=" + strings.TrimSpace(strings.TrimPrefix(line, "listening "))

	if got := run(0, "remote", "datasets", server); !strings.Contains(got, "pbc") || !strings.Contains(got, "analyst") {
		t.Errorf("datasets: %s", got)
	}
	if got := run(0, "remote", "plan", server, "pbc", question); !strings.Contains(got, "it fits what is left") || !strings.Contains(got, ", without missing mass") {
		t.Errorf("plan: %s", got)
	}
	out := filepath.Join(dir, "release.json")
	if got := run(0, "remote", "ask", server, "pbc", question, "--purpose", "a first look", "-o", out); !strings.Contains(got, "released") {
		t.Errorf("ask: %s", got)
	}
	run(0, "verify", out)
	run(0, "report", out, "-o", filepath.Join(dir, "release.html"))
	if got := run(0, "remote", "budget", server, "pbc"); !strings.Contains(got, "of 3, 1e-05") {
		t.Errorf("budget: %s", got)
	}
	run(2, "remote", "plan", server, "other", question)
	// A larger ask waits: the steward finds it, approves it, and the analyst fetches it later.
	text, err := os.ReadFile(question)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(question, bytes.Replace(text, []byte("epsilon: 0.5"), []byte("epsilon: 0.8"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(0, "remote", "ask", server, "pbc", question, "--purpose", "a second look"); !strings.Contains(got, "waiting") {
		t.Errorf("ask above .5: %s", got)
	}
	ann := os.Getenv(tokenVariable)
	list := run(0, "remote", "asks", server, "pbc")
	first, _, _ := strings.Cut(list, "\n")
	id, _, _ := strings.Cut(first, " ")
	if got := run(2, "remote", "release", server, id); !strings.Contains(got, "it is waiting") {
		t.Errorf("a release before its time: %s", got)
	}
	stella := strings.TrimSpace(run(0, "serve", "token", "create", config, "stella"))
	t.Setenv(tokenVariable, stella)
	list = run(0, "remote", "asks", server, "pbc")
	if first, _, _ = strings.Cut(list, "\n"); !strings.Contains(first, "waiting") || !strings.Contains(first, "ann") || !strings.Contains(first, "epsilon 0.8") || strings.Count(list, "  ann  ") != 2 {
		t.Errorf("asks: %s", list)
	}
	for _, out := range []string{run(0, "remote", "decide", server, id), run(0, "remote", "asks", server, "pbc")} {
		if !strings.Contains(out, "method: dp-wis") || !strings.Contains(out, "privacy: epsilon ") {
			t.Errorf("the question in words: %s", out)
		}
	}
	run(0, "remote", "decide", server, id, "--approve")
	if got := run(0, "remote", "share", server, "pbc", "ann", "--epsilon", "2.5", "--delta", "8e-6"); !strings.Contains(got, "epsilon 2.5, delta 8e-06 of the budget for ann") {
		t.Errorf("share: %s", got)
	}
	t.Setenv(tokenVariable, ann)
	if got := run(0, "remote", "watch", server, id); !strings.Contains(got, "released") {
		t.Errorf("watch: %s", got)
	}
	second := filepath.Join(dir, "second.json")
	run(0, "remote", "release", server, id, "-o", second)
	run(0, "verify", second)
	// Of a ledger that is lost nobody says that no check failed.
	t.Setenv(tokenVariable, stella)
	if got := run(0, "remote", "notices", server, "pbc"); !strings.HasPrefix(got, "checks    0 failed, of at most 3 ") {
		t.Errorf("notices: %s", got)
	}
	budget := filepath.Join(dir, "data", "budget.db")
	for _, move := range [][2]string{{budget, budget + ".away"}, {budget + ".away", budget}} {
		if err := os.Rename(move[0], move[1]); err != nil {
			t.Fatal(err)
		}
		lost := move[0] == budget
		if got := run(0, "remote", "notices", server, "pbc"); strings.HasPrefix(got, "checks    an unknown number") != lost || strings.Contains(got, "nothing is charged") != lost {
			t.Errorf("lost %v: %s", lost, got)
		}
	}
	t.Setenv(tokenVariable, ann)
	if got := run(2, "remote", "nonsense", server); !strings.Contains(got, "unknown command") {
		t.Errorf("an unknown command: %s", got)
	}
	t.Setenv(tokenVariable, ann+"x")
	if got := run(2, "remote", "datasets", server); !strings.Contains(got, "knows nobody by this token or certificate") {
		t.Errorf("an unknown token: %s", got)
	}
	t.Setenv(tokenVariable, ann)
	run(2, "remote", "plan", "--server=http://example.org", "pbc", question)
	if got := run(0, "serve", "token", "list", config); !strings.Contains(got, "ann") {
		t.Errorf("tokens: %s", got)
	}
	run(0, "serve", "token", "revoke", config, "ann")
	for until := time.Now().Add(10 * time.Second); ; {
		var out, errs bytes.Buffer
		if Main([]string{"remote", "datasets", server}, nil, &out, &errs) == 2 {
			break
		}
		if time.Now().After(until) {
			t.Fatal("a revoked token is good for more than ten seconds")
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(fmt.Errorf("the service ended with %w", err))
	}
}
