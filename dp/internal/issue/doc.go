// Package issue holds what it takes to issue a receipt. Packages outside dp cannot
// import it, so that a receipt of a charge (Issue of dp/receipt) comes from package
// ledger alone, which calls [New] once the charge is committed.
package issue
