// Package tokens keeps who may present which bearer token: in a file, which the command
// that makes and revokes tokens writes while the service runs, or wherever else a [Source]
// reads them, such as the database that several services share. A service looks again
// every second.
//
// Start with [Follow]. A token is 256 random bits and is shown once; its SHA-256 is kept, so
// that who reads that can present none. What holds it must be writable by the steward
// alone: whoever writes it makes tokens.
package tokens
