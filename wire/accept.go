package wire

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uacp"
)

// Accept takes a connection over, does HEL/ACK (Part 6, 7.1.2) and the first OPN, and
// returns the open channel. On an error the client was told why as far as it could be
// (an ERR message) and the connection is closed. It waits at most
// [Config.HelloTimeout], so it belongs on the connection's goroutine and not into
// the loop that accepts. cold.
func Accept(conn *net.TCPConn, cfg Config) (*Channel, error) {
	if err := cfg.Validate(); err != nil {
		conn.Close()
		return nil, err
	}
	cfg = cfg.withDefaults()
	c := newChannel(conn, cfg, cfg.Buffer)
	raw, err := conn.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { c.fd = fd })
	}
	if err == nil {
		err = conn.SetReadDeadline(time.Now().Add(cfg.HelloTimeout))
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	go c.flush()
	if err := c.handshake(); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = refuse(ua.StatusBadTimeout, "no HEL and OPN within %v", cfg.HelloTimeout)
		}
		err = c.fail(err)
		c.Wait()
		return nil, fmt.Errorf("wire: open a channel for %v: %w", conn.RemoteAddr(), err)
	}
	return c, nil
}

// handshake is HEL, ACK, OPN. cold.
func (c *Channel) handshake() error {
	c.in.limit = headerSize + 24 + maxURL
	chunk, err := c.in.next()
	if err != nil {
		return err
	}
	hel, err := parseHello(chunk)
	if err != nil {
		return err
	}
	buffer := min(c.cfg.Buffer, hel.ReceiveBufSize, hel.SendBufSize)
	c.url, c.in.limit, c.out.size = hel.EndpointURL, buffer, int(buffer)
	if err := c.acknowledge(buffer); err != nil {
		return err
	}
	if chunk, err = c.in.next(); err != nil {
		return err
	}
	if kindOf(chunk) != open() {
		return refuse(ua.StatusBadTCPMessageTypeInvalid, "%s before the channel is open: expected OPN", chunk[:3])
	}
	if err := c.issue(chunk); err != nil {
		return err
	}
	c.limits(hel.MaxMessageSize, hel.MaxChunkCount)
	return c.conn.SetReadDeadline(time.Time{})
}

// parseHello checks a HEL (Part 6, 7.1.2.3). Every protocol version is taken: the server
// answers with its own. cold.
func parseHello(chunk []byte) (*uacp.Hello, error) {
	if kindOf(chunk) != hello() || chunk[3] != final {
		return nil, refuse(ua.StatusBadTCPMessageTypeInvalid, "first message %q: expected HELF", chunk[:4])
	}
	h := new(uacp.Hello)
	if _, err := h.Decode(chunk[headerSize:]); err != nil {
		return nil, refuse(ua.StatusBadTCPInternalError, "HEL does not decode: %v", err)
	}
	if h.ReceiveBufSize < minBuffer || h.SendBufSize < minBuffer {
		return nil, refuse(ua.StatusBadTCPNotEnoughResources, "HEL with buffers of %d and %d bytes: at least %d each", h.ReceiveBufSize, h.SendBufSize, minBuffer)
	}
	if len(h.EndpointURL) > maxURL || !strings.HasPrefix(h.EndpointURL, "opc.tcp://") {
		return nil, refuse(ua.StatusBadTCPEndpointURLInvalid, "HEL for %.64q: expected opc.tcp://host:port of at most %d bytes", h.EndpointURL, maxURL)
	}
	return h, nil
}

// acknowledge sends the ACK. A fresh socket takes 28 bytes; it goes through the
// same door as everything else. cold.
func (c *Channel) acknowledge(buffer uint32) error {
	body, err := (&uacp.Acknowledge{
		ReceiveBufSize: buffer, SendBufSize: buffer,
		MaxMessageSize: c.cfg.MaxMessage, MaxChunkCount: c.cfg.MaxChunks,
	}).Encode()
	if err != nil {
		return err
	}
	if err := c.begin(time.Now().Add(c.cfg.HelloTimeout)); err != nil {
		return err
	}
	defer c.unlock()
	c.out.buf = append(c.out.buf, frame("ACKF", body)...)
	return c.push(1)
}

// frame puts the 8-byte header before the body of a HEL, ACK or ERR. cold.
func frame(kind string, body []byte) []byte {
	b := append(make([]byte, 0, headerSize+len(body)), kind...)
	b = append(b, 0, 0, 0, 0)
	put32(b[sizeOffset:], uint32(headerSize+len(body)))
	return append(b, body...)
}
