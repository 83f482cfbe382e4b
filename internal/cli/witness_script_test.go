package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// keepWitness puts the URL of a server that keeps lines, as docs/ledger.md asks
// for, into a variable: witness URL. While the file "outage" is there, it fails.
func keepWitness(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: witness VARIABLE")
	}
	var mu sync.Mutex
	var lines []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, working := os.Stat(ts.MkAbs("outage"))
		switch line, err := io.ReadAll(r.Body); {
		case err != nil || working == nil:
			w.WriteHeader(http.StatusInternalServerError)
		case r.Method == http.MethodPost:
			lines = append(lines, line...)
		case lines == nil:
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Write(lines)
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL+"/witness/trial")
}
