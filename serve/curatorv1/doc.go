// Package curatorv1 is generated from proto/discreet/curator/v1: the messages of the curator's service, and the clients
// and handlers over Connect. What the calls mean, and who may use them, is in package serve.
package curatorv1
