// Package mutants holds no code. Its slow test breaks the privacy code on
// purpose, one seeded fault at a time (halved noise, dropped clip, wrong
// adjacency, uncharged run, ...), and wants the ordinary tests to fail for each.
package mutants
