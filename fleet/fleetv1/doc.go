// Package fleetv1 is generated from proto/discreet/fleet/v1: the messages of training over a network, and the clients and
// handlers of its services over Connect. What the messages mean, and how they are checked, is in package internal/fleet.
package fleetv1
