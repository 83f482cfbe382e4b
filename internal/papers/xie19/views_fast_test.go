//go:build !slow

package xie19

// views are those whose yardsticks are tested: off-policy, which on-policy is a case of.
var views = []func() (*view, error){carOff}
