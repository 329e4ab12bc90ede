package client

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"

	"github.com/gopcua/opcua/ua"
)

// writerLanes is how many Writes of the PLC in the client may be unanswered at once; a
// release that finds no free lane has its Write counted as failed, it never waits.
const writerLanes = 8

// writer sends value k back: as the echo (host = server, at most one outstanding, else
// echo_skipped) or as the PLC's output (host = client, handed over within the release).
type writer struct {
	c       *Client
	pending atomic.Int64 // newest index to echo, −1 none
	lanes   chan *lane
	wg      sync.WaitGroup

	interval time.Duration // how long the PLC thread waits for a hand-over: one cycle
	limit    *time.Timer   // of that wait; the PLC thread's

	mu      sync.Mutex // guards ring and counters
	ring    *record.Ring
	writes  int64
	failed  int64
	skipped int64
}

// lane is one goroutine that sends a Write and waits for its answer.
type lane struct {
	w      *writer
	start  chan turn
	handed chan struct{} // the hand-over of the present turn; Write empties it before the next
	state  atomic.Int32  // of the present turn; who moves it from awaited puts its record
	req    *ua.WriteRequest
	value  *ua.DataValue
	rec    record.Write
	ctx    *handedContext
}

// turn is one Write for a lane: value is the grid index that it carries, k the release
// that it belongs to.
type turn struct{ k, value int64 }

// The states of a lane's turn.
const (
	awaited   int32 = iota // the PLC thread waits for the hand-over
	told                   // handed over or failed, or an echo: the lane puts the record
	abandoned              // the PLC thread has waited for a cycle, and has put the record
)

func newWriter(c *Client, cfg Config) *writer {
	w := &writer{c: c, ring: cfg.Writes, lanes: make(chan *lane, writerLanes),
		interval: cfg.Interval, limit: time.NewTimer(time.Hour)}
	w.limit.Stop()
	w.pending.Store(-1)
	n := 1
	if cfg.Host == bench.HostClient {
		n = writerLanes
	}
	for range n {
		w.lanes <- newLane(w)
	}
	return w
}

func newLane(w *writer) *lane {
	ln := &lane{w: w, start: make(chan turn, 1), handed: make(chan struct{}, 1)}
	ln.value = &ua.DataValue{EncodingMask: ua.DataValueValue}
	ln.req = &ua.WriteRequest{NodesToWrite: []*ua.WriteValue{{AttributeID: ua.AttributeIDValue, Value: ln.value}}}
	go ln.run()
	return ln
}

func (w *writer) countInto(n *Counts) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n.Writes, n.Failed, n.EchoSkip = w.writes, w.failed, w.skipped
}

// offer makes k the next value to echo; one that was not yet taken is counted as skipped.
func (w *writer) offer(k int64) {
	if old := w.pending.Swap(k); old >= 0 && old != k {
		w.skip()
	}
}

func (w *writer) skip() {
	w.mu.Lock()
	w.skipped++
	w.mu.Unlock()
}

// kick sends the pending echo if none is outstanding.
func (w *writer) kick() {
	if w.pending.Load() < 0 {
		return
	}
	select {
	case ln := <-w.lanes:
		if k := w.pending.Swap(-1); k >= 0 {
			w.wg.Add(1)          // before the lane has it: idle must not miss it
			ln.state.Store(told) // by nobody awaited
			ln.start <- turn{k, k}
			return
		}
		w.lanes <- ln
	default: // one is outstanding: the next offer counts this one as skipped
	}
}

// Write hands the output of release k to the socket and returns; the answer is awaited
// elsewhere. It carries value, the grid index that the release ran on: that is what the
// server takes the loop time by. It waits for the hand-over, at most for one cycle, and
// never for the answer. ok is false when it was not handed over in that time or every lane
// is still busy: the Write counts as failed then. Every release has exactly one record.
//
// NB: one goroutine at a time. warm.
func (c *Client) Write(k, value int64) (ok bool) {
	w, begin := c.writer, rt.Now()
	select {
	case ln := <-w.lanes:
		w.wg.Add(1) // before the lane has it: idle must not miss it
		ln.begin(turn{k, value})
		if ln.await() {
			return true
		}
	default:
	}
	w.put(&record.Write{Flags: record.FlagFailed | record.FlagNoAck, K: k, Begin: begin})
	return false
}

// begin gives the lane an awaited turn. The lane is at rest: nobody else signals now.
func (ln *lane) begin(t turn) {
	select {
	case <-ln.handed: // of an earlier turn: it came when its wait was over
	default:
	}
	ln.state.Store(awaited)
	ln.start <- t
}

// await reports whether the turn was handed over, or has failed, within a cycle; if not
// the turn is abandoned.
func (ln *lane) await() bool {
	ln.w.limit.Reset(ln.w.interval)
	defer ln.w.limit.Stop()
	select {
	case <-ln.handed:
		return true
	case <-ln.w.limit.C:
		return !ln.state.CompareAndSwap(awaited, abandoned)
	}
}

// run sends one Write after the other; it ends when start is closed.
func (ln *lane) run() {
	ln.ctx = newHandedContext(context.Background(), func(encoded, handed int64) {
		ln.rec.Encoded, ln.rec.Handed = encoded, handed
		ln.tell()
	})
	for t := range ln.start {
		if ln.state.Load() != abandoned { // before it began: an old value is not sent late
			ln.send(t.k, t.value)
		}
		ln.tell() // a failed Send never reached the hand-over
		if ln.state.Load() == told {
			ln.w.put(&ln.rec)
		}
		ln.w.lanes <- ln
		ln.w.wg.Done()
	}
}

// tell gives the one signal of an awaited Write, unless nobody waits any more.
func (ln *lane) tell() {
	if ln.state.CompareAndSwap(awaited, told) {
		ln.handed <- struct{}{}
	}
}

func (ln *lane) send(k, value int64) {
	ln.rec = record.Write{K: k, Begin: rt.Now()}
	l := ln.w.c.link.Load()
	ln.ctx.Context = l.ctx
	ln.ctx.rearm()
	ln.req.NodesToWrite[0].NodeID = l.echo
	ln.value.Value = ua.MustVariant(bench.Value(value))
	err := l.opc.Send(ln.ctx, ln.req, func(r ua.Response) error {
		ln.rec.Acked = rt.Now()
		if resp, ok := r.(*ua.WriteResponse); ok && len(resp.Results) == 1 {
			ln.rec.Status = int64(resp.Results[0])
		}
		return nil
	})
	var code ua.StatusCode
	switch {
	case err != nil && ln.rec.Acked == 0:
		ln.rec.Flags |= record.FlagNoAck
		if errors.As(err, &code) {
			ln.rec.Status = int64(code)
		}
	case err != nil || ln.rec.Status != 0:
		ln.rec.Flags |= record.FlagFailed
	}
}

// put stores one finished Write.
func (w *writer) put(r *record.Write) {
	var rec record.Record
	r.Record(&rec)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	if r.Flags&(record.FlagFailed|record.FlagNoAck) != 0 {
		w.failed++
	}
	w.ring.Put(&rec)
}

// idle waits until no Write is under way; its connection is closed, so none can last.
func (w *writer) idle() { w.wg.Wait() }

// Close ends the lanes; no Write may be under way or come after.
func (c *Client) Close() {
	for range cap(c.writer.lanes) {
		select {
		case ln := <-c.writer.lanes:
			close(ln.start)
		default:
			return
		}
	}
}
