package client

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

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
	handed chan struct{} // an awaited Write was handed over: one signal each, taken by the PLC thread
	told   bool          // the signal of the present Write was given
	req    *ua.WriteRequest
	value  *ua.DataValue
	rec    record.Write
	ctx    *handedContext
}

// turn is one Write for a lane: value is the grid index that it carries, k the release
// that it belongs to; awaited: the PLC thread waits for the hand-over.
type turn struct {
	k, value int64
	awaited  bool
}

func newWriter(c *Client, cfg Config) *writer {
	w := &writer{c: c, ring: cfg.Writes, lanes: make(chan *lane, writerLanes)}
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
			w.wg.Add(1) // before the lane has it: idle must not miss it
			ln.start <- turn{k: k, value: k}
			return
		}
		w.lanes <- ln
	default: // one is outstanding: the next offer counts this one as skipped
	}
}

// Write hands the output of release k to the socket and returns; the answer is awaited
// elsewhere. It carries value, the grid index that the release ran on: that is what the
// server takes the loop time by. It waits for the hand-over, never for the answer. ok is
// false when every lane still waits for an answer. warm.
func (c *Client) Write(k, value int64) (ok bool) {
	w := c.writer
	select {
	case ln := <-w.lanes:
		w.wg.Add(1) // before the lane has it: idle must not miss it
		ln.start <- turn{k, value, true}
		<-ln.handed
		return true
	default:
		w.put(&record.Write{Flags: record.FlagFailed | record.FlagNoAck, K: k, Begin: rt.Now()})
		return false
	}
}

// run sends one Write after the other; it ends when start is closed.
func (ln *lane) run() {
	ln.ctx = newHandedContext(context.Background(), func(encoded, handed int64) {
		ln.rec.Encoded, ln.rec.Handed = encoded, handed
		ln.tell()
	})
	for t := range ln.start {
		ln.told = !t.awaited
		ln.send(t.k, t.value)
		ln.w.put(&ln.rec)
		ln.tell() // a failed Send never reached the hand-over
		ln.w.lanes <- ln
		ln.w.wg.Done()
	}
}

// tell gives the one signal of an awaited Write.
func (ln *lane) tell() {
	if !ln.told {
		ln.told = true
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
