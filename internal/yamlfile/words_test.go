package yamlfile_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/yamlfile"
)

// section has every shape in which a key can be unknown.
type section struct {
	Plain struct {
		Known float64 `yaml:"known"`
	} `yaml:"plain"`
	List []struct {
		Known bool `yaml:"known"`
	} `yaml:"list"`
	Named map[string]struct {
		Known string `yaml:"known"`
	} `yaml:"named"`
	Pointer *struct {
		Inner struct {
			Known []float64 `yaml:"known"`
		} `yaml:"inner"`
	} `yaml:"pointer"`
}

// golang matches what only a programmer in Go would understand.
var golang = regexp.MustCompile(`struct|float64|\bint64\b|map\[|\[\]|interface|_test\.|!!`)

// TestUnknownKeysAreNamedBySection: by the keys that lead there, and no word of Go.
func TestUnknownKeysAreNamedBySection(t *testing.T) {
	for text, want := range map[string]string{
		"plian: {}\n":                            `x.yaml:1: unknown key "plian" in the configuration;`,
		"plain: {known: 1, knwon: 2}\n":          `x.yaml:1: unknown key "knwon" in plain;`,
		"plain:\n  known: 1\n  knwon: 2\n":       `x.yaml:3: unknown key "knwon" in plain;`,
		"list:\n  - known: true\n  - other: 1\n": `x.yaml:3: unknown key "other" in list;`,
		"named: {a: {known: b}, b: {x: y}}\n":    `x.yaml:1: unknown key "x" in named.b;`,
		"pointer:\n  inner:\n    x: 1\n":         `x.yaml:3: unknown key "x" in pointer.inner;`,
		"plain: {known: {a: 1}}\n":               `x.yaml:1: plain.known is a section; want a number`,
		"plain: [1]\n":                           `x.yaml:1: plain is a list; want a section of keys`,
		"list: {a: 1}\n":                         `x.yaml:1: list is a section; want a list`,
		"list: [1]\n":                            "x.yaml:1: list is `1`; want a section of keys",
		"named: [1]\n":                           `x.yaml:1: named is a list; want a section of keys`,
		"pointer: {inner: {known: {a: 1}}}\n":    `x.yaml:1: pointer.inner.known is a section; want a list`,
		"[1, 2]\n":                               `x.yaml:1: `,
		"text\n":                                 `x.yaml:1: `,
	} {
		_, err := yamlfile.Decode[section]("x.yaml", []byte(text), nil)
		if err == nil || !strings.Contains(err.Error(), want) || golang.MatchString(err.Error()) {
			t.Errorf("%q: %v; want %q, and no Go", text, err, want)
		}
	}
}
