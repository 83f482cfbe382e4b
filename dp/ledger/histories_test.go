package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// outcomes are the words after the arrow; the first that fits an error is its name.
var outcomes = []struct {
	word string
	err  error
}{
	{"behind", ledger.ErrBehind}, {"tampered", ledger.ErrTampered}, {"witness", ledger.ErrWitness}, {"unlisted", ledger.ErrAnalyst},
	{"share", ledger.ErrShare}, {"budget", ledger.ErrBudget}, {"invalid", ledger.ErrConfig}, {"invalid", ledger.ErrCharge},
}

// outcome is the word for what came of a step.
func outcome(err error, good string) string {
	if err == nil {
		return good
	}
	for _, o := range outcomes {
		if errors.Is(err, o.err) {
			return o.word
		}
	}
	return err.Error()
}

// chronicle plays one history.
type chronicle struct {
	t        *testing.T
	dir      string
	location string
	config   ledger.Config
	l        *ledger.Ledger
	backup   []byte
}

func (c *chronicle) path(name string) string { return filepath.Join(c.dir, name) }

// ledger opens the ledger, and begins it at the first step that needs it.
func (c *chronicle) ledger() *ledger.Ledger {
	if c.l == nil {
		if _, err := os.Stat(c.location); err != nil {
			c.l = create(c.t, c.location, c.config)
		} else {
			c.l = open(c.t, c.location, "")
		}
	}
	return c.l
}

// step does what a line says and returns what came of it.
func (c *chronicle) step(words []string) string {
	ctx := context.Background()
	move := func(from, to string) string {
		if err := os.Rename(c.path(from), c.path(to)); err != nil {
			c.t.Fatal(err)
		}
		return ""
	}
	switch words[0] {
	case "open": // the list of analysts
		c.config.OpenList = true
		return ""
	case "charge": // WHO
		asked := ask(dp.Gaussian{NoiseMultiplier: 40})
		asked.Analyst = words[1]
		_, err := c.ledger().Charge(ctx, asked)
		return outcome(err, "granted")
	case "share": // WHO EPSILON
		return outcome(c.ledger().SetShare(ctx, words[1], c.budget(words[2])), "done")
	case "budget": // EPSILON
		return outcome(c.ledger().SetBudget(ctx, c.budget(words[1]), "r"), "done")
	case "witness": // add or remove FILE
		if words[1] == "remove" {
			return outcome(c.ledger().RemoveWitness(ctx, c.path(words[2])), "done")
		}
		return outcome(c.ledger().AddWitness(ctx, c.path(words[2])), "done")
	case "gone": // FILE
		return move(words[1], words[1]+".gone")
	case "back": // FILE
		return move(words[1]+".gone", words[1])
	case "copy": // the store, as cp does
		c.ledger()
		copyFile(c.t, c.location, c.location+".old")
		return ""
	case "put": // back the copy
		c.l.Close()
		c.l = nil
		copyFile(c.t, c.location+".old", c.location)
		return ""
	case "backup":
		c.backup = backup(c.t, c.ledger())
		return ""
	case "restore": // what was lost, and WITNESSES
		o := ledger.RestoreOptions{Reason: "r", LostNothing: words[1] == "nothing", LostEverything: words[1] == "everything"}
		for _, name := range words[2:] {
			o.Witnesses = append(o.Witnesses, c.path(name))
		}
		to := c.location + ".restored"
		r, err := ledger.Restore(ctx, bytes.NewReader(c.backup), to, o)
		if err == nil {
			r.Close()
			c.l.Close()
			c.l, c.location = nil, to
		}
		return outcome(err, "done")
	case "verify":
		return outcome(c.ledger().Verify(ctx), "right")
	}
	c.t.Fatalf("no such step: %q", words)
	return ""
}

func (c *chronicle) budget(epsilon string) dp.Budget {
	e, err := strconv.ParseFloat(epsilon, 64)
	if err != nil {
		c.t.Fatal(err)
	}
	return dp.Budget{Epsilon: e, Delta: 1e-6}
}

// TestHistories plays testdata/histories.txt.
func TestHistories(t *testing.T) {
	text, err := os.ReadFile("testdata/histories.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, histories, _ := strings.Cut(string(text), "history ")
	for history := range strings.SplitSeq(histories, "history ") {
		name, steps, _ := strings.Cut(history, "\n")
		t.Run(name, func(t *testing.T) {
			dir := directory(t, !*onDisk)
			c := &chronicle{t: t, dir: dir, location: filepath.Join(dir, "budget.db"), config: plain(someBudget)}
			for line := range strings.Lines(steps) {
				step, want, _ := strings.Cut(strings.TrimSpace(line), " -> ")
				if step == "" {
					continue
				}
				if got := c.step(strings.Fields(step)); got != want {
					t.Fatalf("%s -> %s; want %s", step, got, want)
				}
			}
			if err := c.ledger().Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
