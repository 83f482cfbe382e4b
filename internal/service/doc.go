// Package service is what the network services of this module have in common:
// an HTTPS server that knows who asks, says how it is, keeps its limits and
// stops in order.
//
// Start with [New], mount handlers with [Server.Handle], and call [Server.Run]. It
// listens with TLS 1.3 or, without TLS, on loopback alone. Every route says which
// roles may use it ([Access]); there is no other way to mount one. Who asks is
// read from the client's certificate ([FromCertificate]) unless the service says
// otherwise.
//
// What a service tells of itself cannot name its users: metrics have no labels
// but those whose values are listed when the metric is made ([Metrics]), and a
// log drops every attribute whose key is not on its list ([NewLog]).
//
// Package authority issues certificates, package database opens stores and
// migrates their schemas.
package service
