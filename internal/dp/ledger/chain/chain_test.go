package chain_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

func charge(seq int64, prev chain.Hash) *chain.Entry {
	return &chain.Entry{Seq: seq, Prev: prev, Time: time.Date(2026, 5, 4, 3, 2, 1, 5000, time.UTC), Kind: chain.Charge,
		Charge: &chain.ChargeBody{Key: "k", Analyst: "a <b> & c", Purpose: "p", Event: dp.Gaussian{NoiseMultiplier: 1.1},
			Adjacency: dp.ReplaceOne, Unit: "person", Cost: account.Cost{Sum: 3.3057851239669422}},
		Totals: chain.Totals{Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}, Spent: account.Cost{Sum: 3.3057851239669422}}}
}

// The bytes and the hash are fixed for ever: ledgers that exist depend on them.
func TestCanonicalBytesDoNotChange(t *testing.T) {
	line, err := charge(7, chain.Hash{1, 2}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"seq":7,"prev":"0102000000000000000000000000000000000000000000000000000000000000","time":"2026-05-04T03:02:01.000005Z","kind":"charge",` +
		`"charge":{"key":"k","analyst":"a <b> & c","purpose":"p","event":{"kind":"gaussian","noise_multiplier":1.1},"adjacency":"replace_one","unit":"person",` +
		`"code_version":"","config_hash":"","fingerprint":"","cost":{"sum":3.3057851239669422,"epsilon":0,"delta":0}},` +
		`"totals":{"budget":{"epsilon":1,"delta":0.000001},"spent":{"sum":3.3057851239669422,"epsilon":0,"delta":0},"restores":0}}`
	if string(line) != want {
		t.Errorf("canonical bytes\n%s\nwant\n%s", line, want)
	}
	if got, want := chain.Sum(line).String(), fmt.Sprintf("%x", sha256.Sum256([]byte("discreet/ledger/entry/v1\n"+want))); got != want {
		t.Errorf("hash %s; want %s", got, want)
	}
}

func TestParseIsTheInverseOfEncodeAndOfNothingElse(t *testing.T) {
	line, err := charge(7, chain.Hash{1, 2}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	e, err := chain.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := e.Encode(); err != nil || !bytes.Equal(again, line) {
		t.Errorf("%s, %v", again, err)
	}
	for name, bad := range map[string]string{
		"empty": "", "number": "7", "null": "null", "text after": string(line) + "{}", "space": " " + string(line),
		"unknown field":   string(bytes.Replace(line, []byte(`"seq":7`), []byte(`"seq":7,"x":1`), 1)),
		"repeated field":  string(bytes.Replace(line, []byte(`"seq":7`), []byte(`"seq":6,"seq":7`), 1)),
		"two bodies":      string(bytes.Replace(line, []byte(`"totals"`), []byte(`"share":{},"totals"`), 1)),
		"other kind":      string(bytes.Replace(line, []byte(`"kind":"charge"`), []byte(`"kind":"record"`), 1)),
		"no such kind":    string(bytes.Replace(line, []byte(`"kind":"charge"`), []byte(`"kind":"gift"`), 1)),
		"event unknown":   string(bytes.Replace(line, []byte(`"kind":"gaussian"`), []byte(`"kind":"gauss"`), 1)),
		"number reworded": string(bytes.Replace(line, []byte(`0.000001`), []byte(`1e-6`), 1)),
		"local time":      string(bytes.Replace(line, []byte(`01.000005Z`), []byte(`01.000005+01:00`), 1)),
		"negative":        string(bytes.Replace(line, []byte(`"seq":7`), []byte(`"seq":-7`), 1)),
		"short hash":      string(bytes.Replace(line, []byte(`"prev":"0102`), []byte(`"prev":"01`), 1)),
		"infinite":        string(bytes.Replace(line, []byte(`"epsilon":1,`), []byte(`"epsilon":1e999,`), 1)),
	} {
		if _, err := chain.Parse([]byte(bad)); !errors.Is(err, chain.ErrEntry) {
			t.Errorf("%s: %v; want ErrEntry", name, err)
		}
	}
}

func TestFollows(t *testing.T) {
	open := &chain.Entry{Kind: chain.Open, Open: &chain.OpenBody{}}
	head := &chain.Head{Seq: 6, Hash: chain.Hash{9}}
	for name, c := range map[string]struct {
		e    *chain.Entry
		prev *chain.Head
		ok   bool
	}{
		"first":         {open, nil, true},
		"not first":     {charge(0, chain.Hash{}), nil, false},
		"next":          {charge(7, chain.Hash{9}), head, true},
		"gap":           {charge(8, chain.Hash{9}), head, false},
		"again":         {charge(6, chain.Hash{9}), head, false},
		"other hash":    {charge(7, chain.Hash{8}), head, false},
		"second ledger": {&chain.Entry{Seq: 7, Prev: chain.Hash{9}, Kind: chain.Open, Open: &chain.OpenBody{}}, head, false},
	} {
		if err := c.e.Follows(c.prev); (err == nil) != c.ok || err != nil && !errors.Is(err, chain.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	line, err := charge(7, chain.Hash{1, 2}).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := chain.Parse(line)
		if err != nil {
			return
		}
		if again, err := e.Encode(); err != nil || !bytes.Equal(again, line) {
			t.Fatalf("%s parses and encodes as %s, %v", line, again, err)
		}
	})
}

func ExampleParse() {
	first := &chain.Entry{Time: time.Unix(0, 0).UTC(), Kind: chain.Open, Open: &chain.OpenBody{Dataset: "trial", Adjacency: dp.ReplaceOne}}
	line, _ := first.Encode()
	second := charge(1, chain.Sum(line))
	next, _ := second.Encode()

	e, err := chain.Parse(next)
	fmt.Println(e.Charge.Event.Kind(), err)
	fmt.Println(e.Follows(&chain.Head{Seq: 0, Hash: chain.Sum(line)}))
	fmt.Println(e.Follows(&chain.Head{Seq: 0, Hash: chain.Sum(next)}))
	// Output:
	// gaussian <nil>
	// <nil>
	// the chain is broken: entry 1 names another predecessor than entry 0 as it is
}
