// Package fleetstack holds the tests in which devices and an aggregator meet: what is learned over the network is what one process
// learns.
package fleetstack
