package run

import (
	"context"
	"fmt"
	"sync"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// beside is a suite that runs while another one measures. It is prepared at start, its timed
// part begins and ends with the measuring phase, and what became of it is collected.
type beside struct {
	suite  Suite
	role   bench.Role
	begin  chan struct{}
	end    chan struct{}
	cancel context.CancelFunc
	done   chan struct{}
	result bench.SuiteResult // after done
	err    error

	mu           sync.Mutex
	begun, ended bool // the channels are closed; under mu
	timers       []*time.Timer
}

// collectLimit is how long a suite beside may take for its result.
const collectLimit = 20 * time.Second

// startBeside starts s in a goroutine that collect waits for.
func startBeside(ctx context.Context, s Suite, role bench.Role) *beside {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // an interrupt ends it by end: its figures stay
	b := &beside{suite: s, role: role, begin: make(chan struct{}), end: make(chan struct{}), cancel: cancel, done: make(chan struct{})}
	b.suite.Begin, b.suite.End, b.suite.Claimed = b.begin, b.end, true
	if b.suite.Progress == nil {
		b.suite.Progress = func(bench.Progress) {}
	}
	go func() {
		defer close(b.done)
		b.result, b.err = b.suite.Run(ctx)
	}()
	return b
}

// frame begins and ends the timed part at two instants, CLOCK_MONOTONIC ns.
func (b *beside) frame(begin, end int64) {
	now := rt.Now()
	b.timers = append(b.timers, time.AfterFunc(time.Duration(begin-now), b.start), time.AfterFunc(time.Duration(end-now), b.stop))
}

// start begins the timed part.
func (b *beside) start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.begun && !b.ended {
		b.begun = true
		close(b.begin)
	}
}

// stop ends it, at the latest now; collect waits.
func (b *beside) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.ended = true
		close(b.end)
	}
}

func (b *beside) wasBegun() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.begun
}

// collect is what the suite measured. A suite that failed is a result that is invalid.
func (b *beside) collect() bench.SuiteResult {
	defer b.cancel()
	b.stop()
	for _, t := range b.timers {
		t.Stop()
	}
	if !b.wasBegun() {
		b.cancel() // it waits for its begin
	}
	select {
	case <-b.done:
	case <-time.After(collectLimit):
		b.cancel()
		<-b.done
		b.err = fmt.Errorf("it gave no result within %s of its end", collectLimit)
	}
	r := b.result
	if b.err != nil {
		r = bench.SuiteResult{Suite: b.suite.Suite.Name, Label: b.suite.Label, Invalid: []string{b.err.Error()}}
	}
	r.Role = b.role
	return r
}
