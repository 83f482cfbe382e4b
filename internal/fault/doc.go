// Package fault says of an error whose it is to mend: the caller's, who gave a
// configuration or data that cannot be, the ledger's, which will not pay, or
// nobody's. A package marks its own sentinels where it makes them:
//
//	var ErrParameter = fault.Input("invalid parameter")
//
// and whoever ends a program asks [Of] for the class of what came back, however it
// is wrapped. An error without a mark has no class: something failed.
package fault
