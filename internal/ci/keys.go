package main

import (
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// keysReference is the reference page of one kind of configuration.
type keysReference struct {
	file  string
	title string
	intro string
	root  string // the struct whose fields are the keys
	least int    // how many keys there are at least, or the search is broken
}

// keysReferences are the pages of all kinds of configuration.
var keysReferences = []keysReference{
	{"docs/reference/keys.md", "Keys of an evaluation", "The keys of an evaluation's configuration, as the program's own types have them, with what these say. Any other key is an error. [Configuration](../configuration.md) is the guide, with examples and defaults.", "config.Config", 60},
	{"docs/reference/keys-training.md", "Keys of a training run", "The keys of the configuration that `discreet train` reads. Any other key is an error. [Training](../training.md) is the guide, with an example and defaults.", "yamlfile.Train", 40},
	{"docs/reference/keys-fleet.md", "Keys of a fleet", "The keys of the configuration that the server and the operator of a fleet share. Any other key is an error. [A fleet](../fleet.md) is the guide. The section `training` has the keys of [a training run](keys-training.md).", "cli.fleetFile", 30},
	{"docs/reference/keys-device.md", "Keys of a device", "The keys of the configuration of a device (`discreet fleet agent`). Any other key is an error. [A fleet](../fleet.md) is the guide.", "yamlfile.FleetAgent", 15},
	{"docs/reference/keys-serve.md", "Keys of the curator's service", "The keys of the configuration that `discreet serve` reads. Any other key is an error. [The curator's service](../serve.md) is the guide. A dataset's `config` has the keys of [an evaluation](keys.md).", "serve.Config", 25},
}

// keysDirs are the packages in which their types are, by the name that an import gives them.
var keysDirs = map[string]string{
	"evaluate": "evaluate", "feature": "rl/feature", "config": "config", "yamlfile": "internal/yamlfile",
	"train": "train", "aggregator": "internal/fleet/aggregator", "cli": "internal/cli", "serve": "serve",
}

// structs are the structs of some packages, by package and name.
type structs map[string]*ast.GenDecl

// readStructs parses the packages that keysDirs names, below root.
func readStructs(root string) (structs, error) {
	all := structs{}
	for name, dir := range keysDirs {
		paths, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			for _, d := range f.Decls {
				if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE && len(g.Specs) == 1 {
					all.put(name, g)
				}
			}
		}
	}
	return all, nil
}

// put adds a struct, and gives names to those without one in it.
func (s structs) put(pkg string, g *ast.GenDecl) {
	spec := g.Specs[0].(*ast.TypeSpec)
	s[pkg+"."+spec.Name.Name] = g
	t, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range t.Fields.List {
		inner := f.Type
		if pointer, ok := inner.(*ast.StarExpr); ok {
			inner = pointer.X
		}
		if _, ok := inner.(*ast.StructType); ok && len(f.Names) == 1 {
			name := ast.NewIdent(spec.Name.Name + f.Names[0].Name)
			f.Type = name
			s.put(pkg, &ast.GenDecl{Specs: []ast.Spec{&ast.TypeSpec{Name: name, Type: inner}}})
		}
	}
}

// key is a field of a struct that YAML gives.
type key struct {
	field *ast.Field
	name  string // empty where the keys are those of an embedded struct, or any
}

// keys are the fields of a type that YAML gives; none of a type that is no struct, or
// that reads its forms by itself.
func (s structs) keys(name string) ([]key, error) {
	g := s[name]
	if g == nil {
		return nil, nil
	}
	t, ok := g.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType)
	if !ok {
		return nil, nil
	}
	var keys []key
	for _, f := range t.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			return nil, err
		}
		yaml, ok := reflect.StructTag(tag).Lookup("yaml")
		if name, _, _ := strings.Cut(yaml, ","); ok && name != "-" {
			keys = append(keys, key{f, name})
		}
	}
	return keys, nil
}

// typeName is the name of a type with its package, and how it is written in words.
func typeName(pkg string, e ast.Expr) (name, words string) {
	switch t := e.(type) {
	case *ast.StarExpr:
		return typeName(pkg, t.X)
	case *ast.ArrayType:
		name, words := typeName(pkg, t.Elt)
		return name, "list of " + words
	case *ast.MapType:
		_, words := typeName(pkg, t.Value)
		return "", "mapping of names to " + words
	case *ast.SelectorExpr:
		return t.X.(*ast.Ident).Name + "." + t.Sel.Name, "mapping"
	case *ast.Ident:
		if word, ok := map[string]string{"string": "text", "bool": "true or false", "int": "whole number", "int64": "whole number", "uint64": "whole number", "uint32": "whole number", "float64": "number", "any": "value"}[t.Name]; ok {
			return "", word
		}
		return pkg + "." + t.Name, "mapping"
	}
	return "", "value"
}

// link is a reference to a name of Go within a comment, of which a reader of YAML sees
// the name alone.
var link = regexp.MustCompile(`\[((?:\w+\.)*[A-Z]\w*)\]`)

// markdown is a comment in Markdown, in which the fields of a struct are named by their keys.
func markdown(text string, keys []key) string {
	var p comment.Parser
	var pr comment.Printer
	text = strings.TrimSpace(string(pr.Markdown(p.Parse(link.ReplaceAllString(text, "$1")))))
	for _, k := range keys {
		if k.name != "" {
			text = regexp.MustCompile(`\b`+k.field.Names[0].Name+`\b`).ReplaceAllString(text, "`"+k.name+"`")
		}
	}
	return text
}

// inCell is the first paragraph of a text, as it may stand in a table.
func inCell(text string) string {
	text, _, _ = strings.Cut(text, "\n\n")
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// keysPage is a reference page of the keys below root.
func keysPage(root string, r keysReference) (string, error) {
	all, err := readStructs(root)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Made by go run ./internal/ci keys -write from the code; a test compares. -->\n\n# %s\n\n%s\n", r.title, r.intro)
	seen := map[string]bool{}
	if r.root == "cli.fleetFile" {
		seen["yamlfile.Train"] = true // a page of its own
	}
	count, err := all.write(&b, r.root, "", seen)
	if err == nil && count < r.least {
		err = fmt.Errorf("only %d keys of %s were found: the search is broken", count, r.root)
	}
	return b.String(), err
}

// write writes the table of a struct's keys, then those of the structs in it, each once.
func (s structs) write(b *strings.Builder, name, path string, seen map[string]bool) (int, error) {
	if seen[name] {
		return 0, nil
	}
	seen[name] = true
	if path != "" {
		keys, err := s.keys(name)
		if err != nil {
			return 0, err
		}
		_, own, _ := strings.Cut(name, ".")
		intro := regexp.MustCompile(`^`+own+`\b`).ReplaceAllString(s[name].Doc.Text(), "This")
		fmt.Fprintf(b, "\n## %s\n", path)
		if intro = markdown(intro, keys); intro != "" {
			fmt.Fprintf(b, "\n%s\n", intro)
		}
	}
	type inner struct{ name, path string }
	var below []inner
	count := 0
	b.WriteString("\n| key | is | meaning |\n|---|---|---|\n")
	var table func(name string) error
	table = func(name string) error {
		pkg, _, _ := strings.Cut(name, ".")
		keys, err := s.keys(name)
		if err != nil {
			return err
		}
		before := ""
		for _, k := range keys {
			of, words := typeName(pkg, k.field.Type)
			inside, err := s.keys(of)
			if err != nil {
				return err
			}
			each := ""
			if m, ok := k.field.Type.(*ast.MapType); ok {
				value, _ := typeName(pkg, m.Value)
				if inside, err = s.keys(value); err != nil {
					return err
				}
				if len(inside) > 0 {
					of, each = value, ".NAME"
				} else if value != "" {
					words = "mapping of names to value"
				}
			}
			meaning := markdown(k.field.Doc.Text(), keys)
			switch {
			case k.name == "" && len(inside) > 0: // an embedded struct
				if err := table(of); err != nil {
					return err
				}
				continue
			case k.name == "":
				fmt.Fprintf(b, "| any other | %s | %s |\n", words, inCell(meaning))
				continue
			case meaning == "" && strings.Contains(before, "`"+k.name+"`"):
				meaning = before // one comment for several fields
			}
			if meaning != "" {
				before = meaning
			} else if g := s[of]; g != nil {
				_, own, _ := strings.Cut(of, ".")
				meaning = markdown(regexp.MustCompile(`^`+own+`\b`).ReplaceAllString(g.Doc.Text(), "This"), inside)
			}
			full := k.name
			if path != "" {
				full = path + "." + k.name
			}
			if len(inside) > 0 && !seen[of] {
				below = append(below, inner{of, full + each})
			} else if len(inside) == 0 && of != "" {
				words = strings.Replace(words, "mapping", "value", 1) // of several forms, which the comment tells
			}
			count++
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", k.name, words, inCell(meaning))
		}
		return nil
	}
	if err := table(name); err != nil {
		return 0, err
	}
	for _, i := range below {
		n, err := s.write(b, i.name, i.path, seen)
		if err != nil {
			return 0, err
		}
		count += n
	}
	return count, nil
}

// writeKeys writes the references of keys.
func writeKeys() error {
	for _, r := range keysReferences {
		page, err := keysPage(".", r)
		if err != nil {
			return err
		}
		if err := os.WriteFile(r.file, []byte(page), fs.FileMode(0o644)); err != nil {
			return err
		}
	}
	return nil
}
