package server

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gopcua/opcua/ua"

	"opcycle/bench"
)

// TestBooks: a client that came by itself asks for the server's side of its phase by
// writing Window, and reads Result in pages (Part 4, 7.27 on ByteString).
func TestBooks(t *testing.T) {
	var told string
	p := newPlant(t, func(c *Config) {
		c.Window = func(text string) error {
			switch text {
			case "bad":
				return errors.New("no window")
			case "soon":
				return fmt.Errorf("window: %w", ErrTooSoon)
			}
			told = text
			return nil
		}
	})
	c := p.dial()
	window, result := ua.NewStringNodeID(nsBench, bench.NodeWindow), ua.NewStringNodeID(nsBench, bench.NodeResult)
	write := func(v any) ua.StatusCode {
		r, err := c.Write(context.Background(), &ua.WriteRequest{NodesToWrite: []*ua.WriteValue{{NodeID: window, AttributeID: ua.AttributeIDValue,
			Value: &ua.DataValue{EncodingMask: ua.DataValueValue, Value: ua.MustVariant(v)}}}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Results[0]
	}
	read := func(pages string) *ua.DataValue {
		r, err := c.Read(context.Background(), &ua.ReadRequest{NodesToRead: []*ua.ReadValueID{{NodeID: result, AttributeID: ua.AttributeIDValue,
			IndexRange: pages, DataEncoding: &ua.QualifiedName{}}}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Results[0]
	}
	same(t, "a window", write("w"), ua.StatusOK)
	same(t, "told", told, "w")
	same(t, "a refused one", write("bad"), ua.StatusBadOutOfRange)
	same(t, "one too soon", write("soon"), ua.StatusBadTooManyOperations)
	same(t, "a number", write(int32(1)), ua.StatusBadTypeMismatch)
	same(t, "nothing yet", read("0:9").Status, ua.StatusBadIndexRangeNoData)
	p.SetResult([]byte("0123456789abc"))
	same(t, "first page", string(read("0:9").Value.Value().([]byte)), "0123456789")
	same(t, "last page", string(read("10:19").Value.Value().([]byte)), "abc")
	same(t, "beyond", read("20:29").Status, ua.StatusBadIndexRangeNoData)
}
