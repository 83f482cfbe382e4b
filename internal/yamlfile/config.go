// Package yamlfile reads YAML into structs, strictly: an unknown or repeated key, a
// second document and a value of the wrong type are errors that name the file and the
// line. It also holds the form of a training run ([Train]); that of an evaluation
// is package config.
package yamlfile

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/discreet-rl/discreet/internal/fault"
)

// ErrSyntax marks a file or an override that is not of the form.
var ErrSyntax = fault.Input("malformed configuration")

// setName stands for the file in errors about overrides.
const setName = "--set"

// Load reads the YAML of a file into a T; see [Decode].
func Load[T any](path string, overrides []string) (T, error) {
	text, err := readText(path)
	if err != nil {
		var none T
		return none, err
	}
	return Decode[T](path, text, overrides)
}

// Decode reads YAML into a T, a struct with yaml tags, and applies overrides of the
// form key.key=value, whose values are YAML; name stands for the text in errors.
func Decode[T any](name string, text []byte, overrides []string) (T, error) {
	var into T
	if len(overrides) > 0 {
		// The file must be right by itself: the line numbers of its errors are
		// lost once it has been rewritten.
		if err := decode(name, text, new(T)); err != nil {
			return into, err
		}
		var err error
		if text, err = override(name, text, overrides, reflect.TypeFor[T]()); err != nil {
			return into, err
		}
		name = setName
	}
	return into, decode(name, text, &into)
}

func decode(name string, text []byte, into any) error {
	if err := errors.Join(checkLength(name, text), checkLineEnds(name, text)); err != nil {
		return err
	}
	var root yaml.Node
	if yaml.Load(text, &root) == nil { // else more is said by the decoder
		if err := errors.Join(checkAliases(name, &root), checkOpen(name, &root)); err != nil {
			return err
		}
	}
	err := yaml.Load(text, into, yaml.WithKnownFields(), yaml.WithUniqueKeys())
	if err == nil {
		return checkNumbers(name, &root, reflect.TypeOf(into))
	}
	var all *yaml.LoadErrors
	if errors.As(err, &all) && len(all.Errors) > 0 {
		return located(name, text, all.Errors[0])
	}
	var one *yaml.LoadError
	if errors.As(err, &one) {
		return located(name, text, one)
	}
	return fmt.Errorf("%w: %s: %w", ErrSyntax, name, err)
}

func located(name string, text []byte, e *yaml.LoadError) error {
	place := fmt.Sprintf("%s:%d", name, e.Mark.Line)
	if name == setName {
		place = name // the lines are those of a text that nobody wrote
	}
	message := plain(text, e)
	if value, kind, ok := mistyped(e.Message); ok {
		message = fmt.Sprintf("%s; want %s", value, kind)
		if key := keyAt(text, e.Mark); key != "" {
			message = key + " is " + message
		}
	} else if key := keyAt(text, e.Mark); key != "" && strings.HasPrefix(message, "want ") {
		message = key + ": " + message
	}
	return fmt.Errorf("%w: %s: %s", ErrSyntax, place, message)
}

// plain turns the decoder's words about a key that there is not into words of a
// configuration: its section is named by the keys that lead there, and not by a type.
func plain(text []byte, e *yaml.LoadError) string {
	field, _, ok := strings.Cut(e.Message, " not found in type ")
	if !ok {
		return e.Message
	}
	section := "the configuration"
	if at := sectionAt(text, e.Mark); at != "" {
		section = at
	}
	return fmt.Sprintf("unknown key %q in %s; correct its name or remove it (docs/configuration.md lists the keys)", strings.TrimPrefix(field, "field "), section)
}

// override applies key.key=value to the text of a configuration of a type.
func override(name string, text []byte, overrides []string, t reflect.Type) ([]byte, error) {
	tree := map[string]any{}
	if err := yaml.Load(text, &tree); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrSyntax, name, err)
	}
	if tree == nil { // the document is null
		tree = map[string]any{}
	}
	for _, o := range overrides {
		key, raw, ok := strings.Cut(o, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%w: --set %s: want key=value, such as privacy.epsilon=0.5", ErrSyntax, o)
		}
		if err := checkLineEnds(setName+" "+key, []byte(raw)); err != nil {
			return nil, err
		}
		if raw == "" {
			return nil, fmt.Errorf("%w: --set %s: give a value, or null to remove the key", ErrSyntax, o)
		}
		var value any
		var root yaml.Node
		err := yaml.Load([]byte(raw), &root)
		if err == nil {
			err = errors.Join(checkAliases(setName+" "+key, &root), yaml.Load([]byte(raw), &value))
		}
		if err != nil {
			return nil, fmt.Errorf("%w: --set %s: %w", ErrSyntax, o, err)
		}
		if err := checkNumbers(setName+" "+key, &root, at(t, strings.Split(key, "."))); err != nil {
			return nil, err
		}
		if err := assign(tree, strings.Split(key, "."), value); err != nil {
			return nil, fmt.Errorf("%w: --set %s: %w", ErrSyntax, o, err)
		}
	}
	return yaml.Dump(tree)
}

func assign(tree map[string]any, path []string, value any) error {
	for _, key := range path[:len(path)-1] {
		switch below := tree[key].(type) {
		case nil:
			next := map[string]any{}
			tree[key] = next
			tree = next
		case map[string]any:
			tree = below
		default:
			return fmt.Errorf("%s is not a section", key)
		}
	}
	tree[path[len(path)-1]] = value
	return nil
}
