package account_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

type pldCase struct {
	ID        string          `json:"id"`
	Adjacency dp.Adjacency    `json:"adjacency"`
	Event     json.RawMessage `json:"event"`
	Query     string          `json:"query"`
	Epsilon   float64         `json:"epsilon"`
	Delta     float64         `json:"delta"`
	Lower     float64         `json:"lower"`
	Upper     float64         `json:"upper"`
	Method    string          `json:"method"`
}

func readPLDCases(t testing.TB) []pldCase {
	t.Helper()
	text, err := os.ReadFile("testdata/accounting.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []pldCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestPLDMeetsReferenceBrackets(t *testing.T) {
	for _, c := range readPLDCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			if c.Query == "noise_multiplier" {
				return
			}
			e, err := dp.ParseEvent(c.Event)
			if err != nil {
				t.Fatal(err)
			}
			p := account.NewPLD(c.Adjacency)
			if err := p.Compose(e, 1); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			var b account.Bracket
			if c.Query == "delta" {
				b, err = p.Delta(c.Epsilon)
			} else {
				b, err = p.Epsilon(c.Delta)
			}
			took := time.Since(start)
			if err != nil {
				t.Fatal(err)
			}
			slack := 1e-3
			t.Logf("ours [%.8g %.8g] width %.1e; theirs [%.8g %.8g]; upper excess %.1e; %v", b.Lower, b.Upper, b.Upper/b.Lower-1, c.Lower, c.Upper, b.Upper/c.Upper-1, took)
			if b.Lower > c.Upper*(1+1e-9) || b.Upper < c.Lower*(1-1e-9) {
				t.Error("brackets do not meet")
			}
			if b.Upper > c.Upper*(1+slack) {
				t.Error("loose")
			}
		})
	}
}
