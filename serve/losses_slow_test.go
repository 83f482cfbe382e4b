//go:build slow

package serve_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/serve"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

var table = flag.String("table", "", "file to which TestEveryLoss writes its table")

// parts of a service that can be lost, each with its files.
var parts = []string{"store", "audit log", "ledger", "witness", "policies", "tokens"}

var ways = []string{"lost", "older", "replaced", "truncated", "copied"}

func filesOf(part string) []string {
	return map[string][]string{
		"store": {"curator.db", "curator.db-wal", "curator.db-shm"}, "ledger": {"budget.db"}, "witness": {"elsewhere/heads.ndjson"}, "tokens": {"tokens"},
	}[part]
}

// reasons say why what goes on does no harm.
var reasons = map[string]string{
	"witness older":      "behind, as after a crash; the next charge brings it up to date",
	"witness truncated":  "behind, as after a crash; the next charge brings it up to date",
	"witness copied":     "the second machine begins no ledger",
	"policies lost":      "written again from the store",
	"policies older":     "written again from the store",
	"policies replaced":  "held against the store, and written again",
	"policies truncated": "held against the store, and written again",
	"policies copied":    "the second machine begins no ledger: the witness knows one",
	"tokens lost":        "the old tokens are known for a second more",
	"tokens older":       "what was revoked since is good again; asks are charged",
	"tokens replaced":    "the old tokens are known for a second more",
	"tokens truncated":   "the old tokens are known for a second more",
	"tokens copied":      "the second machine begins no ledger: the witness knows one",
	"store copied":       "the second machine begins no ledger: the store has seen one",
	"audit log copied":   "the second machine begins no ledger: the witness knows one",
	"ledger copied":      "the second machine does not start without the asks",
}

// loss is a service to which something happens.
type loss struct {
	*house
	part, way string
	paid      map[string]bool // keys of the charges before
	older     string          // directory of the same service, two asks earlier
	other     string          // directory of another service
}

const mine = `{"schema": "discreet/policy/v1", "kind": "tree", "precision": "float64", "inputs": ["obs_bili"], "nodes": [{"input": "obs_bili", "threshold": 1.5, "left": 1, "right": 2}, {"probs": [0.5, 0.5]}, {"probs": [0.4, 0.6]}]}`

// tree asks by an uploaded policy.
const tree = "target: {kind: tree, path: mine.json}\nmethod: {name: dp-wis}\nprivacy: {epsilon: %g, delta: 1e-6}\n"

// lived is a service with asks, a copy from before two of them, and a token that was revoked.
func lived(t *testing.T) (h *house, older string) {
	t.Helper()
	h = furnish(t, "policy_columns: [bili]\n    witness: elsewhere/heads.ndjson")
	if err := os.Mkdir(filepath.Join(h.dir, "elsewhere"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.open()
	if _, err := h.client("ann").PutPolicy(t.Context(), &curatorv1.PutPolicyRequest{Dataset: "pbc", Name: "mine.json", Content: []byte(mine)}); err != nil {
		t.Fatal(err)
	}
	h.answered(0, 1)
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	older = filepath.Join(t.TempDir(), "older")
	if err := os.CopyFS(older, os.DirFS(h.dir)); err != nil {
		t.Fatal(err)
	}
	h.open()
	if a := h.end("ann", h.ask("ann", oneKey+"-tree", fmt.Sprintf(tree, 0.1))); a.GetState() != curatorv1.State_STATE_RELEASED {
		t.Fatalf("ended as %v", a)
	}
	h.answered(1, 3)
	if err := h.config().RevokeToken("amy", "test"); err != nil {
		t.Fatal(err)
	}
	return h, older
}

// keys are those of the charges of a ledger; nil where it cannot be read.
func keys(t testing.TB, dir string) map[string]bool {
	t.Helper()
	l, err := ledger.Open(t.Context(), filepath.Join(dir, "budget.db"), "pbc")
	if err != nil {
		return nil
	}
	defer l.Close()
	all := map[string]bool{}
	for e, err := range l.Entries(t.Context(), 0) {
		if err != nil {
			return nil
		}
		if e.Charge != nil {
			all[e.Charge.Key] = true
		}
	}
	return all
}

// happen does to the files of a service what is lost.
func (l *loss) happen() {
	t := l.t
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	switch {
	case l.way == "copied":
		return
	case l.part == "audit log":
		db, err := sql.Open("sqlite", filepath.Join(l.dir, "curator.db")+"?_pragma=busy_timeout(5000)")
		check(err)
		defer db.Close()
		count := func(dir string) (n int) {
			from, err := sql.Open("sqlite", filepath.Join(dir, "curator.db"))
			check(err)
			defer from.Close()
			check(from.QueryRowContext(t.Context(), `SELECT count(*) FROM curator_audit`).Scan(&n))
			return n
		}
		for _, statement := range map[string][]string{
			"lost":      {`DELETE FROM curator_audit`},
			"older":     {fmt.Sprintf(`DELETE FROM curator_audit WHERE seq >= %d`, count(l.older))},
			"truncated": {`DELETE FROM curator_audit WHERE seq = (SELECT max(seq) FROM curator_audit)`},
			"replaced": {`DELETE FROM curator_audit`, `ATTACH '` + filepath.Join(l.other, "curator.db") + `' AS other`,
				`INSERT INTO curator_audit SELECT * FROM other.curator_audit`},
		}[l.way] {
			db.SetMaxOpenConns(1)
			_, err := db.ExecContext(t.Context(), statement)
			check(err)
		}
	case l.part == "policies":
		all, err := filepath.Glob(filepath.Join(l.dir, "policies/*/*"))
		check(err)
		if len(all) == 0 {
			t.Fatal("no policies")
		}
		for _, path := range all {
			switch l.way {
			case "lost", "older": // there was none when the copy was made
				check(os.RemoveAll(filepath.Dir(path)))
			case "replaced":
				check(os.WriteFile(path, []byte(strings.Replace(l.read(strings.TrimPrefix(path, l.dir)), "0.", "0.9", 1)), 0o600))
			case "truncated":
				check(os.Truncate(path, 40))
			}
		}
	default:
		for _, name := range filesOf(l.part) {
			path := filepath.Join(l.dir, name)
			switch l.way {
			case "lost":
				check(os.Remove(path))
			case "older", "replaced":
				from := l.older
				if l.way == "replaced" {
					from = l.other
				}
				check(os.Remove(path))
				text, err := os.ReadFile(filepath.Join(from, name))
				check(err)
				if err == nil {
					check(os.WriteFile(path, text, 0o600))
				}
			case "truncated":
				if info, err := os.Stat(path); err == nil && !strings.Contains(name, "-") {
					check(os.Truncate(path, info.Size()/2))
				}
			}
		}
	}
}

// second is another machine to which one part was copied: it has the same configuration, and
// reaches the same witness.
func (l *loss) second() {
	t := l.t
	h := furnish(t, "policy_columns: [bili]\n    witness: "+filepath.Join(l.dir, "elsewhere/heads.ndjson"))
	for _, name := range filesOf(map[string]string{"audit log": "store"}[l.part] + map[bool]string{true: l.part}[l.part != "audit log"]) {
		text, err := os.ReadFile(filepath.Join(l.dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(h.dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		h.write(name, string(text))
	}
	switch l.part {
	case "audit log":
		for _, other := range []string{"curator_ask", "curator_mark"} {
			h.set(`DELETE FROM ` + other)
		}
	case "policies":
		if err := os.CopyFS(filepath.Join(h.dir, "policies"), os.DirFS(filepath.Join(l.dir, "policies"))); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := serve.Open(t.Context(), h.config()); err == nil {
		t.Errorf("the second machine starts: %v", s.Close())
	} else if !strings.Contains(err.Error(), "give its budget back") && !strings.Contains(err.Error(), "lacks the asks of 4 of its charges") {
		t.Errorf("the second machine does not start for another reason: %v", err)
	}
}

// goes tries to be answered, and says what comes of it. A release is never one of a budget that
// was given back: every charge from before is in the ledger, and the ask's own.
func (l *loss) goes(key string) string {
	t := l.t
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := l.client("ann").Ask(ctx, &curatorv1.AskRequest{Dataset: "pbc", Question: fmt.Sprintf(tree, 0.1), Key: key})
	switch {
	case code(err) == connect.CodeUnauthenticated, code(err) == connect.CodeUnavailable && l.part == "tokens":
		return "nobody is let in"
	case err != nil && code(err) != connect.CodeUnavailable && code(err) != connect.CodeInvalidArgument:
		t.Errorf("asked: %v", err)
	}
	if err != nil {
		return "refused"
	}
	for {
		a, err := l.client("ann").GetAsk(ctx, &curatorv1.GetAskRequest{Id: r.GetAsk().GetId()})
		if err == nil && a.GetAsk().GetState() == curatorv1.State_STATE_RELEASED {
			now := keys(t, l.dir)
			for k := range l.paid {
				if !now[k] {
					t.Errorf("a release, and charge %s is not in the ledger", k)
				}
			}
			if len(now) <= len(l.paid) && key != oneKey+"-tree" {
				t.Error("a release without a charge")
			}
			l.paid = now
			return "goes on"
		}
		if code(err) == connect.CodeUnauthenticated {
			return "nobody is let in"
		}
		n, err := l.steward().ListNotices(ctx, &curatorv1.ListNoticesRequest{Dataset: "pbc"})
		if err == nil && len(n.GetNotices()) > 0 && strings.Contains(n.GetNotices()[0].GetText(), "nothing is charged") {
			return "asks wait"
		}
		if ctx.Err() != nil {
			t.Fatalf("the ask is %v, and nobody says why: %v", a, n)
		}
	}
}

// Each part of a service is lost, older, replaced, cut short or copied to another machine, at
// rest and under the running service. Each time nothing is charged and the steward is told, or
// the service goes on with every charge that was made.
func TestEveryLoss(t *testing.T) {
	foreigner, _ := lived(t)
	if err := foreigner.stop(); err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, part := range parts {
		for _, way := range ways {
			for _, running := range []bool{false, true} {
				name := part + " " + way
				t.Run(fmt.Sprintf("%s/running=%v", name, running), func(t *testing.T) {
					h, older := lived(t)
					h.t = t
					l := &loss{house: h, part: part, way: way, older: older, other: foreigner.dir, paid: keys(t, h.dir)}
					if len(l.paid) != 4 {
						t.Fatalf("%d charges", len(l.paid))
					}
					if !running {
						if err := h.stop(); err != nil {
							t.Fatal(err)
						}
					}
					l.happen()
					if way == "copied" {
						l.second()
					}
					says := ""
					if running {
						says = l.goes(oneKey + "-running")
						_ = h.stop() // what it has left may be no store any more
					}
					if part == "policies" && way != "copied" {
						l.happenAgain()
					}
					s, err := serve.Open(t.Context(), h.config())
					if err != nil {
						for _, want := range []string{"pbc", "curator.db", "tokens"} {
							if strings.Contains(err.Error(), want) {
								says += "|does not start"
								break
							}
						}
						if !strings.HasSuffix(says, "start") {
							t.Errorf("words without a place: %v", err)
						}
					} else {
						if err := s.Close(); err != nil {
							t.Fatal(err)
						}
						h.open()
						says += "|" + l.goes(oneKey+"-after")
						if err := h.stop(); err != nil {
							t.Log(err)
						}
					}
					if strings.Contains(says, "goes on") && reasons[name] == "" {
						t.Errorf("it goes on (%s), and nobody says why that does no harm", says)
					}
					rows[fmt.Sprintf("%s %v", name, running)] = strings.TrimPrefix(says, "|")
				})
			}
		}
	}
	t.Run("all older", func(t *testing.T) {
		for _, witnessed := range []bool{true, false} {
			h, older := lived(t)
			if err := h.stop(); err != nil {
				t.Fatal(err)
			}
			heads := h.read("elsewhere/heads.ndjson")
			if err := os.RemoveAll(h.dir); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(h.dir, os.DirFS(older)); err != nil {
				t.Fatal(err)
			}
			if witnessed {
				h.write("elsewhere/heads.ndjson", heads)
			}
			h.open()
			l := &loss{house: h, part: "all"}
			says := l.goes(oneKey + "-after")
			if want := map[bool]string{true: "refused", false: "goes on"}[witnessed]; says != want && !(witnessed && says == "asks wait") {
				t.Errorf("witness elsewhere: %v: it %s", witnessed, says)
			}
			rows[fmt.Sprintf("all %v", witnessed)] = says
		}
	})
	t.Run("all copied", func(t *testing.T) {
		h, _ := lived(t)
		if err := h.stop(); err != nil {
			t.Fatal(err)
		}
		other := &house{t: t, dir: filepath.Join(t.TempDir(), "second"), tokens: h.tokens}
		if err := os.CopyFS(other.dir, os.DirFS(h.dir)); err != nil {
			t.Fatal(err)
		}
		other.write("serve.yaml", strings.Replace(other.read("serve.yaml"), "elsewhere/heads.ndjson", filepath.Join(h.dir, "elsewhere/heads.ndjson"), 1))
		other.open()
		if says := (&loss{house: other}).goes(oneKey + "-second"); says != "goes on" {
			t.Errorf("the second machine, which charges first: it %s", says)
		}
		h.open()
		rows["both"] = (&loss{house: h}).goes(oneKey + "-first")
		if rows["both"] == "goes on" {
			t.Error("both machines charge")
		}
	})
	if *table != "" {
		if err := os.WriteFile(*table, []byte(tabled(rows)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		t.Logf("%s: %s", name, rows[name])
	}
}

// happenAgain loses the files of policies that the service has written again.
func (l *loss) happenAgain() {
	if all, _ := filepath.Glob(filepath.Join(l.dir, "policies/*/*")); len(all) > 0 {
		l.happen()
	}
}

// tabled is the table of docs/results/service.md: losses of a part that end alike are one row.
func tabled(rows map[string]string) string {
	var b strings.Builder
	b.WriteString("| what | how | at rest | running, then started again | |\n|---|---|---|---|---|\n")
	for _, part := range parts {
		var order []string
		same := map[string][]string{}
		for _, way := range ways {
			name := part + " " + way
			end := rows[name+" false"] + " | " + strings.ReplaceAll(rows[name+" true"], "|", ", ") + " | " + reasons[name]
			if same[end] == nil {
				order = append(order, end)
			}
			same[end] = append(same[end], way)
		}
		for _, end := range order {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", part, strings.Join(same[end], ", "), end)
		}
	}
	fmt.Fprintf(&b, "| all older | witness elsewhere; none | %s; %s | | undetectable without a witness elsewhere |\n", rows["all true"], rows["all false"])
	fmt.Fprintf(&b, "| all copied | one witness | %s | | of the two machines, the later |\n", rows["both"])
	return b.String()
}
