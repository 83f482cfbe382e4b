// Package pgtest starts a PostgreSQL server of one's own, for the tests of
// what keeps its data there.
//
// Start with [Start]. The server runs from the installed binaries
// (/usr/lib/postgresql/*/bin, or those on the PATH) in a temporary directory on a
// Unix socket, durable as a real one has to be, and ends with the process that
// started it. PostgreSQL refuses to run as root; for root it runs as the user
// postgres, or nobody.
//
// Where no server can be had, Start fails with [ErrUnavailable] and says why. A
// test should then skip loudly, and fail where [Required] says so.
package pgtest
