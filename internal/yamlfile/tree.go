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
	plainColumns(tree)
	return tree, nil
}

// plainColumns writes a column of one name as that name, as contracts have it that are
// older than lists of names.
func plainColumns(tree map[string]any) {
	data, _ := tree["data"].(map[string]any)
	columns, _ := data["columns"].(map[string]any)
	for canonical, names := range columns {
		if list, ok := names.([]any); ok && len(list) == 1 {
			columns[canonical] = list[0]
		}
	}
}
