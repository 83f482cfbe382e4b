//go:build slow

package serve_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service/alerttest"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// scraping is how often a monitor scrapes, as it were.
const scraping = 15 * time.Second

func (h *house) target() alerttest.Target {
	return alerttest.Target{Job: "curator", URL: h.url, Client: h.operator}
}

// fires steps until an alert fires, or until it does not.
func fires(t *testing.T, m *alerttest.Monitor, target alerttest.Target, alert string, want bool) {
	t.Helper()
	var last []string
	soon(t, fmt.Sprintf("%s firing: %v", alert, want), func() bool {
		last = m.Steps(4, scraping, target)
		return slices.Contains(last, alert) == want
	})
	if others := slices.DeleteFunc(last, func(a string) bool { return a == alert }); len(others) > 0 && alert != "" {
		t.Logf("%s: beside it %v", alert, others)
	}
}

// away moves a file away, and back.
func (h *house) away(name string) (back func()) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.Rename(path, path+".away"); err != nil {
		h.t.Fatal(err)
	}
	return func() {
		h.t.Helper()
		if err := errors.Join(os.RemoveAll(path), os.Rename(path+".away", path)); err != nil {
			h.t.Fatal(err)
		}
	}
}

// waits hands in asks that wait for the steward.
func (h *house) waits(n int) (ids []string) {
	h.t.Helper()
	for i := range n {
		ids = append(ids, h.ask("ann", fmt.Sprintf("%s-w%d", oneKey, i), wish(0.95)))
	}
	return ids
}

// Each rule of the example fires when its fault is made at a running service, by Prometheus' own code,
// and is over when the fault is, where it can be mended. On a service that is well none fires in hours.
func TestEachAlertFires(t *testing.T) {
	nothing := func() {}
	faults := map[string]func(*testing.T, *house, *hook) (mend func()){
		"CuratorDown": func(t *testing.T, h *house, _ *hook) func() {
			if err := h.stop(); err != nil {
				t.Fatal(err)
			}
			return nil // it has another address afterwards
		},
		"CuratorDatasetRefuses": func(t *testing.T, h *house, _ *hook) func() { return h.away("budget.db") },
		"CuratorQueueIsOld": func(t *testing.T, h *house, _ *hook) func() {
			h.set(`UPDATE curator_ask SET state = 'queued', told = 0, ended = 0, queued = queued - 3600000000, asked = asked - 3600000000, lease_until = 9000000000000000`)
			return func() { h.set(`UPDATE curator_ask SET state = 'released', told = 1, ended = 1`) }
		},
		"CuratorAsksWait": func(t *testing.T, h *house, _ *hook) func() {
			id := h.waits(1)[0]
			h.set(`UPDATE curator_ask SET asked = asked - 90000000000 WHERE state = 'waiting'`)
			return func() {
				if _, err := h.steward().Decide(t.Context(), &curatorv1.DecideRequest{Id: id, Reason: "no"}); err != nil {
					t.Fatal(err)
				}
			}
		},
		"CuratorAsksArePutBack": func(t *testing.T, h *house, _ *hook) func() {
			ids, back := h.waits(3), h.away("budget.db")
			for _, id := range ids {
				if _, err := h.steward().Decide(t.Context(), &curatorv1.DecideRequest{Id: id, Approve: true}); err != nil {
					t.Fatal(err)
				}
			}
			return back
		},
		"CuratorAuditLogRefuses": func(t *testing.T, h *house, _ *hook) func() {
			h.set(`CREATE TRIGGER stop BEFORE INSERT ON curator_audit BEGIN SELECT RAISE(ABORT, 'stop'); END`)
			if status, _ := h.post("x", "/discreet.curator.v1.CuratorService/GetBudget", `{"dataset":"pbc"}`); status != http.StatusServiceUnavailable {
				t.Fatalf("without the log: %d", status)
			}
			return func() { h.set(`DROP TRIGGER stop`) }
		},
		"CuratorDiskRefuses": func(t *testing.T, h *house, _ *hook) func() { return h.away("policies") },
		"CuratorNoticesAreNotTold": func(t *testing.T, _ *house, w *hook) func() {
			w.refuse(func(told) bool { return true })
			return func() { w.refuse(nil) }
		},
		"CuratorBackupIsOld": func(t *testing.T, h *house, _ *hook) func() { return h.away("backups") },
		"CuratorClientsAreRefused": func(t *testing.T, h *house, _ *hook) func() {
			for range 2500 { // more than one a second of 15 minutes, which they stay in for ten
				r, err := http.Post(h.url+"/discreet.curator.v1.CuratorService/GetBudget", "application/json", strings.NewReader("{}"))
				if err != nil {
					t.Fatal(err)
				}
				_, err = io.Copy(io.Discard, r.Body)
				if err := errors.Join(err, r.Body.Close()); err != nil {
					t.Fatal(err)
				}
			}
			return nothing
		},
		"CuratorPanics": func(t *testing.T, h *house, _ *hook) func() {
			if _, err := http.Get(h.url + "/panic"); err == nil {
				t.Error("it answers")
			}
			return nothing
		},
	}
	certificate := "CuratorCertificateEnds"
	h, _ := monitored(t)
	h.open()
	all := alerttest.Names(t, alertRules, strings.Join(h.scraped(), "\n")+"\ndiscreet_curator_certificate_remaining_seconds 1\n", "discreet_curator")
	for _, alert := range all {
		if faults[alert] == nil && alert != certificate {
			t.Errorf("no fault makes %s fire", alert)
		}
	}
	for alert, make := range faults {
		t.Run(alert, func(t *testing.T) {
			m := alerttest.Start(t, alertRules)
			h, w := monitored(t)
			h.open()
			h.answered(0, 1)
			soon(t, "a first backup", func() bool { return h.gauge("backup_age_seconds") != "+Inf" })
			if got := m.Steps(40, scraping, h.target()); len(got) > 0 {
				t.Fatalf("on a service that is well %v fire", got)
			}
			mend := make(t, h, w)
			fires(t, m, h.target(), alert, true)
			if mend == nil {
				return
			}
			mend()
			fires(t, m, h.target(), alert, false)
		})
	}
	t.Run(certificate, func(t *testing.T) {
		for lifetime, want := range map[time.Duration]bool{100 * 24 * time.Hour: false, 20 * 24 * time.Hour: true} {
			h, _ := monitored(t)
			ca := h.secure(lifetime)
			h.open()
			h.url = strings.Replace(h.url, "http:", "https:", 1)
			h.operator = h.shows(ca, "operator", "prometheus")
			soon(t, "a first backup", func() bool { return h.gauge("backup_age_seconds") != "+Inf" })
			if got := alerttest.Start(t, alertRules).Steps(400, scraping, h.target()); slices.Contains(got, certificate) != want || !want && len(got) > 0 {
				t.Errorf("a certificate for %v: %v fire", lifetime, got)
			}
		}
	})
}

// A dataset that refuses is named, with the part because of which it does.
func TestAnAlertNamesThePart(t *testing.T) {
	for part, make := range map[string]func(*house){
		"ledger":  func(h *house) { h.away("budget.db") },
		"witness": func(h *house) { h.write("heads.ndjson", "nonsense\n") },
		"audit":   func(h *house) { h.set(`DELETE FROM curator_audit WHERE seq = (SELECT max(seq) FROM curator_audit)`) },
		"store":   func(h *house) { h.away("curator.db") },
	} {
		t.Run(part, func(t *testing.T) {
			m := alerttest.Start(t, alertRules)
			h, _ := monitored(t)
			h.open()
			h.answered(0, 1)
			make(h)
			soon(t, "an alert", func() bool {
				alerts, err := m.Step(scraping, h.target())
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range alerts {
					if a.Alert == "CuratorDatasetRefuses" {
						if a.Labels["dataset"] != "pbc" || a.Labels["part"] != part {
							t.Errorf("it names %v; want %s", a.Labels, part)
						}
						return true
					}
				}
				return false
			})
		})
	}
}
