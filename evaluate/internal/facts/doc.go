// Package facts holds the public facts of an evaluation as plain values: what is
// known, and may be told, without the data. The numerics of all methods rest on
// them and on nothing else but the data. Start with [Public], which package
// evaluate fills from its own, validated facts.
package facts
