package run

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"opcycle/client"
	"opcycle/rt"
)

// A clock that is 5 s ahead is found within every bound; the fastest exchange counts, not
// the slow ones beside it.
func TestClocksAreCompared(t *testing.T) {
	const ahead = int64(5e9)
	var n atomic.Int64
	c := compareClocks(func(context.Context) (client.Exchange, error) {
		e := client.Exchange{Sent: rt.Now()}
		if n.Add(1)%4 != 0 {
			time.Sleep(2 * time.Millisecond) // on one way only: the estimate of this one is off
		}
		e.Server = rt.Now() + ahead
		e.Received = rt.Now()
		return e, nil
	}, false)
	if !c.ready(context.Background(), 10*time.Second) {
		t.Fatal("no offset")
	}
	c.end()
	r := c.result(nil, nil)
	if r.Estimates < 3 || r.Failed != 0 || r.Exchanges < 3*clockExchanges/2 || len(r.Offsets) != int(r.Estimates) {
		t.Fatalf("%+v", r)
	}
	for _, o := range r.Offsets {
		if d := o.NS - ahead; d > o.Bound || -d > o.Bound {
			t.Errorf("%+v is %d ns away", o, d)
		}
	}
	if c.remark() != "" {
		t.Error(c.remark())
	}
}

// A server that cannot be read is no offset, and said.
func TestClocksThatCannotBeRead(t *testing.T) {
	c := compareClocks(func(context.Context) (client.Exchange, error) { return client.Exchange{}, errors.New("gone") }, true)
	if c.ready(context.Background(), 50*time.Millisecond) {
		t.Error("an offset of nothing")
	}
	c.end()
	if r := c.result(nil, nil); r.Estimates != 0 || r.Failed == 0 || !strings.Contains(c.remark(), "gone") {
		t.Errorf("%+v, %q", r, c.remark())
	}
}
