// Package worker runs commands one after another for a program that holds its standard input and
// output, so that each costs no start. docs/python.md says what the frames are.
//
// Start with [Serve]. A request is answered with what the command would have printed and its exit
// code. Nothing of a request outlives its answer: its context, its input and its output are its own.
package worker
