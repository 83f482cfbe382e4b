// Package notify tells people outside of the service that there is a notice: by HTTP POST to a
// webhook, or by mail. What it sends passes third parties, so a [Message] has room for the name of
// a dataset, the kind of notice and a link, and for nothing that a check found.
//
// Start with a [Webhook] or a [Mail]. Both verify the certificate of the other side, except on
// loopback, follow no redirect, read little of an answer, and end with their time. Neither retries:
// the caller knows what was delivered.
package notify
