package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// wellFormed says of a command line that the program has such a command, with those flags.
func wellFormed(t *testing.T, words []string) {
	t.Helper()
	cmd, rest, err := newRoot().Find(words)
	if err != nil || cmd.Run == nil && cmd.RunE == nil {
		t.Errorf("%q: no such command, %v", words, err)
		return
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%q: %v", words, err)
		return
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Errorf("%q: %v", words, err)
	}
}

// The units of systemd are of its form, start commands that there are, write to one directory, and
// give up what a service does not need. .ci/run has systemd-analyze read them too.
func TestUnitsOfSystemd(t *testing.T) {
	sections := map[string][]string{
		"Unit": {"Description", "Documentation", "Wants", "After"},
		"Service": {"ExecStart", "User", "Group", "StateDirectory", "StateDirectoryMode", "ConfigurationDirectory", "ConfigurationDirectoryMode", "WorkingDirectory", "Restart", "RestartSec", "TimeoutStopSec", "ReadOnlyPaths",
			"AmbientCapabilities", "SystemCallErrorNumber"},
		"Install": {"WantedBy"},
	}
	hardened := map[string]string{
		"NoNewPrivileges": "yes", "CapabilityBoundingSet": "", "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "PrivateDevices": "yes", "ProtectClock": "yes", "ProtectHostname": "yes",
		"ProtectKernelTunables": "yes", "ProtectKernelModules": "yes", "ProtectKernelLogs": "yes", "ProtectControlGroups": "yes", "ProtectProc": "invisible", "ProcSubset": "pid",
		"RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX", "RestrictNamespaces": "yes", "RestrictRealtime": "yes", "RestrictSUIDSGID": "yes", "LockPersonality": "yes", "MemoryDenyWriteExecute": "yes",
		"RemoveIPC": "yes", "SystemCallArchitectures": "native", "SystemCallFilter": "~@privileged @resources", "UMask": "0077", "LimitCORE": "0", "MemorySwapMax": "0",
	}
	units, err := filepath.Glob("../../deploy/systemd/*.service")
	if err != nil || len(units) != 3 {
		t.Fatalf("%v, %v; want three units", units, err)
	}
	for _, path := range units {
		section, set := "", map[string]string{}
		for n, line := range strings.Split(textOf(t, path), "\n") {
			line = strings.TrimSpace(line)
			switch {
			case line == "" || strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
				if section = strings.Trim(line, "[]"); sections[section] == nil {
					t.Errorf("%s:%d: section %s", path, n+1, section)
				}
			default:
				key, value, found := strings.Cut(line, "=")
				_, hard := hardened[key]
				if !found || !slices.Contains(sections[section], key) && (section != "Service" || !hard) || strings.HasSuffix(line, `\`) {
					t.Errorf("%s:%d: %s", path, n+1, line)
				}
				set[key] = value // the last counts
			}
		}
		for key, want := range hardened {
			if got, there := set[key]; !there || got != want {
				t.Errorf("%s: %s is %q; want %q", path, key, got, want)
			}
		}
		name := strings.TrimSuffix(filepath.Base(path), ".service")
		if set["User"] != name || set["StateDirectory"] != name || set["ConfigurationDirectory"] != name {
			t.Errorf("%s: user %q, state %q, configuration %q", path, set["User"], set["StateDirectory"], set["ConfigurationDirectory"])
		}
		words := strings.Fields(set["ExecStart"])
		switch program := filepath.Base(words[0]); {
		case program == "discreet":
			wellFormed(t, words[1:])
		case program != "discreet-agent" || len(words) != 2:
			t.Errorf("%s starts %q", path, words)
		}
		if config := words[len(words)-1]; filepath.Dir(config) != "/etc/"+name {
			t.Errorf("%s reads %s", path, config)
		}
	}
}

// Every service of Compose has a check of its health that the image can make: it holds no shell.
func TestHealthChecksOfCompose(t *testing.T) {
	text, err := os.ReadFile("../../deploy/compose/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Services map[string]struct {
			Command     []string
			Ports       []string
			Healthcheck struct{ Test []string }
		}
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Services) != 2 {
		t.Errorf("%d services", len(c.Services))
	}
	for name, s := range c.Services {
		wellFormed(t, s.Command)
		check := s.Healthcheck.Test
		if len(check) < 4 || check[0] != "CMD" || check[1] != "/discreet" || check[2] != "health" {
			t.Errorf("%s is checked by %q", name, check)
			continue
		}
		wellFormed(t, check[2:])
		_, port, _ := strings.Cut(s.Ports[0], ":")
		if check[3] != "https://127.0.0.1:"+port {
			t.Errorf("%s listens on %s and is asked at %s", name, port, check[3])
		}
	}
}
