// Package mutants holds no code. Its slow test breaks the privacy code on
// purpose, one seeded fault at a time (halved noise, dropped clip, wrong
// adjacency, uncharged run, ...), and wants the ordinary tests to fail for each.
// Which were killed is recorded, by what they are made of; what is recorded is not
// killed again in every run, but for a share (with -every all are, and with -record it is written down).
package mutants
