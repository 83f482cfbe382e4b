package yamlfile

import (
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

// checkNumbers refuses numbers that YAML reads otherwise than they look (1_0 is
// 10 to it, 0470 the octal 312, 0x10 is 16, and +7 a 7 without its sign), those that
// are not finite, and those with a point or an exponent where a key of the type, which
// may be nil, takes a whole number.
func checkNumbers(name string, root *yaml.Node, t reflect.Type) error {
	n := firstNumber(root, misread)
	if n != nil {
		return numberError(name, root, n, "write a decimal number without underscores, leading zeros or a plus sign, or text in quotes")
	}
	if n = firstNumber(root, endless); n != nil {
		return numberError(name, root, n, "write a finite number, or text in quotes")
	}
	if n = fractional(root, t); n != nil {
		return numberError(name, root, n, "want a whole number, in digits alone")
	}
	return nil
}

func numberError(name string, root, n *yaml.Node, remedy string) error {
	what := "`" + n.Value + "`"
	if key := keyBelow(root, "", yaml.Mark{Line: n.Line, Column: n.Column}); key != "" {
		what = key + " is " + what
	}
	place := name
	if !strings.HasPrefix(name, setName) { // the lines are those of a text that nobody wrote
		place = fmt.Sprintf("%s:%d", name, n.Line)
	}
	return fmt.Errorf("%w: %s: %s; %s", ErrSyntax, place, what, remedy)
}

// quoted is the styles of what is text whatever it looks like.
const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// firstNumber gives the first number that is a value and of which something holds; keys are
// text.
func firstNumber(n *yaml.Node, holds func(string) bool) *yaml.Node {
	if n.Kind == yaml.ScalarNode {
		tag := n.ShortTag()
		if n.Style&quoted == 0 && (tag == "!!int" || tag == "!!float") && holds(n.Value) {
			return n
		}
		return nil
	}
	for i, below := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			continue
		}
		if n := firstNumber(below, holds); n != nil {
			return n
		}
	}
	return nil
}

// misread tells a number that YAML reads otherwise than it looks.
func misread(number string) bool {
	digits := strings.TrimLeft(number, "+-")
	other := len(digits) > 1 && digits[0] == '0' && strings.ContainsRune("0123456789xXoObB", rune(digits[1]))
	return other || number[0] == '+' || strings.Contains(number, "_")
}

// endless tells what YAML reads as infinite or as no number.
func endless(number string) bool {
	switch strings.ToLower(strings.TrimLeft(number, "+-")) {
	case ".inf", ".nan":
		return true
	}
	return false
}

// fractional finds the first number with a point or an exponent that a whole number is
// made of. What decodes itself is left to itself.
func fractional(n *yaml.Node, t reflect.Type) *yaml.Node {
	if t == nil || reflect.PointerTo(t).Implements(decodes) {
		return nil
	}
	switch {
	case n.Kind == yaml.DocumentNode && len(n.Content) == 1:
		return fractional(n.Content[0], t)
	case n.Kind == yaml.AliasNode:
		return fractional(n.Alias, t)
	case t.Kind() == reflect.Pointer:
		return fractional(n, t.Elem())
	case n.Kind == yaml.ScalarNode && reflect.Int <= t.Kind() && t.Kind() <= reflect.Uint64 && n.ShortTag() == "!!float":
		return n
	case n.Kind == yaml.SequenceNode && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		for _, below := range n.Content {
			if n := fractional(below, t.Elem()); n != nil {
				return n
			}
		}
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n := fractional(n.Content[i+1], below(t, n.Content[i].Value)); n != nil {
				return n
			}
		}
	}
	return nil
}

// decodes is what types with a form of their own implement.
var decodes = reflect.TypeFor[interface {
	UnmarshalYAML(func(any) error) error
}]()

// at is the type of what stands under keys, nil where none is known.
func at(t reflect.Type, keys []string) reflect.Type {
	for _, key := range keys {
		for t != nil && t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t == nil || reflect.PointerTo(t).Implements(decodes) {
			return nil
		}
		t = below(t, key)
	}
	return t
}

// below is the type of what stands under a key, nil where none is known.
func below(t reflect.Type, key string) reflect.Type {
	switch t.Kind() {
	case reflect.Map:
		return t.Elem()
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if name, options, _ := strings.Cut(f.Tag.Get("yaml"), ","); name == key {
				return f.Type
			} else if options == "inline" {
				if found := below(f.Type, key); found != nil {
					return found
				}
			}
		}
	}
	return nil
}
