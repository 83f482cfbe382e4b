// Package signature signs JSON documents with Ed25519 (RFC 8032) and checks such
// signatures. A signature stands in the document it is over, as its member
// "signature", so that it travels with it:
//
//	s, err := signature.Make(document, privateKey) // then put s into the document
//	err = signature.Verify(document, publicKey)
//
// The signed bytes are the canonical form ([jcs.Without], RFC 8785) of the
// document without that member: a document may be indented or reordered on its
// way and its signature stays good; anything else that changes in it breaks the
// signature. There is no further framing, so any Ed25519 tool can check it; nothing
// but its content tells what kind of document was signed. Where that matters, and for
// the tools of cosign and in-toto, an [Envelope] (DSSE) signs the type as well:
//
//	e := signature.Seal(payloadType, payload, privateKey)
//	payload, err := signature.VerifyEnvelope(text, payloadType, publicKey)
//
// Keys are PEM files as OpenSSL reads and writes them: PKCS #8 for the private
// key, which nobody but its owner may be able to read, and SubjectPublicKeyInfo
// for the public one.
package signature
