package simulate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

// settings are what decides what a run comes to, as they are written down with it.
type settings struct {
	text []byte // JSON
}

func (c *Config) settings() (settings, error) {
	names := make([]string, len(c.Environments))
	for i, e := range c.Environments {
		names[i] = e.Name
	}
	text, err := json.Marshal(struct {
		Terms        train.Terms
		Local        device.Local
		Init         learn.Init
		Environments []string
		Seed         uint64
		Agents       uint64
		Budget       float64
		Workers      int
		Schedule     string
		Success      *Success
		Wallets      string `json:",omitempty"`
	}{c.Terms, c.Local, c.Init, names, c.Seed, c.Agents, c.Budget, c.Workers, c.Schedule, c.Success, c.Wallets})
	if err != nil {
		err = fmt.Errorf("%w: settings cannot be written: %w", train.ErrConfig, err)
	}
	return settings{text}, err
}

// fingerprint ties a journal to settings.
func (s settings) fingerprint() string {
	sum := sha256.Sum256(s.text)
	return hex.EncodeToString(sum[:])
}

// differences says where settings differ from those that a journal was begun with,
// a phrase for each, such as "seed is 2 and was 1".
func (s settings) differences(before []byte) []string {
	now, was := flat(s.text), flat(before)
	all := maps.Clone(now)
	maps.Copy(all, was)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if now[name] != was[name] {
			out = append(out, fmt.Sprintf("%s is %s and was %s", name, stated(now[name]), stated(was[name])))
		}
	}
	return out
}

func stated(value string) string {
	if value == "" {
		return "not set"
	}
	return value
}

// flat lists the values of a JSON object by their path, in lower case.
func flat(text []byte) map[string]string {
	out := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		object, ok := v.(map[string]any)
		if !ok {
			if value, err := json.Marshal(v); err == nil && v != nil {
				out[path] = string(value)
			}
			return
		}
		for key, below := range object {
			walk(strings.TrimPrefix(path+"."+strings.ToLower(key), "."), below)
		}
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&tree) == nil {
		walk("", tree)
	}
	return out
}
