// Package wire is the server's side of opc.tcp: the HEL/ACK handshake, the
// secure channel (OPN issue and renewal, MSG, CLO), chunks, their sealing and
// opening, over buffers that are made once per connection.
//
// It stands on the exported parts of github.com/gopcua/opcua (uapolicy for the
// asymmetric algorithms, uacp for the messages of the handshake, ua for the
// codec) and not on uasc.SecureChannel, which allocates 125 times for one
// Publish request and its answer, checks no sequence number, re-uses token ids
// and holds its lock over a blocking write.
//
// Two parties send on one [Channel]. The connection's goroutine calls
// [Channel.Receive] and [Channel.Send] and may wait. The PLC thread calls
// [Channel.TrySend] and never waits, neither for the socket nor for the other
// sender: what the kernel does not take stays in a bounded backlog that the
// channel's own goroutine writes, and while a backlog waits every further
// TrySend is refused.
//
// It refuses: reverse connections, deprecated security policies, a
// second Issue on one channel, chunks of two messages mixed, OPN in more than one
// chunk, every sequence number but the next one, and every limit overrun. It
// decodes no service but OpenSecureChannel, knows no session, opens no listener, reads no
// clock in TrySend, and imports nothing of ours; the non-blocking write is injected
// ([Config.SendNow]), so the package builds on every system.
//
// Specification: OPC 10000-6 (Part 6), https://reference.opcfoundation.org/Core/Part6/v105/docs/6.7
// and https://reference.opcfoundation.org/Core/Part6/v105/docs/7.1, and for the life
// of a token OPC 10000-4, https://reference.opcfoundation.org/Core/Part4/v105/docs/5.6.2
package wire
