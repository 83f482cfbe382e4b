package evaluate

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/discreet-rl/discreet/internal/fault"
)

// tolerance is by how much, relative to the larger, two computations of one
// number may differ: other machines round the last digits otherwise.
const tolerance = 1e-9

// same holds a part of a release against what it must be, by their JSON forms:
// members and lengths are equal, numbers up to the tolerance, or up to slack where
// that is more, and texts up to the numbers in them. The error names the part.
func same(path string, got, want any, slack float64) error {
	var a, b any
	err := fill(&a, got)
	if err == nil {
		err = fill(&b, want)
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrRelease, path, err)
	}
	return sameJSON(path, a, b, slack)
}

// fill reads the JSON form of a value into another.
func fill(into, from any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func sameJSON(path string, got, want any, slack float64) error {
	switch want := want.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			return sameMembers(path, got, want, slack)
		}
	case []any:
		if got, ok := got.([]any); ok {
			return sameElements(path, got, want, slack)
		}
	case float64:
		if got, ok := got.(float64); ok && near(got, want, slack) {
			return nil
		}
	case string:
		if got, ok := got.(string); ok && sameText(got, want) {
			return nil
		}
	default:
		if got == want {
			return nil
		}
	}
	return fmt.Errorf("%w: %s is %s; what the release says of itself makes it %s", ErrRelease, path, shortJSON(got), shortJSON(want))
}

func sameMembers(path string, got, want map[string]any, slack float64) error {
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			return fmt.Errorf("%w: %s holds %q, which no such release does", ErrRelease, path, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		v, ok := got[name]
		if !ok {
			return fmt.Errorf("%w: %s.%s is missing", ErrRelease, path, name)
		}
		if err := sameJSON(path+"."+name, v, want[name], slack); err != nil {
			return err
		}
	}
	return nil
}

func sameElements(path string, got, want []any, slack float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%w: %s holds %d elements; what the release says of itself makes it %d", ErrRelease, path, len(got), len(want))
	}
	for i := range want {
		if err := sameJSON(fmt.Sprintf("%s[%d]", path, i), got[i], want[i], slack); err != nil {
			return err
		}
	}
	return nil
}

func near(a, b, slack float64) bool {
	return math.Abs(a-b) <= max(tolerance*max(math.Abs(a), math.Abs(b)), slack)
}

var numeral = regexp.MustCompile(`-?\d+(\.\d+)?([eE][-+]?\d+)?`)

// sameText compares the words of two texts, and the numbers between them as
// numbers.
func sameText(a, b string) bool {
	if a == b {
		return true
	}
	if !slices.Equal(numeral.Split(a, -1), numeral.Split(b, -1)) {
		return false
	}
	x, y := numeral.FindAllString(a, -1), numeral.FindAllString(b, -1)
	for i := range x {
		u, err := strconv.ParseFloat(x[i], 64)
		if err != nil {
			return false
		}
		v, err := strconv.ParseFloat(y[i], 64)
		if err != nil || !near(u, v, 0) {
			return false
		}
	}
	return true
}

// shortJSON is a value as an error may quote it: a release is for everybody.
func shortJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "no JSON"
	}
	return fault.Quoted(string(text), 120)
}
