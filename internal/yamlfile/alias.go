package yamlfile

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

// mostAliased bounds what the aliases of a configuration stand for: a text of some
// kilobytes may else be written out to hundreds of millions of values.
const mostAliased = 100_000

// checkAliases refuses aliases that stand for more than mostAliased values together.
func checkAliases(name string, root *yaml.Node) error {
	sizes := map[*yaml.Node]int{}
	aliased := 0
	var size func(n *yaml.Node) int
	size = func(n *yaml.Node) int {
		if n.Kind == yaml.AliasNode {
			if _, known := sizes[n.Alias]; !known {
				return 1 // of itself, which the decoder refuses
			}
			aliased = min(aliased+sizes[n.Alias], mostAliased+1)
			return sizes[n.Alias]
		}
		sum := 1
		for _, below := range n.Content {
			sum = min(sum+size(below), mostAliased+1)
		}
		sizes[n] = sum
		return sum
	}
	if size(root); aliased > mostAliased {
		return fmt.Errorf("%w: %s: its aliases (*name) stand for more than %d values; write lists of such length into files of their own", ErrSyntax, name, mostAliased)
	}
	return nil
}
