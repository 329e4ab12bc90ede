package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uapolicy"
)

// peer is a client that checks and can misbehave. It shares no code with the sender:
// headers by encoding/binary, sealing by uapolicy.
type peer struct {
	tb        testing.TB
	conn      net.Conn
	channel   uint32
	token     uint32
	sent      uint32 // last sequence number of ours
	got       uint32 // last one of the server
	algorithm *uapolicy.EncryptionAlgorithm
	mode      ua.MessageSecurityMode
}

// chunk is what the peer read.
type chunk struct {
	kind     string // message type and chunk type
	token    uint32
	sequence uint32
	request  uint32
	body     []byte
}

func le(values ...uint32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func text(s string) []byte { return append(le(uint32(len(s))), s...) }

// raw frames a message and writes it as it is.
func (p *peer) raw(kind string, parts ...[]byte) {
	body := bytes.Join(parts, nil)
	_, _ = p.conn.Write(append(append([]byte(kind), le(uint32(8+len(body)))...), body...)) // the server may have hung up: the test sees it when it reads
}

func (p *peer) hello(receive, send uint32, url string) {
	p.raw("HELF", le(0, receive, send, 0, 0), text(url))
}

// openBody is an OpenSecureChannelRequest.
func openBody(kind, mode, lifetime uint32) []byte {
	return bytes.Join([][]byte{
		{1, 0, 446 & 0xff, 446 >> 8},                                        // TypeId
		{0, 0}, make([]byte, 8), le(7, 0), le(0xffffffff), le(0), {0, 0, 0}, // RequestHeader
		le(0, kind, mode), le(0xffffffff), le(lifetime),
	}, nil)
}

// open sends an OPN with policy None.
func (p *peer) open(kind, mode, lifetime uint32) {
	p.sent++
	p.raw("OPNF", le(p.channel), text(ua.SecurityPolicyURINone), le(0xffffffff, 0xffffffff), le(p.sent, 1), openBody(kind, mode, lifetime))
}

// send seals a chunk and sends it under the next sequence number.
func (p *peer) send(kind string, request uint32, body []byte) {
	p.sent++
	p.write(kind, p.channel, p.token, p.sent, request, body)
}

func (p *peer) write(kind string, channel, token, sequence, request uint32, body []byte) {
	_, _ = p.conn.Write(p.sealed(kind, channel, token, sequence, request, body)) // as in raw
}

// sealed builds a chunk.
func (p *peer) sealed(kind string, channel, token, sequence, request uint32, body []byte) []byte {
	b := append([]byte(kind), le(0, channel, token, sequence, request)...)
	b = append(b, body...)
	if p.mode == ua.MessageSecurityModeSignAndEncrypt {
		padding := (16 - (len(b)-16+1+32)%16) % 16
		b = append(b, bytes.Repeat([]byte{byte(padding)}, padding+1)...)
	}
	if p.algorithm != nil {
		binary.LittleEndian.PutUint32(b[4:], uint32(len(b)+32))
		sum, err := p.algorithm.Signature(b)
		if err != nil {
			p.tb.Fatal(err)
		}
		b = append(b, sum...)
	}
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)))
	if p.mode == ua.MessageSecurityModeSignAndEncrypt {
		c, err := p.algorithm.Encrypt(b[16:])
		if err != nil {
			p.tb.Fatal(err)
		}
		b = append(b[:16:16], c...)
	}
	return b
}

// read returns the next message as it is; a nil body is the end of the stream.
func (p *peer) read() (kind string, body []byte) {
	_ = p.conn.SetReadDeadline(time.Now().Add(patience))
	head := make([]byte, 8)
	if _, err := io.ReadFull(p.conn, head); err != nil {
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			p.tb.Errorf("the server is silent: %v", err)
		}
		return "", nil
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size < 8 || size > 1<<20 {
		p.tb.Errorf("message of %d bytes", size)
		return "", nil
	}
	body = make([]byte, size-8)
	if _, err := io.ReadFull(p.conn, body); err != nil {
		return "", nil
	}
	return string(head[:4]), body
}

// next reads a MSG chunk or an OPN of policy None, opens it, and insists on the next sequence number.
func (p *peer) next() (chunk, bool) {
	kind, body := p.read()
	if body == nil || kind[:3] == "ERR" {
		return chunk{kind: kind, body: body}, false
	}
	c := chunk{kind: kind}
	if kind[:3] == "OPN" {
		body = body[4+4+len(ua.SecurityPolicyURINone)+8:]
	} else {
		c.token = binary.LittleEndian.Uint32(body[4:])
		body = p.opened(kind, body)
	}
	c.sequence, c.request, c.body = binary.LittleEndian.Uint32(body), binary.LittleEndian.Uint32(body[4:]), body[8:]
	if c.sequence != p.got+1 {
		p.tb.Errorf("%s with sequence number %d after %d", kind, c.sequence, p.got)
	}
	p.got = c.sequence
	return c, true
}

// opened takes the seal off a MSG; body starts with the channel id.
func (p *peer) opened(kind string, body []byte) []byte {
	if p.algorithm == nil {
		return body[8:]
	}
	plain := body[8:]
	if p.mode == ua.MessageSecurityModeSignAndEncrypt {
		var err error
		if plain, err = p.algorithm.Decrypt(plain); err != nil {
			p.tb.Fatal(err)
		}
	}
	all := bytes.Join([][]byte{[]byte(kind), le(uint32(8 + len(body))), body[:8], plain}, nil)
	end := len(all) - 32
	if err := p.algorithm.VerifySignature(all[:end], all[end:]); err != nil {
		p.tb.Errorf("signature: %v", err)
	}
	if p.mode == ua.MessageSecurityModeSignAndEncrypt {
		end -= int(all[end-1]) + 1
	}
	return all[16:end]
}

// status reads on to the ERR and returns its code; 0 when the stream ends without one.
func (p *peer) status() ua.StatusCode {
	for {
		kind, body := p.read()
		if body == nil {
			return 0
		}
		if kind == "ERRF" {
			if k, rest := p.read(); rest != nil {
				p.tb.Errorf("%s after the ERR", k)
			}
			p.conn.Close()
			return ua.StatusCode(binary.LittleEndian.Uint32(body))
		}
	}
}

// handshake opens a channel with policy None.
func (p *peer) handshake(lifetime uint32) {
	p.hello(65535, 65535, "opc.tcp://127.0.0.1:4840")
	if kind, body := p.read(); kind != "ACKF" || len(body) != 20 {
		p.tb.Errorf("%s %d bytes: expected ACK", kind, len(body))
	}
	p.open(0, 1, lifetime)
	p.granted()
}

// granted reads an OPN response and takes its token.
func (p *peer) granted() {
	c, ok := p.next()
	if !ok || c.kind != "OPNF" {
		p.tb.Errorf("%q: expected OPNF", c.kind)
		return
	}
	p.take(c)
}

// take uses the token of an OPN response from here on.
func (p *peer) take(c chunk) {
	_, service, err := ua.DecodeService(c.body)
	response, isOpen := service.(*ua.OpenSecureChannelResponse)
	if err != nil || !isOpen {
		p.tb.Errorf("OPN: %T %v", service, err)
		return
	}
	p.channel, p.token = response.SecurityToken.ChannelID, response.SecurityToken.TokenID
}
