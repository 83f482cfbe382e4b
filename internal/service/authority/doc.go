// Package authority is a small certificate authority: P-256 keys, X.509
// certificates for clients and servers of one service, and nothing that such a
// service does not need.
//
// Start with [Create] or [Open], and [Authority.Issue] a certificate for a request
// that a client made with [Request]. Of a request nothing is taken over but the public
// key: role and name come from the authority, so a request cannot ask for more
// than its holder may have.
package authority
