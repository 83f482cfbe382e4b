// Package pages renders the console of the curator's service: plain HTML that works
// without a script, in light and dark, from 400 pixels up, and that asks no other host
// for anything.
//
// Start with [Write]. Views hold what a page shows and nothing else; whoever makes one
// decides what the reader may see. html/template escapes every text that a person wrote.
package pages
