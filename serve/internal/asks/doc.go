// Package asks keeps what the curator's service knows: asks and their states, the
// policies that analysts uploaded, tokens, notices for the steward, and who did what.
//
// Start with [Open]. A change and its line in the audit log are one transaction, and
// each line holds the hash of the line before ([Store.VerifyAudit]). Nothing in the
// store is private data but the notices, which are for the steward, and the releases
// that are still held back.
package asks
