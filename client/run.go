package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"opcycle/record"
	"opcycle/rt"
)

// Run pumps until ctx ends, and re-opens a lost connection for as long as Config.Reconnect
// allows. It returns nil when ctx ended it and an ErrLost when the server is gone. All its
// goroutines have ended when it returns, and incomplete indices have been put into the ring.
func (c *Client) Run(ctx context.Context) error {
	defer c.pump.flush()
	for {
		err := c.runLink(ctx, c.link.Load())
		if err != nil { // a loss just before the end is one, too
			c.pump.lost(rt.Now())
		}
		if ctx.Err() != nil {
			return nil
		}
		l, again := c.redial(ctx)
		if again != nil {
			if ctx.Err() != nil {
				return nil
			}
			if errors.Is(again, ErrAnother) {
				return fmt.Errorf("%w: %v; %w", ErrLost, err, again)
			}
			return fmt.Errorf("%w: %v; no new connection within %s (%v)", ErrLost, err, c.cfg.Reconnect, again)
		}
		c.link.Store(l)
		c.pump.reconnected(rt.Now())
	}
}

// runLink keeps the outstanding Publish requests of one connection going until it breaks
// or ctx ends.
func (c *Client) runLink(ctx context.Context, l *link) error {
	var wg sync.WaitGroup
	for range c.cfg.PublishRequests {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c.publishLoop(l)
		}()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-l.broken:
	}
	l.close()
	wg.Wait()
	c.writer.idle()
	return err
}

// redial tries for a new connection every 100 ms until the reconnect limit has passed, or a
// server answers that is not the one before; at a limit of 0 it does not try.
func (c *Client) redial(ctx context.Context) (*link, error) {
	if c.cfg.Reconnect <= 0 {
		return nil, errors.New("reconnect is 0: no second try")
	}
	limit, cancel := context.WithDeadline(ctx, time.Now().Add(c.cfg.Reconnect))
	defer cancel()
	for {
		l, err := c.connect(limit)
		if err == nil {
			return l, nil
		}
		if errors.Is(err, ErrAnother) {
			return nil, err
		}
		select {
		case <-limit.Done():
			return nil, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// lost opens the stretch without a connection; its indices are those after the newest one
// before it, up to the first that comes after it, or to the end. A second loss before a
// value came is the same stretch.
func (p *pump) lost(from int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gap == nil {
		p.gap = &record.Gap{K: p.top + 1, From: from}
	}
}

// reconnected notes that there is a connection again.
func (p *pump) reconnected(to int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n.Reconnects++
	if p.gap != nil {
		p.gap.To = to
	}
	p.seen.reset()
}
