package client

import (
	"context"

	"opcycle/rt"
)

// handedContext is a context that tells when a request was handed to the socket. gopcua
// v0.9.1 asks a context's Done once before it writes each chunk (the request is encoded
// then) and once more after the last, before it waits for the answer; for a request of
// one chunk these are the first and the second call. A test pins this behaviour.
//
// NB: one request at a time, by one goroutine.
type handedContext struct {
	context.Context
	calls           int
	encoded, handed int64
	onHanded        func(encoded, handed int64)
}

func newHandedContext(parent context.Context, onHanded func(encoded, handed int64)) *handedContext {
	return &handedContext{Context: parent, onHanded: onHanded}
}

// rearm prepares the context for the next request.
func (c *handedContext) rearm() { c.calls, c.encoded, c.handed = 0, 0, 0 }

// Done reads the clock at the library's two questions. warm.
func (c *handedContext) Done() <-chan struct{} {
	c.calls++
	switch c.calls {
	case 1:
		c.encoded = rt.Now()
	case 2:
		c.handed = rt.Now()
		c.onHanded(c.encoded, c.handed)
	}
	return c.Context.Done()
}
