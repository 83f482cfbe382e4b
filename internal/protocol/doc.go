// Package protocol holds the tests of the protocols under proto: the generated code is that of their text, and what went
// over the wire once keeps its number, its type and its name.
//
// OpenAPI: docs/schema/curator.v1.openapi.json describes the calls of the curator that are answered once, as JSON.
//
// After a change of a protocol:
//
//	go test -tags slow ./internal/protocol -regenerate
//
// The plugins are the tools of go.mod; neither buf nor protoc is needed. Names and numbers that are known are listed in
// testdata/wire.txt. New ones are added to it; one that is missing fails, for whoever speaks the protocol still has it.
package protocol
