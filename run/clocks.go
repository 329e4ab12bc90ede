package run

import (
	"context"
	"fmt"
	"sync"
	"time"

	"opcycle/bench"
	"opcycle/client"
)

const (
	// clockExchanges is how many exchanges make one estimate: the fastest counts.
	clockExchanges = 32
	// clockEvery is how often there is an estimate; the exchanges are spread over it, so
	// that no two of them meet one release.
	clockEvery = time.Second
	// clockFirst is how long each of the first two estimates takes, and the last.
	clockFirst = 160 * time.Millisecond
	// clockLimit is how long one exchange may take.
	clockLimit = time.Second
)

// clocks compares the server's clock with ours from beginning to end, on a goroutine of the
// conductor and a connection of its own (metrics.md, "Clock").
type clocks struct {
	read func(context.Context) (client.Exchange, error)
	each int // exchanges of an estimate
	stop context.CancelFunc
	done chan struct{}

	mu        sync.Mutex // the rest
	list      bench.Offsets
	exchanges int64
	failed    int64
	err       error // the newest failure
}

// compareClocks begins. With a common clock one exchange an estimate is enough: it only
// holds the session, and shows that the clock is one.
func compareClocks(read func(context.Context) (client.Exchange, error), common bool) *clocks {
	ctx, stop := context.WithCancel(context.Background())
	c := &clocks{read: read, each: clockExchanges, stop: stop, done: make(chan struct{})}
	if common {
		c.each = 1
	}
	go c.run(ctx)
	return c
}

func (c *clocks) run(ctx context.Context) {
	defer close(c.done)
	for n := 0; ctx.Err() == nil; n++ {
		span := clockEvery
		if n < 2 {
			span = clockFirst
		}
		c.estimate(ctx, span/time.Duration(c.each))
	}
	c.estimate(context.Background(), clockFirst/time.Duration(c.each)/4) // after the last arrival
}

// estimate keeps the fastest of c.each exchanges, one every pace; none when all fail. It is
// cut short by the end of ctx.
func (c *clocks) estimate(ctx context.Context, pace time.Duration) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	var best *bench.Offset
	for range c.each {
		limit, cancel := context.WithTimeout(ctx, clockLimit)
		e, err := c.read(limit)
		cancel()
		c.count(ctx, err)
		if err == nil {
			if o := bench.OffsetOf(e.Sent, e.Server, e.Received); best == nil || o.Bound < best.Bound {
				best = &o
			}
		} else if ctx.Done() == nil { // at the end nobody waits for a lost connection
			break
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
		if ctx.Err() != nil {
			break
		}
	}
	if best == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.list); n == 0 || c.list[n-1].At < best.At {
		c.list = append(c.list, *best)
	}
}

func (c *clocks) count(ctx context.Context, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exchanges++
	if err != nil && ctx.Err() == nil {
		c.failed++
		c.err = err
	}
}

// at is the server's clock less ours at an instant of ours (bench.Offsets.At).
func (c *clocks) at(t int64) (ns, bound int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list.At(t)
}

// ready waits until an offset can be told, at most for limit.
func (c *clocks) ready(ctx context.Context, limit time.Duration) bool {
	for end := time.Now().Add(limit); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		if _, _, ok := c.at(0); ok {
			return true
		}
	}
	return false
}

// end makes the last estimate and waits for it. Nil may be ended, too.
func (c *clocks) end() {
	if c != nil {
		c.stop()
		<-c.done
	}
}

// estimatesKept bounds the estimates in a result: of a longer run every n-th.
const estimatesKept = 3600

// result is the comparison for the file; bound is the worst of an arrival, nil: none was
// placed. After end.
func (c *clocks) result(bound *int64, drift []float64) bench.ClockComparison {
	r := bench.ClockComparison{Exchanges: c.exchanges, Failed: c.failed, Estimates: int64(len(c.list)), WorstBound: bound, Drift: drift}
	step := (len(c.list) + estimatesKept - 1) / estimatesKept
	for i := 0; i < len(c.list); i += step {
		r.Offsets = append(r.Offsets, c.list[i])
	}
	return r
}

// remark is what the comparison has to say of itself; empty: nothing.
func (c *clocks) remark() string {
	if c.failed == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d readings of the server's clock failed, the last: %v", c.failed, c.exchanges, c.err)
}
