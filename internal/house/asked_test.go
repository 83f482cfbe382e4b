package house

import (
	"go/ast"
	"go/types"
	"path"
	"testing"
)

// leftOut counts where it is tested what a question leaves out: comparisons with nil of a pointer to the type of
// a public fact, and uses of what stands for one. The numbers are exact, so that they come down with the places
// that know of a kind of question, and go up only where somebody sees it.
var leftOut = map[string]map[string]int{
	"evaluate": {
		"EstimatedBehavior": 3, "Targets": 3, "Groups": 4, "Privacy": 1, // of [Public] each once: the others are of copies and of methods of nil
		"Public.regime": 5, "Public.estimates": 15, "Public.private": 19, "Targets.alone": 11, "Groups.some": 9,
	},
	"internal/spec": {"EstimatedBehavior": 1, "Targets": 2, "Groups": 1, "Privacy": 1},
}

// TestWhatAQuestionLeavesOutIsTestedInFewPlaces counts them by types.
func TestWhatAQuestionLeavesOutIsTestedInFewPlaces(t *testing.T) {
	var packages []string
	for pkg := range leftOut {
		packages = append(packages, pkg)
	}
	c := newChecker(t, packages)
	for _, pkg := range packages {
		found := testsOf(c.check(t, pkg))
		for name, n := range leftOut[pkg] {
			if found[name] != n {
				t.Errorf("%s tests %s in %d places, and %d are in the list: lower the number, or ask where one place knows", pkg, name, found[name], n)
			}
			delete(found, name)
		}
		for name, n := range found {
			t.Errorf("%s tests %s in %d places, and none is in the list", pkg, name, n)
		}
	}
}

// testsOf counts the places of a package by what they test.
func testsOf(c checked) map[string]int {
	found := map[string]int{}
	of := func(t types.Type) string {
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		n, ok := t.(*types.Named)
		if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != path.Join(module, "evaluate") {
			return ""
		}
		return n.Obj().Name()
	}
	for _, file := range c.asts {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if name := of(c.info.TypeOf(n.X)); leftOut["evaluate"][name] > 0 && types.ExprString(n.Y) == "nil" {
					found[name]++
				}
			case *ast.SelectorExpr:
				if s := c.info.Selections[n]; s != nil {
					if name := of(s.Recv()) + "." + s.Obj().Name(); leftOut["evaluate"][name] > 0 {
						found[name]++
					}
				}
			}
			return true
		})
	}
	return found
}
