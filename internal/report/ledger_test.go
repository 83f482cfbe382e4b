package report_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
	"github.com/discreet-rl/discreet/internal/schema"
)

// Shares of 1/8, 1/4 and 5/8 fill the bar from left to right.
func TestTheBudgetIsDrawnToScale(t *testing.T) {
	root := mustParse(t, render(t, scalarRelease()))
	bar := root.find("svg", "budget")[0]
	var got []string
	for _, r := range bar.children {
		got = append(got, r.attrs["class"]+" "+r.attrs["x"]+" "+r.attrs["width"])
	}
	if want := "both 0.000% 12.500%, privacy 12.500% 25.000%, range 37.500% 62.500%"; strings.Join(got, ", ") != want {
		t.Errorf("the bar is %v; want %s", got, want)
	}
	if alt := bar.attrs["aria-label"]; alt != "Of the budget, 12.5% was spent before, 25% by this release, and 62.5% is left." {
		t.Errorf("the bar is read out as %q", alt)
	}
	text := strings.Join(strings.Fields(root.text), " ")
	for _, w := range []string{
		"Entry 7 of the ledger paid", "ε = 3, δ = 10⁻⁵", "ε = 1.235, δ = 10⁻⁵", // spent is rounded up
		"Smith and Thakurta 2022", "first look", "ada", strings.Repeat("0a", 32), strings.Repeat("0b", 32), "4 March 2026, 05:06:07 UTC",
	} {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing", w)
		}
	}
}

// A release that says it was charged and names no entry was not.
func TestABareClaimIsNoCharge(t *testing.T) {
	for name, spoil := range map[string]func(*evaluate.Release){
		"no entry": func(r *evaluate.Release) { r.Ledger = nil },
		"no claim": func(r *evaluate.Release) { r.Privacy.Charged = false },
	} {
		r := scalarRelease()
		spoil(r)
		root := mustParse(t, render(t, r))
		if boxes := root.find("section", "stop"); len(boxes) != 1 || !strings.Contains(boxes[0].text, "Not charged to a ledger") {
			t.Errorf("%s: %d red boxes", name, len(boxes))
		}
		if strings.Contains(root.text, "discreet ledger verify") {
			t.Errorf("%s: the page sends its reader to a ledger", name)
		}
	}
}

func TestEveryDisclosureIsShown(t *testing.T) {
	r := samples()["reviewed"]
	root := mustParse(t, render(t, r))
	text := root.text
	d := r.Disclosure
	for _, w := range append([]string{
		d.Definition, d.Model, d.DataDomain, d.Unit, d.Composition, d.PostProcessing, d.Preparation, d.Tuning, d.FloatingPoint,
		d.Randomness, d.Timing, d.Actors, d.Series, d.Security, d.Justification, d.CodeVersion, d.ConfigHash, "gaussian, once", "laplace, 40 times",
		"its identity must be " + r.Signature.KeyID, "discreet verify release.json --public-key",
	}, d.Unprotected...) {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing", w)
		}
	}
	if strings.Contains(render(t, scalarRelease()), "For registries and reviewers") {
		t.Error("a release without a disclosure has the section")
	}
}

func TestABrokenEntryIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*evaluate.LedgerEntry){
		"not finite":  func(e *evaluate.LedgerEntry) { e.Spent.Epsilon = math.Inf(1) },
		"above one":   func(e *evaluate.LedgerEntry) { e.Shares.This = 1.01 },
		"below zero":  func(e *evaluate.LedgerEntry) { e.Shares.Left = -0.01 },
		"not a share": func(e *evaluate.LedgerEntry) { e.Shares.Before = math.NaN() },
		"no time":     func(e *evaluate.LedgerEntry) { *e = evaluate.LedgerEntry{} },
	} {
		r := scalarRelease()
		spoil(r.Ledger)
		var b strings.Builder
		if err := report.Write(&b, r); !errors.Is(err, report.ErrRelease) || b.Len() > 0 {
			t.Errorf("%s: %v, %d bytes written", name, err, b.Len())
		}
	}
}

// The samples that other tests render are releases that could have been made.
func TestSamplesFollowTheSchema(t *testing.T) {
	for name, r := range samples() {
		if name == "empty" {
			continue // it has no public facts, which every release has
		}
		if r.Diagnostics == nil {
			r.Diagnostics = map[string]any{}
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Check(schema.Release, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
