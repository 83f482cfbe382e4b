// Package tokens keeps who may present which bearer token, in a file of its own: the
// command that makes and revokes tokens writes it while the service runs, and the service
// reads it again when it changes.
//
// Start with [Open]. A token is 256 random bits and is shown once; the file holds its
// SHA-256, so that who reads the file can present none. It must be writable by the
// steward alone: whoever writes it makes tokens.
package tokens
