// Package host reads the fingerprint of a machine, and the counters around a run, from
// the files below a given root: "/" in production, a fixture tree in tests.
//
// It changes nothing, measures nothing and judges nothing. What cannot be read is left
// empty and named with its reason in Host.Unreadable: a zero is never an unknown.
package host
