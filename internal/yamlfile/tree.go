package yamlfile

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

// Tree gives the YAML form of a configuration as nested maps, by its keys.
func Tree(from any) (map[string]any, error) {
	text, err := yaml.Dump(from)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	tree := map[string]any{}
	if err := yaml.Load(text, &tree); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	return tree, nil
}
