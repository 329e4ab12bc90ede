// Package server is the embedded OPC UA server: sessions, discovery, attribute and view
// services on the goroutine of each connection, and a subscription engine that the PLC
// thread owns and calls at fixed places of its cycle ([Server.Inputs], [Server.Outputs],
// [Server.Idle]).
//
// Two worlds meet here and share four things only:
//
//   - the process image: atomics that the PLC thread writes and any goroutine reads, and
//     the echo that any goroutine writes and the PLC thread reads;
//   - one bounded single-producer queue per connection, in which its goroutine leaves
//     orders (checked and with all their memory made) for the PLC thread;
//   - the secure channel, whose TrySend never waits;
//   - counters.
//
// It refuses: to make the PLC thread wait for a socket, a lock, the allocator or a
// reflective codec; values by a second free-running ticker; a time of its own (keep-alive
// and lifetime are counted in publishing cycles, and those in releases of the task; only
// sessions and channels without one are timed, by a housekeeping goroutine); historical
// access, methods, events, node management and queries, which are answered with
// BadServiceUnsupported; user names and certificates as identities; and every limit
// overrun, with the status code that names it.
//
// Specification: OPC 10000-4 (Part 4), https://reference.opcfoundation.org/Core/Part4/v105/docs/5
// and OPC 10000-6 (Part 6), https://reference.opcfoundation.org/Core/Part6/v105/docs/5
package server
