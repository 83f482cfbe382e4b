package yamlfile

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Open stands in a draft where somebody has to say what is publicly known.
const Open = "FILL IN"

// checkOpen refuses a draft with open places, and lists all of them.
func checkOpen(name string, root *yaml.Node) error {
	var places []string
	for _, n := range openPlaces(root) {
		place := fmt.Sprintf("line %d", n.Line)
		if key := keyBelow(root, "", yaml.Mark{Line: n.Line, Column: n.Column}); key != "" {
			place += " (" + key + ")"
		}
		places = append(places, place)
	}
	if len(places) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s: %s stands in %s; write there what is known without the data", ErrSyntax, name, Open, strings.Join(places, ", "))
}

// openPlaces finds the values that are open; in quotes it is text like any other.
func openPlaces(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.ScalarNode && n.Value == Open && n.Style&quoted == 0 {
		return []*yaml.Node{n}
	}
	var found []*yaml.Node
	for i, below := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			found = append(found, openPlaces(below)...)
		}
	}
	return found
}
