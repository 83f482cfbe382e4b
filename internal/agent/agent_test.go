package agent_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/internal/agent"
	"github.com/discreet-rl/discreet/internal/buildinfo"
)

// TestTheProgramsWords: what it says, and the codes that scripts go by.
func TestTheProgramsWords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agent.yaml")
	text := `
server: https://127.0.0.1:1
authority: ca.pem
root: root.pub
state: device
epsilon: 8
consent: {purpose: balance poles, randomizer: {mechanism: sign-prs, epsilon: 1}, reports: 8, weights: 112}
learner: {environment: {name: cart-pole, gravity: [9.8]}}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args      []string
		code      int
		out, told string
	}{
		{[]string{"-version"}, 0, "discreet-agent version " + buildinfo.Version() + "\nmodule   ", ""},
		{[]string{"-version"}, 0, "\nclient   " + device.Version + ",", ""},
		{[]string{"-help"}, 0, "", "discreet-agent [-set"},
		{nil, 2, "", "discreet-agent [-set"},
		{[]string{"-nonsense"}, 2, "", "nonsense"},
		{[]string{file}, 2, "", "root: "},
		{[]string{"-set", "poll_seconds=-1", file}, 2, "", "poll_seconds is -1; want above 0"},
		{[]string{"-set", "learner.stdio=true", "-set", "server=null", file}, 2, "", "server is missing"},
	} {
		var out, told bytes.Buffer
		if code := agent.Main(c.args, nil, &out, &told); code != c.code || !strings.Contains(out.String(), c.out) || !strings.Contains(told.String(), c.told) {
			t.Errorf("%q ends with %d, %q, %q; want %d, %q, %q", c.args, code, out.String(), told.String(), c.code, c.out, c.told)
		}
	}
}
