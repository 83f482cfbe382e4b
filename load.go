package discreet

import (
	"path/filepath"

	"go.yaml.in/yaml/v4"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/yamlfile"
)

// ErrSyntax marks a configuration file, or an override, that is not of the form. The
// message names the file, the line and the key.
var ErrSyntax = yamlfile.ErrSyntax

// Load reads a [config.Config] from a YAML file, the form that docs/configuration.md
// describes, and applies overrides of the form key.key=value, whose values are YAML:
//
//	cfg, err := discreet.Load("evaluate.yaml", "privacy.epsilon=0.5", "output=null")
//
// It is strict: an unknown or repeated key and a value of another type are errors that
// wrap [ErrSyntax]. Relative paths in the file are relative to its directory. What the
// values mean is checked by [Plan] and [Evaluate].
func Load(path string, overrides ...string) (config.Config, error) {
	c, err := yamlfile.Load[config.Config](path, overrides)
	c.Dir = filepath.Dir(path)
	return c, err
}

// Parse is [Load] of a text; name stands for it in errors, and relative paths are
// relative to the working directory.
func Parse(name string, text []byte, overrides ...string) (config.Config, error) {
	return yamlfile.Decode[config.Config](name, text, overrides)
}

// Question is the YAML of what a configuration file asks, with its overrides applied:
// the file without ledger, output, sign and contract, which [config.Config.Hash] does not
// depend on either. A worker that gets it learns of no place or key but the data's.
func Question(path string, overrides ...string) ([]byte, error) {
	tree, err := yamlfile.Load[map[string]any](path, overrides)
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"ledger", "output", "sign", "contract"} {
		delete(tree, key)
	}
	return yaml.Dump(tree)
}
