package discreet

import (
	"path/filepath"

	"github.com/discreet-rl/discreet/internal/config"
)

// ErrSyntax marks a configuration file, or an override, that is not of the form. The
// message names the file, the line and the key.
var ErrSyntax = config.ErrSyntax

// Load reads a [Config] from a YAML file, the form that docs/configuration.md
// describes, and applies overrides of the form key.key=value, whose values are YAML:
//
//	cfg, err := discreet.Load("evaluate.yaml", "privacy.epsilon=0.5", "output=null")
//
// It is strict: an unknown or repeated key and a value of another type are errors that
// wrap [ErrSyntax]. Relative paths in the file are relative to its directory. What the
// values mean is checked by [Plan] and [Evaluate].
func Load(path string, overrides ...string) (Config, error) {
	c, err := config.Load[Config](path, overrides)
	c.Dir = filepath.Dir(path)
	return c, err
}

// Parse is [Load] of a text; name stands for it in errors, and relative paths are
// relative to the working directory.
func Parse(name string, text []byte, overrides ...string) (Config, error) {
	return config.Decode[Config](name, text, overrides)
}
