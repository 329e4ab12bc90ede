package client

import (
	"sync"
	"sync/atomic"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"

	"github.com/gopcua/opcua/ua"
)

// pump turns Publish responses into arrival records. Several goroutines, one for each
// outstanding request, hand their responses in; the lock makes them one owner at a time.
type pump struct {
	arrivals *record.Ring

	mu   sync.Mutex
	n    Counts
	rows window
	seen sequence
	acks []*ua.SubscriptionAcknowledgement
	last []int64 // newest index of each item; -1 none
	top  int64   // newest complete index; -1 none
	gap  *record.Gap

	newestK  atomic.Int64
	newestAt atomic.Int64
}

func newPump(cfg Config) *pump {
	p := &pump{arrivals: cfg.Arrivals, top: -1, last: make([]int64, cfg.Items)}
	for i := range p.last {
		p.last[i] = -1
	}
	p.rows.init(cfg.Items)
	p.seen.reset()
	p.newestK.Store(-1)
	return p
}

func (p *pump) newest() (k, received int64, ok bool) {
	k = p.newestK.Load()
	return k, p.newestAt.Load(), k >= 0
}

func (p *pump) counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.n
	n.Gaps += p.seen.missing()
	return n
}

// publishLoop keeps one Publish request outstanding on l. warm: through the library.
func (c *Client) publishLoop(l *link) {
	req := &ua.PublishRequest{}
	wait := newHandedContext(l.ctx, func(_, _ int64) {
		if c.echoes() {
			c.writer.kick() // the echo leaves after the next Publish request is out
		}
	})
	handle := func(r ua.Response) error {
		received := rt.Now() // R(k): the decoded value is in our hands
		if resp, ok := r.(*ua.PublishResponse); ok {
			c.handle(l, resp, received)
		}
		return nil
	}
	for l.ctx.Err() == nil {
		req.SubscriptionAcknowledgements = c.pump.takeAcks(req.SubscriptionAcknowledgements[:0])
		wait.rearm()
		if err := l.opc.Send(wait, req, handle); err != nil {
			if l.ctx.Err() != nil {
				return
			}
			c.pump.fault()
			l.fail(err)
			return
		}
		l.tcp.Look(rt.Now()) // the value is in our hands
	}
}

// echoes reports whether this client writes every value back by itself.
func (c *Client) echoes() bool { return c.cfg.Host == bench.HostServer && c.cfg.Writes != nil }

func (p *pump) takeAcks(dst []*ua.SubscriptionAcknowledgement) []*ua.SubscriptionAcknowledgement {
	p.mu.Lock()
	defer p.mu.Unlock()
	dst = append(dst, p.acks...)
	p.acks = p.acks[:0]
	return dst
}

func (p *pump) fault() {
	p.mu.Lock()
	p.n.Faults++
	p.mu.Unlock()
}

// handle takes one Publish response. warm.
func (c *Client) handle(l *link, resp *ua.PublishResponse, received int64) {
	p := c.pump
	p.mu.Lock()
	defer p.mu.Unlock()
	msg := resp.NotificationMessage
	if msg == nil || len(msg.NotificationData) == 0 { // Part 4, 5.14.1.1: a keep-alive
		p.n.KeepAlives++
		return
	}
	p.acks = append(p.acks, &ua.SubscriptionAcknowledgement{SubscriptionID: resp.SubscriptionID, SequenceNumber: msg.SequenceNumber})
	p.seen.take(msg.SequenceNumber)
	p.n.Messages++
	m := message{received: received, sequence: int64(msg.SequenceNumber), request: int64(resp.ResponseHeader.RequestHandle)}
	m.kernel, m.stamped = l.stamps.take(resp.ResponseHeader.RequestHandle)
	if !m.stamped {
		p.n.Unstamped++
	}
	for _, x := range msg.NotificationData {
		if d, ok := x.Value.(*ua.DataChangeNotification); ok {
			m.values += int64(len(d.MonitoredItems))
			p.changes(d.MonitoredItems, &m)
		}
	}
	p.emit(&m)
	if p.top >= 0 {
		p.newestAt.Store(received)
		p.newestK.Store(p.top)
		if c.echoes() {
			c.writer.offer(p.top)
		}
	}
}

// message is what one notification message says about every index it completes.
type message struct {
	received, kernel  int64
	stamped           bool
	sequence, request int64
	values            int64
}

func (p *pump) changes(items []*ua.MonitoredItemNotification, m *message) {
	for _, it := range items {
		p.n.Values++
		k, ok := p.index(it)
		if !ok {
			p.n.Bad++
			continue
		}
		p.book(k, it.ClientHandle)
	}
}

// index reads the grid index of one value.
func (p *pump) index(it *ua.MonitoredItemNotification) (int64, bool) {
	if it.Value == nil || it.Value.Value == nil || int(it.ClientHandle) >= len(p.last) {
		return 0, false
	}
	if s := it.Value.Status; s != 0 {
		const overflow = 0x480 // Part 4, 7.38.1: InfoType DataValue with Overflow
		if s&overflow == overflow {
			p.n.Overflows++
		}
		if s&0xC0000000 != 0 {
			return 0, false
		}
	}
	v, ok := it.Value.Value.Value().(int32)
	if !ok {
		return 0, false
	}
	last := p.last[it.ClientHandle]
	k := int64(v) // of the first value there is nothing to unwrap by
	if near := max(last, p.top); near >= 0 {
		k = bench.Unwrap(v, near)
	}
	return k, k >= 0 // no index is negative: a first value below 0, or one from before the start
}

// book counts one value of index k and keeps its item's books.
func (p *pump) book(k int64, item uint32) {
	again := p.rows.add(k, item, p.emitPartial)
	last := &p.last[item]
	switch {
	case again || k == *last:
		p.n.Duplicates++
	case k > *last:
		*last = k
	default:
		p.n.Reordered++
	}
	p.rows.touched(k)
}

// emit puts a record for every index that this message completed.
func (p *pump) emit(m *message) {
	for _, k := range p.rows.drainTouched() {
		r := p.rows.settle(k)
		if r == nil {
			continue
		}
		if p.gap != nil {
			p.closeGap(k)
		}
		p.top = max(p.top, k)
		p.put(r, m, 0)
	}
}

func (p *pump) put(r *row, m *message, flags record.Flags) {
	a := record.Arrival{Flags: flags, K: r.k, Received: m.received, Kernel: m.kernel, Sequence: m.sequence,
		Values: r.count, Most: m.values, Request: m.request, Again: r.again}
	if m.stamped {
		a.Flags |= record.FlagStamped
	}
	var rec record.Record
	a.Record(&rec)
	p.arrivals.Put(&rec)
}

// emitPartial reports an index that leaves the window, or the run, incomplete.
func (p *pump) emitPartial(r *row) {
	p.put(r, &message{}, record.FlagPartial)
}

func (p *pump) closeGap(k int64) {
	p.gap.Last = k - 1
	var rec record.Record
	p.gap.Record(&rec)
	p.arrivals.Put(&rec)
	p.gap = nil
}

// flush reports what is incomplete at the end.
func (p *pump) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gap != nil {
		p.closeGap(int64(1) << 62) // never came back
	}
	p.rows.flush(p.emitPartial)
}
