// Package config has the sections of the YAML file of an evaluation, one type each. A program
// reads a [Config] with discreet.Load, or makes one in Go, and hands it to discreet.Plan and
// discreet.Evaluate. docs/configuration.md is the guide, docs/reference/keys.md lists the keys.
//
// What a value means, and what goes with what, is checked where the configuration is used:
// such an error wraps [ErrConfig] and names the key.
package config
