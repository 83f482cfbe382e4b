// Package pages renders the page of a fleet's server: plain HTML that works without a
// script.
//
// Start with [Write]. A view holds what the page shows and nothing else: counts of a whole
// round, of a whole run and of the process, and what was estimated from randomised answers. It
// has no room for a device.
package pages
