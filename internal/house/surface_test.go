package house

import (
	"go/ast"
	"go/parser"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// capabilities are the exported declarations that name an internal type so that only this
// module can use them.
var capabilities = map[string]string{
	"dp/noise.NewTaped":     "audits alone look at sums, and only they have a tape",
	"dp/noise.Source.Tape":  "as NewTaped",
	"dp/noise.Source.Join":  "engines of this module alone stand between a private sum and its noise",
	"dp/noise.Source.Sums":  "as Join",
	"dp/receipt.Issue":      "only a ledger of this module has the seal by which receipts are made",
	"dp/receipt.IssueAgain": "as Issue",
	"evaluate.Ready.Replay": "as dp/noise.Source.Join: a shard gives its sums to nobody else",
}

// TestWhatIsPublicCanBeNamed: a user can write down every type of an exported declaration, and
// read its documentation, since none of them is below internal.
func TestWhatIsPublicCanBeNamed(t *testing.T) {
	var packages []string
	for _, s := range sources(t) {
		if !s.test && !below(s.pkg) && s.file.Name.Name != "main" && !slices.Contains(packages, s.pkg) {
			packages = append(packages, s.pkg)
		}
	}
	c := newChecker(t, packages)
	found := map[string]string{}
	for _, pkg := range packages {
		p, err := c.imports.Import(path.Join(module, pkg))
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(found, unnameable(p))
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if capabilities[name] == "" {
			t.Errorf("%s has the internal type %s in its signature: make that public, or move the declaration below internal", name, found[name])
		}
	}
	for name := range capabilities {
		if found[name] == "" {
			t.Errorf("%s has no internal type in its signature: its line in capabilities is out of date", name)
		}
	}
}

func TestUnnameableTypesAreFound(t *testing.T) {
	const source = `package p
import "github.com/discreet-rl/discreet/internal/dp/ledger/chain"
type A = chain.Entry
type S struct { F []chain.Entry; hidden chain.Entry; embedded }
type embedded struct{}
func (embedded) Promoted(chain.Entry) {}
type E struct{ *chain.Entry }
type I interface { M(map[string]*chain.Entry) }
type Own chain.Entry
func (S) Method() func() chain.Entry { return nil }
func (*S) private() (h chain.Entry) { return }
func F(...chain.Entry) {}
type Of[X any] struct{ X X }
func G(Of[chain.Entry]) {}
func P[X interface{ *chain.Entry }](X) {}
var V chan chain.Entry
var Fine Of[int]
func private(chain.Entry) {}
`
	c := newChecker(t, []string{"internal/dp/ledger/chain"})
	f, err := parser.ParseFile(c.files, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&types.Config{Importer: c.imports}).Check(module+"/p", c.files, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(unnameable(p)))
	want := []string{"p.A", "p.E", "p.F", "p.G", "p.I", "p.Own", "p.P", "p.S", "p.S.Method", "p.S.Promoted", "p.V"}
	if !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

// below tells of a package that other modules cannot import.
func below(pkg string) bool { return slices.Contains(strings.Split(pkg, "/"), "internal") }

// unnameable gives each exported declaration and method of a package in whose signature there is
// an internal type, with that type.
func unnameable(p *types.Package) map[string]string {
	out := map[string]string{}
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		at := strings.TrimPrefix(strings.TrimPrefix(p.Path(), module), "/") + "." + name
		note := func(at, found string) {
			if found != "" {
				out[at] = found
			}
		}
		named, ok := o.Type().(*types.Named)
		if _, declares := o.(*types.TypeName); !declares || !ok {
			note(at, hidden(types.Unalias(o.Type())))
			continue
		}
		for i := range named.TypeParams().Len() {
			note(at, hidden(named.TypeParams().At(i).Constraint()))
		}
		if s, ok := named.Underlying().(*types.Struct); ok {
			for i := range s.NumFields() {
				if f := s.Field(i); f.Exported() {
					note(at, hidden(f.Type()))
				}
			}
		} else if _, derived := named.Underlying().(*types.Basic); !derived {
			note(at, hidden(named.Underlying()))
		}
		if types.IsInterface(named) {
			continue
		}
		for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
			if m.Obj().Exported() {
				note(at+"."+m.Obj().Name(), hidden(m.Type()))
			}
		}
	}
	return out
}

// hidden is the first internal type that t is made of; "" for none. What a public type consists
// of is looked at where that is declared.
func hidden(t types.Type) string {
	first := func(n int, at func(int) types.Type) string {
		for i := range n {
			if found := hidden(at(i)); found != "" {
				return found
			}
		}
		return ""
	}
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if pkg := t.Obj().Pkg(); pkg != nil && below(pkg.Path()) {
			return pkg.Path() + "." + t.Obj().Name()
		}
		return first(t.TypeArgs().Len(), t.TypeArgs().At)
	case *types.Map:
		return first(2, func(i int) types.Type { return []types.Type{t.Key(), t.Elem()}[i] })
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		return hidden(t.Elem())
	case *types.Signature:
		if found := first(t.TypeParams().Len(), func(i int) types.Type { return t.TypeParams().At(i).Constraint() }); found != "" {
			return found
		}
		in, out := t.Params(), t.Results()
		return first(in.Len()+out.Len(), func(i int) types.Type {
			if i < in.Len() {
				return in.At(i).Type()
			}
			return out.At(i - in.Len()).Type()
		})
	case *types.Struct:
		return first(t.NumFields(), func(i int) types.Type { return t.Field(i).Type() })
	case *types.Interface:
		if found := first(t.NumEmbeddeds(), t.EmbeddedType); found != "" {
			return found
		}
		return first(t.NumExplicitMethods(), func(i int) types.Type { return t.ExplicitMethod(i).Type() })
	case *types.Union:
		return first(t.Len(), func(i int) types.Type { return t.Term(i).Type() })
	}
	return ""
}
