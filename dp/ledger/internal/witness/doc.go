// Package witness keeps lines of text outside a ledger's store: in a file, under
// a Git reference, or at a URL. It knows nothing of what the lines say.
package witness
