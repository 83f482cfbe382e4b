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

// keysFile is the reference of a configuration's keys.
const keysFile = "docs/reference/keys.md"

// keysRoot is the struct whose fields are the keys of a configuration, and keysDirs the
// packages in which its types are, by the name that an import gives them.
const keysRoot = "discreet.Config"

var keysDirs = map[string]string{"discreet": ".", "evaluate": "evaluate", "feature": "rl/feature"}

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
					all[name+"."+g.Specs[0].(*ast.TypeSpec).Name.Name] = g
				}
			}
		}
	}
	return all, nil
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
		if word, ok := map[string]string{"string": "text", "bool": "true or false", "int": "whole number", "int64": "whole number", "float64": "number", "any": "value"}[t.Name]; ok {
			return "", word
		}
		return pkg + "." + t.Name, "mapping"
	}
	return "", "value"
}

// link is a reference to a name of Go within a comment, of which a reader of YAML sees
// the name alone.
var link = regexp.MustCompile(`\[((?:\w+\.)*[A-Z]\w*)\]`)

// said is a comment in Markdown, in which the fields of a struct are named by their keys.
func said(text string, keys []key) string {
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

// keysPage is the reference page of the keys below root.
func keysPage(root string) (string, error) {
	all, err := readStructs(root)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("<!-- Made by go run ./internal/ci keys -write from the code; a test compares. -->\n\n# Every key\n\n" +
		"The keys of an evaluation's configuration, as the program's own types have them, with what these say. Any other key is an error. [Configuration](../configuration.md) is the guide, with examples and defaults.\n")
	count, err := all.write(&b, keysRoot, "", map[string]bool{})
	if err == nil && count < 60 {
		err = fmt.Errorf("only %d keys were found: the search is broken", count)
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
		fmt.Fprintf(b, "\n## %s\n\n%s\n", path, said(intro, keys))
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
			meaning := said(k.field.Doc.Text(), keys)
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
				meaning = said(regexp.MustCompile(`^`+own+`\b`).ReplaceAllString(g.Doc.Text(), "This"), inside)
			}
			full := k.name
			if path != "" {
				full = path + "." + k.name
			}
			if len(inside) > 0 && !seen[of] {
				below = append(below, inner{of, full})
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

// writeKeys writes the reference of keys.
func writeKeys() error {
	page, err := keysPage(".")
	if err != nil {
		return err
	}
	return os.WriteFile(keysFile, []byte(page), fs.FileMode(0o644))
}
