package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"opcycle/bench"

	"github.com/gopcua/opcua/ua"
)

// booksPage is how much of the server's part is read at a time, bytes.
const booksPage = 512 << 10

// booksWait is how long the client waits for the server's part.
const booksWait = 10 * time.Second

// own is the id of one of the benchmark's nodes on the present connection.
func (c *Client) own(l *link, name string) *ua.NodeID {
	return ua.NewStringNodeID(l.echo.Namespace(), name)
}

// AskBooks tells a server that was started by hand which indices the client measures, or,
// with Done, that it has reached the end. cold.
func (c *Client) AskBooks(w bench.Window) error {
	l := c.link.Load()
	w.Subscription = l.subID
	text, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("the window as JSON: %w", err)
	}
	var r *ua.WriteResponse
	err = l.opc.Send(l.ctx, &ua.WriteRequest{NodesToWrite: []*ua.WriteValue{{NodeID: c.own(l, bench.NodeWindow), AttributeID: ua.AttributeIDValue,
		Value: &ua.DataValue{EncodingMask: ua.DataValueValue, Value: ua.MustVariant(string(text))}}}}, into(&r))
	if err == nil && r.Results[0] != ua.StatusOK {
		err = r.Results[0]
	}
	if err != nil && l.ctx.Err() != nil {
		return errors.New("ask the server for its books of the phase: the connection is lost")
	}
	if err != nil {
		return fmt.Errorf("ask the server for its books of the phase: %w", err)
	}
	return nil
}

// Books reads the server's part in pages, and waits until it is there. cold.
func (c *Client) Books() ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), booksWait)
	defer cancel()
	var all []byte
	for {
		page, err := c.page(ctx, len(all))
		switch {
		case err == nil:
			all = append(all, page...)
			if len(page) == booksPage {
				continue
			}
			return all, nil
		case errors.Is(err, ua.StatusBadIndexRangeNoData) && len(all) > 0:
			return all, nil
		case !errors.Is(err, ua.StatusBadIndexRangeNoData):
			return nil, fmt.Errorf("read the server's books: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the server handed no books over within %s", booksWait)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// page reads one page of the node Result from an offset on.
func (c *Client) page(ctx context.Context, from int) ([]byte, error) {
	l := c.link.Load()
	var r *ua.ReadResponse
	err := l.opc.Send(ctx, &ua.ReadRequest{NodesToRead: []*ua.ReadValueID{{NodeID: c.own(l, bench.NodeResult), AttributeID: ua.AttributeIDValue,
		IndexRange: fmt.Sprintf("%d:%d", from, from+booksPage-1), DataEncoding: &ua.QualifiedName{}}}}, into(&r))
	if err != nil {
		return nil, err
	}
	v := r.Results[0]
	if v.Status != ua.StatusOK {
		return nil, v.Status
	}
	b, ok := v.Value.Value().([]byte)
	if !ok {
		return nil, fmt.Errorf("the node %s holds %T", bench.NodeResult, v.Value.Value())
	}
	return b, nil
}
