package fault_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/discreet-rl/discreet/internal/fault"
)

// TestErrorsAboutJSONNameNoGo: neither a type nor a value, wherever the decoder's error
// is wrapped.
func TestErrorsAboutJSONNameNoGo(t *testing.T) {
	var into struct {
		A struct {
			Number float64           `json:"number"`
			Text   string            `json:"text"`
			List   []struct{ X int } `json:"list"`
			Map    map[string]bool   `json:"map"`
		} `json:"a"`
	}
	for text, want := range map[string]string{
		`[]`:                            "x.json: JSON of type array; want an object",
		`{"a": 1}`:                      `x.json: the member "a" is of type number; want an object`,
		`{"a": {"number": "b"}}`:        `x.json: the member "a.number" is of type string; want a number`,
		`{"a": {"text": 71}}`:           `x.json: the member "a.text" is of type number; want text`,
		`{"a": {"list": {}}}`:           `x.json: the member "a.list" is of type object; want a list`,
		`{"a": {"map": {"k": 1}}}`:      `x.json: the member "a.map" is of type number; want true or false`,
		`{"a": {"list": [{"X": 1.5}]}}`: `x.json: the member "a.list.X" is of type number; want a number`,
	} {
		err := fmt.Errorf("x.json: %w", json.Unmarshal([]byte(text), &into))
		if got := fault.Words(err); got != want {
			t.Errorf("%s: %q; want %q (the decoder says %q)", text, got, want, err)
		}
	}
	if got := fault.Words(fmt.Errorf("a\x1bb")); got != "a\ufffdb" {
		t.Errorf("%q", got)
	}
}
