package aggregator_test

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/webpage"
	"github.com/discreet-rl/discreet/internal/webpage/pagetest"
	"github.com/discreet-rl/discreet/train"
)

// watched is a world in which much has happened: round 1 was applied with four reports, 2 was
// abandoned, 3 evaluated with the answers of four devices, 4 is open. One report was a
// duplicate. The page is served on loopback too.
func watched(t *testing.T) (*world, fleetv1.OperatorServiceClient, []*device) {
	t.Helper()
	w := newWorld(t)
	c := w.config()
	c.Page, c.Version = "127.0.0.1:0", "v0-test"
	w.serve(t, c)
	o := w.operator(t)
	spec := w.spec(3, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1})
	spec.Purpose, spec.ReportsPerDevice = pagetest.Hostile, 8
	w.create(t, spec, "", 2)
	ds := w.enrol(t, 4)
	open := func(kind fleetv1.Kind, least uint32, x []float64) {
		t.Helper()
		openRound(t, o, func(r *fleetv1.OpenRoundRequest) { r.Kind, r.MinReports = kind, least })
		run, round, _, err := ds[0].follow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range ds {
			if x == nil {
				break
			}
			body := d.report(t, run, round, x)
			if i > 0 || kind != fleetv1.Kind_KIND_TRAIN {
				continue
			}
			again, err := d.request(run, round, body)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := d.send(t.Context(), again); err != nil || v != fleetv1.Verdict_VERDICT_DUPLICATE {
				t.Fatal(v, err)
			}
		}
	}
	end := func(n uint64) {
		t.Helper()
		if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: n}); err != nil {
			t.Fatal(err)
		}
		w.await(t, o, n)
	}
	open(fleetv1.Kind_KIND_TRAIN, 1, []float64{1, 2, 3})
	end(1)
	open(fleetv1.Kind_KIND_TRAIN, 1, nil)
	end(2)
	open(fleetv1.Kind_KIND_EVALUATE, 1, []float64{1})
	end(3)
	open(fleetv1.Kind_KIND_TRAIN, 1, nil)
	return w, o, ds
}

// TestThePageTellsWhatHappened, in the numbers of status and of the metrics, to an operator
// and to who is on this machine.
func TestThePageTellsWhatHappened(t *testing.T) {
	w, o, ds := watched(t)
	page, err := dump(w.asOperator(t), w.url+"/")
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range pagetest.Faults(page) {
		t.Error(fault)
	}
	status, err := o.Status(t.Context(), &fleetv1.StatusRequest{Rounds: 9})
	if err != nil || len(status.GetRounds()) != 4 {
		t.Fatal(status, err)
	}
	s := status.GetRounds()[1]
	// Each row's cells, in order; 4 rounds of at most 8 reports a device are asked for.
	for name, want := range map[string]string{
		"accepted": `>accepted</td>8<`, "duplicate": `>duplicate</td>1<`, "spent": `>spent</td>0<`,
		"run":        fmt.Sprintf(`<code>%x</code></a></td>%s</td>running</span></td>version 1</td>4</td>8<`, runID, html.EscapeString(pagetest.Hostile)),
		"an open":    `>4</td>train</td>open</span></td>version 1</td>[^<]*</td>not counted yet</td>1<`,
		"evaluation": `>3</td>evaluate</td>applied</span></td>version 1</td>[^<]*</td>4</td>1<`,
		"abandoned":  `>2</td>train</td>abandoned</span></td>version 1</td>[^<]*</td>0</td>1<`,
		"applied":    `>1</td>train</td>applied</span></td>version 0</td>[^<]*</td>4</td>1<`,
		"success":    fmt.Sprintf(`>3</td>version 1</td>4</td>%.3f</td>%.3f</td>%.3f to %.3f<`, s.GetShare(), s.GetStdError(), s.GetLow(), s.GetHigh()),
		"training":   `>train</td>3</td>4</td>1<`, "evaluating": `>evaluate</td>1</td>4</td>1<`,
		"spending": `a device that took part in every round so far has spent epsilon 4 at most; over the whole run one spends 8 at most`,
		"bar":      `<rect width="50" height="6" class="spent"`, "version": `<dd>v0-test</dd>`, "ready": `>ready<`, "rounds": `2 applied, 1 abandoned`,
		"curve": `class="band"`,
	} {
		plain := regexp.MustCompile(`<td[^>]*>|<span[^>]*>|<a [^>]*>`).ReplaceAllString(page, "")
		plain = regexp.MustCompile(`<tr>`).ReplaceAllString(plain, ">")
		// Numbers and words that are quoted stay quoted, but for the patterns of times.
		pattern := strings.ReplaceAll(regexp.QuoteMeta(want), regexp.QuoteMeta(`[^<]*`), `[^<]*`)
		if !regexp.MustCompile(pattern).MatchString(plain) && !strings.Contains(page, want) {
			t.Errorf("%s: no %s in\n%s", name, want, plain)
		}
	}
	// The same page, but for clocks and without the certificate, on loopback.
	local, err := dump(http.DefaultClient, w.page+"/?run="+fmt.Sprintf("%x", runID))
	clocks := regexp.MustCompile(`\d{4}-\d\d-\d\d [\d:]+ UTC`)
	if err != nil || clocks.ReplaceAllString(local, "") != clocks.ReplaceAllString(page, "") {
		t.Errorf("on loopback: %v\n%s", err, local)
	}
	for path, code := range map[string]int{"/?run=" + strings.Repeat("0", 32): 404, "/?run=%22%3E%3Cscript%3E": 404, "/runs": 404, "/style.css": 200, "/healthz": 200, fleetv1.OperatorServiceStatusProcedure: 404} {
		answer, err := http.Get(w.page + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != code {
			t.Errorf("%s on loopback: %d; want %d", path, answer.StatusCode, code)
		}
		if code == 200 && answer.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, answer.Header)
		}
	}
	answer, err := http.Get(w.page)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if got := answer.Header.Get("Content-Security-Policy"); got != webpage.Policy || strings.Contains(got, "unsafe") || !strings.HasPrefix(got, "default-src 'none'") {
		t.Errorf("the page may load %q", got)
	}
	if _, err := dump(w.client(t, &ds[0].pair), w.url+"/"); err == nil {
		t.Error("a device reads the page")
	}
}

// TestThePageOfSeveralRuns is of the newest, or of that which is asked for; and there may be none.
func TestThePageOfSeveralRuns(t *testing.T) {
	w := newWorld(t)
	w.serve(t, w.config())
	page, err := dump(w.asOperator(t), w.url+"/")
	if err != nil || !strings.Contains(page, "None yet") {
		t.Errorf("%v %s", err, page)
	}
	for i := range byte(2) {
		spec := w.spec(3, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1})
		spec.Run, spec.Purpose = append(make([]byte, 15), i), fmt.Sprintf("purpose %d", i)
		w.create(t, spec, "", 0)
	}
	for query, want := range map[string]string{"": "purpose 1", "?run=" + strings.Repeat("0", 32): "purpose 0"} {
		page, err := dump(w.asOperator(t), w.url+"/"+query)
		if err != nil || !strings.Contains(page, "<h2>"+want+"</h2>") || !strings.Contains(page, "purpose 0") || !strings.Contains(page, "purpose 1") || !strings.Contains(page, "No evaluation has ended yet") {
			t.Errorf("%s: %v\n%s", query, err, page)
		}
	}
}

// TestThePageIsOfThisMachine: not of another address, and not under another name, which a site's
// owner could make stand for loopback.
func TestThePageIsOfThisMachine(t *testing.T) {
	w := newWorld(t)
	for _, listen := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "localhost:0", "127.0.0.1"} {
		c := w.config()
		c.Page = listen
		if _, err := aggregator.New(t.Context(), c); !errors.Is(err, service.ErrConfig) {
			t.Errorf("a page on %s: %v", listen, err)
		}
	}
	c := w.config()
	c.Page = "127.0.0.1:0"
	w.serve(t, c)
	for host, want := range map[string]int{"": 200, "localhost:81": 200, "[::1]:80": 200, "127.0.0.1": 200, "example.org": 421, "127.0.0.1.example.org:80": 421, "192.0.2.1": 421} {
		for _, path := range []string{"/", "/style.css"} {
			r, err := http.NewRequestWithContext(t.Context(), "GET", w.page+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s under the name %q: %d; want %d", path, host, answer.StatusCode, want)
			}
		}
	}
}
