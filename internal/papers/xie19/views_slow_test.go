//go:build slow

package xie19

// views are those whose yardsticks are tested.
var views = []func() (*view, error){carOn, carOff}
