package serve_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// Tokens that cannot be looked up are no wrong tokens: their holders are to come again, and not to
// ask for other ones.
func TestTokensThatCannotBeLookedUp(t *testing.T) {
	h := opened(t, "")
	tokens := h.read("tokens")
	budget := func() error {
		_, err := h.client("ann").GetBudget(t.Context(), &curatorv1.GetBudgetRequest{Dataset: "pbc"})
		return err
	}
	if err := budget(); err != nil {
		t.Fatal(err)
	}
	h.write("tokens", "{")
	until := func(want connect.Code) {
		t.Helper()
		for {
			switch err := budget(); {
			case err == nil && want == 0, err != nil && code(err) == want:
				return
			case err != nil && code(err) != connect.CodeUnavailable:
				t.Fatal(err)
			}
		}
	}
	until(connect.CodeUnavailable)
	if status, text := h.browser().post("/signin", map[string][]string{"token": {h.tokens["ann"]}}, nil); status != http.StatusServiceUnavailable || strings.Contains(text, "Ask your steward") {
		t.Errorf("signing in: %d %s", status, text)
	}
	h.write("tokens", tokens)
	until(0)
	h.tokens["ann"] += "x"
	if err := budget(); code(err) != connect.CodeUnauthenticated {
		t.Errorf("a wrong token: %v", err)
	}
}

// A budget that is changed in the configuration alone changes nothing, and the log says so.
func TestABudgetOfTheConfigurationAlone(t *testing.T) {
	h := opened(t, "")
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	said := func() string {
		t.Helper()
		log, err := os.CreateTemp(t.TempDir(), "log")
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		before := os.Stderr
		os.Stderr = log
		defer func() { os.Stderr = before }()
		h.open()
		if err := h.stop(); err != nil {
			t.Fatal(err)
		}
		if _, err := log.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(log)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const words = "the ledger's budget is in force"
	if text := said(); strings.Contains(text, words) {
		t.Errorf("the same budget: %s", text)
	}
	h.write("serve.yaml", strings.Replace(h.read("serve.yaml"), "budget: {epsilon: 3", "budget: {epsilon: 30", 1))
	if text := said(); !strings.Contains(text, words) || !strings.Contains(text, `"dataset":"pbc","epsilon":3,`) {
		t.Errorf("another budget: %s", text)
	}
}
