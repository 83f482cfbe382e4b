// Package sorter puts records in the order of their keys, on disk where there are many.
//
// Start with [New]; [Sorter.Put] adds a record, and [Sorter.Sorted] gives all of them in
// order. Records hold data about people: their files have no names, and mode 0600.
package sorter
