// Package bench is the project's words: what a configuration, a plan, a host, a result
// and a cause are, and the two pure functions that everybody must agree on: how a
// configuration becomes a plan, and why a value was missed or late.
//
// It refuses goroutines, files, sockets and clocks. Times are time.Duration in
// configuration and int64 nanoseconds in measurements.
package bench
