package policy_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/policy"
)

// What is no policy is refused in words that say what to mend, and in bounded memory:
// the long ones never end.
func TestFilesThatAreNoPolicies(t *testing.T) {
	const form = "; docs/policies.md has the form of a policy"
	for _, c := range []struct{ text, want string }{
		{`{"kind": "softmax", "inputs": ["obs_x"], "weights": "x"}`, `the member "weights" is or holds a string where something else is wanted` + form},
		{`{"kind": "softmax", "inputs": "obs_x"}`, `the member "inputs" is or holds a string where something else is wanted` + form},
		{`{"kind": "softmax", "inputs": ["obs_x"`, "ends in the middle: it may be cut short" + form},
		{`[1]`, "is a JSON array and not an object" + form},
		{``, "is empty" + form},
		{`{"a": 1}`, `unknown member "a"` + form},
		{`episode_id,reward`, "is not JSON from byte 1 on" + form},
	} {
		_, err := policy.ReadSoftmax(strings.NewReader(c.text), "pi.json")
		if err == nil || err.Error() != "invalid policy: pi.json: "+c.want || !errors.Is(err, policy.ErrPolicy) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	for _, c := range []struct {
		text io.Reader
		want string
	}{
		{strings.NewReader("0.5,0.5\n1\n"), "line 2 has not as many fields as the lines before it; write one probability an action in every line"},
		{strings.NewReader("a,\"b\n1,2\n"), "line 2 has a quote that is not closed, or text after one; write numbers without quotes"},
		{endless("\x00"), "a line is longer than 1 MiB; check that this is a policy's table"},
		{endless("0,"), "a line is longer than 1 MiB; check that this is a policy's table"},
		{endless("1,0\n"), "more than 4194304 probabilities; a policy of this size is better given by columns of the data (target kind columns)"},
	} {
		_, err := policy.ReadTable(c.text, "pi.csv", "obs_x")
		if err == nil || err.Error() != "invalid policy: pi.csv: "+c.want || !errors.Is(err, policy.ErrPolicy) {
			t.Errorf("%v", err)
		}
	}
}

// endless repeats a text for ever.
type endless string

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n+len(e) <= len(p) {
		n += copy(p[n:], e)
	}
	return n, nil
}
