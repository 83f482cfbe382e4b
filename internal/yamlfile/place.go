package yamlfile

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// mistyped takes apart what the decoder says of a value that is of another type
// than its key: cannot construct !!str `one` into float64.
func mistyped(message string) (value, kind string, ok bool) {
	rest, ok := strings.CutPrefix(message, "cannot construct !!")
	if !ok {
		return "", "", false
	}
	what, goType, ok := cutLast(rest, " into ")
	if !ok {
		return "", "", false
	}
	tag, value, quoted := strings.Cut(what, " ")
	if !quoted {
		value = map[string]string{"map": "a section", "seq": "a list"}[tag]
	}
	if value == "" {
		value = "empty"
	}
	return value, kindOf(goType), true
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// kindOf is a Go type in the words of a configuration.
func kindOf(goType string) string {
	goType = strings.TrimLeft(goType, "*")
	switch {
	case strings.HasPrefix(goType, "float"):
		return "a number"
	case strings.HasPrefix(goType, "int"), strings.HasPrefix(goType, "uint"):
		return "a whole number"
	case goType == "bool":
		return "true or false"
	case goType == "string":
		return "text"
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	case strings.HasPrefix(goType, "map["), strings.HasPrefix(goType, "struct "), strings.Contains(goType, "."):
		return "a section of keys"
	}
	return "a value of another form"
}

// keyAt is the key, such as privacy.epsilon, whose value begins at a place in a
// document; empty where none does.
func keyAt(text []byte, at yaml.Mark) string {
	var root yaml.Node
	if yaml.Load(text, &root) != nil {
		return ""
	}
	return keyBelow(&root, "", at)
}

func keyBelow(n *yaml.Node, path string, at yaml.Mark) string {
	if n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
		return keyBelow(n.Content[0], path, at)
	}
	if n.Kind == yaml.SequenceNode {
		for _, element := range n.Content {
			if begins(element, at) {
				return path
			} else if key := keyBelow(element, path, at); key != "" {
				return key
			}
		}
	}
	if n.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		if path != "" {
			key = path + "." + key
		}
		if begins(value, at) {
			return key
		}
		if found := keyBelow(value, key, at); found != "" {
			return found
		}
	}
	return ""
}

func begins(n *yaml.Node, at yaml.Mark) bool { return n.Line == at.Line && n.Column == at.Column }

// sectionAt is the key of the section, such as features, that has a key which begins at
// a place in a document; empty where that is the document itself.
func sectionAt(text []byte, at yaml.Mark) string {
	var root yaml.Node
	if yaml.Load(text, &root) != nil {
		return ""
	}
	section, _ := sectionBelow(&root, "", at)
	return section
}

func sectionBelow(n *yaml.Node, path string, at yaml.Mark) (string, bool) {
	for i, below := range n.Content {
		inside := path
		if n.Kind == yaml.MappingNode {
			if i%2 == 0 && begins(below, at) {
				return path, true
			} else if i%2 == 1 {
				inside = strings.TrimPrefix(path+"."+n.Content[i-1].Value, ".")
			}
		}
		if section, found := sectionBelow(below, inside, at); found {
			return section, true
		}
	}
	return "", false
}
