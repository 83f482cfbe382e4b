// Package jcs writes JSON in its canonical form, so that two people who hold the
// same document hash and sign the same bytes, however it was indented or its
// members ordered:
//
//	canonical, err := jcs.Canonical(text)
//
// The form is that of RFC 8785 (JSON Canonicalization Scheme): no white space,
// members sorted by the UTF-16 code units of their names, strings with the fewest
// escapes, numbers as ECMAScript prints the nearest float64.
//
// The RFC builds upon I-JSON (RFC 7493) and so does this package: a repeated
// member, text that is not Unicode, a whole number that no float64 holds and
// anything after the document are errors. Otherwise two readers could take the
// same signed bytes for different documents.
package jcs
