// Package filelock keeps other processes, and other holders in this one, out of
// what a file stands for.
//
// Start with [Take]. The system releases a lock when its process ends, however it
// ends, where it knows flock; elsewhere the file itself is the lock, and a person
// has to remove what a killed process left.
package filelock
