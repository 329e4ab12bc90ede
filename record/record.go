// Package record is hot memory: the fixed-size records that a measured process writes
// into a mapping it shares with the conductor, and the series, second blocks and windows
// that the conductor fills from them.
//
// It refuses to allocate after New, to know what a record means for a verdict, and to
// drop anything uncounted: a ring that is full counts the record it could not take.
package record

// Kind tells which of the records below a slot holds.
type Kind uint32

const (
	KindNone    Kind = iota
	KindRelease      // one executed release of the PLC task
	KindSent         // one message with values left the server
	KindDrop         // a value of index K left a queue without being sent
	KindArrival      // value K is complete in the client's hands
	KindWrite        // one Write of the client, echo or PLC output
	KindPause        // one collector pause
	KindGap          // no session or subscription from K to Last
	KindEcho         // the client's Write of value K reached the server
)

// Flags qualify one record.
type Flags uint32

const (
	FlagNoRequest Flags = 1 << iota // Sent, Release: a value was due and no Publish request waited
	FlagOverflow                    // Sent: the Overflow bit was set on a value
	FlagSlow                        // Release: a connection's backlog was not empty, its values had to wait
	FlagStamped                     // Arrival: Kernel holds a matched kernel receive stamp
	FlagFailed                      // Write: answered with a bad status, or could not be sent
	FlagNoAck                       // Write: no answer until the end
	FlagStale                       // Release (host = client): ran on a value it had used before
	FlagQueueOne                    // Drop: overwritten in a queue of size 1
	FlagPartial                     // Arrival: fewer values than items, closed by drain
	FlagQueued                      // Sent: the kernel did not take all of it at once
	FlagKeepAlive                   // Sent: a keep-alive, no value
)

// Size is the size of every record in bytes: two cache lines.
const Size = 128

// Record is one slot. Its meaning depends on Kind; the constructors and accessors of
// this file are the only ones who know the layout. Instants are CLOCK_MONOTONIC ns of the
// process that wrote it, unless said otherwise.
//
// NB: written by exactly one thread per ring, read by the conductor after the ring's
// head has moved past it.
type Record struct {
	Kind  Kind
	Flags Flags
	K     int64 // grid index
	A     [14]int64
}

// Release is one executed release of the cyclic task (metrics.md, "Instants of release k").
type Release struct {
	Flags    Flags
	K        int64
	Due      int64 // S(k)
	Wake     int64 // W(k)
	Begin    int64 // C0(k)
	End      int64 // C1(k)
	Done     int64 // X(k)
	CPU      int64 // thread CPU time used from Wake to Done, ns
	RunDelay int64 // time runnable and not running since the previous release's reading, ns; −1 unknown
	Minor    int64 // minor page faults since the previous reading
	Major    int64 // major page faults
	Switches int64 // involuntary context switches since the previous reading
	OnCPU    int64 // the CPU the task ran on at Done
	Input    int64 // host = client: the grid index of the value that this release ran on, −1 none
	Inbox    int64 // server requests handled in this release
	Result   int64 // checksum of the workload, so that no compiler drops it
}

// Record packs r for a ring. hot.
func (r *Release) Record(dst *Record) {
	*dst = Record{Kind: KindRelease, Flags: r.Flags, K: r.K, A: [14]int64{
		r.Due, r.Wake, r.Begin, r.End, r.Done, r.CPU, r.RunDelay, r.Minor, r.Major, r.Switches, r.OnCPU, r.Input, r.Inbox, r.Result}}
}

// Release unpacks a KindRelease record.
func (r *Record) Release() Release {
	a := &r.A
	return Release{Flags: r.Flags, K: r.K, Due: a[0], Wake: a[1], Begin: a[2], End: a[3], Done: a[4], CPU: a[5],
		RunDelay: a[6], Minor: a[7], Major: a[8], Switches: a[9], OnCPU: a[10], Input: a[11], Inbox: a[12], Result: a[13]}
}

// Sent is one notification message that left the server with values First..K.
type Sent struct {
	Flags        Flags
	K            int64 // newest index in the message
	First        int64 // oldest index in the message
	Values       int64 // values in the message
	Sequence     int64 // its sequence number
	Before       int64 // P: clock before encoding and sending
	After        int64 // clock when the send call returned
	Request      int64 // request id of the Publish request it answers
	Subscription int64
	Bytes        int64
	Release      int64 // index of the release in which it left
	Waiting      int64 // Publish requests that still wait after it
}

// Record packs s for a ring. hot.
func (s *Sent) Record(dst *Record) {
	*dst = Record{Kind: KindSent, Flags: s.Flags, K: s.K, A: [14]int64{
		s.First, s.Values, s.Sequence, s.Before, s.After, s.Request, s.Subscription, s.Bytes, s.Release, s.Waiting}}
}

// Sent unpacks a KindSent record.
func (r *Record) Sent() Sent {
	a := &r.A
	return Sent{Flags: r.Flags, K: r.K, First: a[0], Values: a[1], Sequence: a[2], Before: a[3], After: a[4],
		Request: a[5], Subscription: a[6], Bytes: a[7], Release: a[8], Waiting: a[9]}
}

// Drop says that values of index K left a queue of a subscription unsent.
type Drop struct {
	Flags        Flags
	K            int64
	Values       int64 // how many items lost theirs
	Subscription int64
	At           int64
}

// Record packs d for a ring. hot.
func (d *Drop) Record(dst *Record) {
	*dst = Record{Kind: KindDrop, Flags: d.Flags, K: d.K, A: [14]int64{d.Values, d.Subscription, d.At}}
}

// Drop unpacks a KindDrop record.
func (r *Record) Drop() Drop {
	return Drop{Flags: r.Flags, K: r.K, Values: r.A[0], Subscription: r.A[1], At: r.A[2]}
}

// Arrival is value K, of every monitored item, in the client's hands.
type Arrival struct {
	Flags    Flags
	K        int64
	Received int64 // R(k)
	Kernel   int64 // kernel receive stamp, CLOCK_REALTIME ns; only with FlagStamped
	Sequence int64
	Values   int64 // values of index K that came; all monitored items unless FlagPartial
	Most     int64 // values in the message
	Request  int64 // request handle
	Again    int64 // values of K that came a second time
}

// Record packs a for a ring. hot.
func (a *Arrival) Record(dst *Record) {
	*dst = Record{Kind: KindArrival, Flags: a.Flags, K: a.K, A: [14]int64{
		a.Received, a.Kernel, a.Sequence, a.Values, a.Most, a.Request, a.Again}}
}

// Arrival unpacks a KindArrival record.
func (r *Record) Arrival() Arrival {
	a := &r.A
	return Arrival{Flags: r.Flags, K: r.K, Received: a[0], Kernel: a[1], Sequence: a[2], Values: a[3], Most: a[4], Request: a[5], Again: a[6]}
}

// Write is one Write request of the client that carries value K.
type Write struct {
	Flags   Flags
	K       int64
	Begin   int64 // the call begins
	Encoded int64 // encoding done, before the first byte is handed over
	Handed  int64 // handed to the socket
	Acked   int64 // A(k): the response decoded; 0 with FlagNoAck
	Status  int64 // OPC UA status code of the response or of the item
}

// Record packs w for a ring. hot.
func (w *Write) Record(dst *Record) {
	*dst = Record{Kind: KindWrite, Flags: w.Flags, K: w.K, A: [14]int64{w.Begin, w.Encoded, w.Handed, w.Acked, w.Status}}
}

// Write unpacks a KindWrite record.
func (r *Record) Write() Write {
	a := &r.A
	return Write{Flags: r.Flags, K: r.K, Begin: a[0], Encoded: a[1], Handed: a[2], Acked: a[3], Status: a[4]}
}

// Gap is a stretch without a session or subscription, in the client's eyes.
type Gap struct {
	K    int64 // first index that may be missing
	Last int64
	From int64
	To   int64
}

// Record packs g for a ring.
func (g *Gap) Record(dst *Record) {
	*dst = Record{Kind: KindGap, K: g.K, A: [14]int64{g.Last, g.From, g.To}}
}

// Gap unpacks a KindGap record.
func (r *Record) Gap() Gap { return Gap{K: r.K, Last: r.A[0], From: r.A[1], To: r.A[2]} }

// Echo is the arrival of the client's Write of value K at the server.
type Echo struct {
	K  int64
	At int64 // when the decoded Write was accepted
}

// Record packs e for a ring. hot.
func (e *Echo) Record(dst *Record) { *dst = Record{Kind: KindEcho, K: e.K, A: [14]int64{e.At}} }

// Echo unpacks a KindEcho record.
func (r *Record) Echo() Echo { return Echo{K: r.K, At: r.A[0]} }
