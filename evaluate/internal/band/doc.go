// Package band makes limits of a curve that hold together for all of its points.
package band
