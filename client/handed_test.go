package client

import (
	"context"
	"testing"
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uacp"

	"opcycle/bench"
	"opcycle/record"
)

// asked is a context that notes at each question how many chunks had left.
type asked struct {
	context.Context
	onDone func()
}

func (c asked) Done() <-chan struct{} {
	c.onDone()
	return c.Context.Done()
}

// handedContext leans on this behaviour of gopcua v0.9.1: Done is asked once before each
// chunk is written and once after the last, before the answer is awaited. When a later
// version asks at other moments, Client Transmit Time needs another way.
func TestTheLibraryAsksDoneAroundEveryChunk(t *testing.T) {
	clean(t)
	p := newPlant(t, 1)
	via := newProxy(t, p.Addr().String())
	ack := *uacp.DefaultClientACK
	ack.ReceiveBufSize, ack.SendBufSize = 8192, 8192
	c, err := opcua.NewClient(via.endpoint(), opcua.AutoReconnect(false), opcua.Dialer(&uacp.Dialer{ClientACK: &ack}))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Connect(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	for name, nodes := range map[string]int{"one chunk": 1, "several chunks": 2000} {
		t.Run(name, func(t *testing.T) {
			req := &ua.ReadRequest{TimestampsToReturn: ua.TimestampsToReturnNeither}
			for range nodes {
				req.NodesToRead = append(req.NodesToRead, &ua.ReadValueID{NodeID: ua.NewNumericNodeID(0, 2258), AttributeID: ua.AttributeIDValue, DataEncoding: &ua.QualifiedName{}})
			}
			before, questions, answered := via.sent(), 0, false
			ctx := asked{context.Background(), func() {
				// What was written has left: it reaches the proxy without the answer to this.
				eventually(t, "the chunks before the question", func() bool { return via.sent() >= before+questions })
				if got := via.sent() - before; got != questions || answered {
					t.Errorf("question %d: %d chunks had left, answered %v", questions+1, got, answered)
				}
				questions++
			}}
			if err := c.Send(ctx, req, func(ua.Response) error { answered = true; return nil }); err != nil {
				t.Fatal(err)
			}
			if chunks := via.sent() - before; questions != chunks+1 || !answered || (nodes > 1) != (chunks > 1) {
				t.Errorf("%d questions for %d chunks, answered %v", questions, chunks, answered)
			}
		})
	}
}

func TestHandedContextTellsTheTwoInstantsOnce(t *testing.T) {
	parent, cancel := context.WithCancel(context.Background())
	told := 0
	var at [2]int64
	c := newHandedContext(parent, func(encoded, handed int64) { told++; at = [2]int64{encoded, handed} })
	for request := 1; request <= 2; request++ {
		c.rearm()
		for range 3 {
			if c.Done() != parent.Done() {
				t.Error("another channel than the parent's")
			}
		}
		if told != request || at[0] == 0 || at[1] < at[0] {
			t.Errorf("request %d: told %d times, %v", request, told, at)
		}
	}
	cancel()
	if c.Err() == nil {
		t.Error("the parent's end is not seen")
	}
}

// A Write is in the result with its instants in order, whoever hosts the task.
func TestWritesHaveTheirInstantsInOrder(t *testing.T) {
	for _, host := range []bench.PLCHost{bench.HostServer, bench.HostClient} {
		t.Run(string(host), func(t *testing.T) {
			clean(t)
			p := newPlant(t, 1)
			cfg := config(t, p.Endpoint(), host)
			cfg.Interval = patience // no hand-over takes so long
			r := run(t, cfg)
			const n = 20
			for k := int64(0); host == bench.HostClient && k < n; k++ {
				eventually(t, "a free lane", func() bool { return len(r.writer.lanes) > 0 })
				if !r.Write(k, k) {
					t.Error("a free lane was not taken")
				}
			}
			eventually(t, "the Writes", func() bool { return r.Counts().Writes >= n })
			if err := r.stopped(t); err != nil {
				t.Error(err)
			}
			if int64(len(r.writes)) != r.Counts().Writes {
				t.Errorf("%d records of %d Writes", len(r.writes), r.Counts().Writes)
			}
			acked := 0
			for _, w := range r.writes {
				if w.Flags != 0 {
					continue // the end came first
				}
				acked++
				if w.Begin == 0 || w.Encoded < w.Begin || w.Handed < w.Encoded || w.Acked < w.Handed || w.Status != 0 {
					t.Errorf("%+v", w)
				}
			}
			if acked < n-1 {
				t.Errorf("%d of %d Writes were acknowledged", acked, n)
			}
		})
	}
}

// The PLC thread may be descheduled between starting a Write and waiting for its
// hand-over, for longer than the answer takes. It must not wait for ever then.
func TestAWriteThatIsAnsweredBeforeItIsAwaited(t *testing.T) {
	p := newPlant(t, 1)
	r := run(t, config(t, p.Endpoint(), bench.HostClient))
	ln := <-r.writer.lanes // as Write does
	r.writer.wg.Add(1)
	ln.begin(turn{7, 7})
	eventually(t, "the answer", func() bool { return r.Counts().Writes == 1 && len(r.writer.lanes) == writerLanes })
	if !ln.await() {
		t.Error("the hand-over was taken back: the PLC thread would wait for a cycle, and put a second record")
	}
	if err := r.stopped(t); err != nil {
		t.Error(err)
	}
}

// stuck is a connection's context that holds a Write up before it is handed over, as a
// socket does that takes no more.
type stuck struct {
	context.Context
	free chan struct{}
}

func (c stuck) Done() <-chan struct{} {
	<-c.free
	return c.Context.Done()
}

// A Write that is not handed over within a cycle is given up: it has one record, and when
// it ends at last it neither puts a second one nor answers for a later Write.
func TestAWriteThatIsNotHandedOverIsGivenUp(t *testing.T) {
	clean(t)
	p := newPlant(t, 1)
	r := run(t, config(t, p.Endpoint(), bench.HostClient))
	eventually(t, "a value", func() bool { _, _, ok := r.Newest(); return ok }) // Run has its connection
	whole := r.link.Load()
	k := int64(0)
	for round := range 2 { // of the second, a signal of the first would be taken
		free := make(chan struct{})
		r.link.Store(&link{opc: whole.opc, echo: whole.echo, ctx: stuck{whole.ctx, free}})
		for i := range writerLanes + 1 { // the last finds no lane
			wrote := make(chan bool, 1)
			go func() { wrote <- r.Write(k, k) }()
			select {
			case ok := <-wrote:
				if ok {
					t.Errorf("round %d: Write %d was handed over", round, i)
				}
			case <-time.After(patience):
				close(free)
				t.Fatal("the PLC thread waits without limit")
			}
			k++
		}
		close(free)
		eventually(t, "the lanes' ends", func() bool { return len(r.writer.lanes) == writerLanes })
	}
	r.link.Store(whole)
	if err := r.stopped(t); err != nil {
		t.Error(err)
	}
	if n := r.Counts(); n.Writes != k || n.Failed != k || int64(len(r.writes)) != k {
		t.Errorf("%d records of %d Writes: %+v", len(r.writes), k, n)
	}
	for i, w := range r.writes {
		if w.K != int64(i) || w.Flags != record.FlagFailed|record.FlagNoAck || w.Begin == 0 || w.Handed != 0 {
			t.Errorf("record %d: %+v", i, w)
		}
	}
}

// A lane that handed over when the wait was just over has left its signal: the next turn
// must not take it for its own.
func TestASignalThatNobodyTookIsNotTheNextTurns(t *testing.T) {
	clean(t)
	w := &writer{lanes: make(chan *lane, writerLanes), interval: time.Millisecond, limit: time.NewTimer(time.Hour)}
	ln := &lane{w: w, start: make(chan turn, 1), handed: make(chan struct{}, 1)} // nobody runs it
	ln.begin(turn{1, 1})
	<-ln.start
	ln.tell()
	ln.begin(turn{2, 2})
	if ln.await() || ln.state.Load() != abandoned {
		t.Error("the second turn was taken as handed over")
	}
	ln.tell()
	if len(ln.handed) != 0 {
		t.Error("a signal for a turn that was given up")
	}
}
