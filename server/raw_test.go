package server

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uacp"
)

// raw is a client that sends any bytes over a secure channel with policy None, and reads
// when the test says so.
type raw struct {
	t              *testing.T
	conn           net.Conn
	channel, token uint32
	sequence       uint32
	auth           *ua.NodeID
	broken         error // of the last write
}

// rawClient opens a channel and, if session, an activated session.
func (p *plant) rawClient(session bool) *raw {
	p.t.Helper()
	conn, err := net.Dial("tcp", p.Addr().String())
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	r := &raw{t: p.t, conn: conn, auth: ua.NewTwoByteNodeID(0)}
	hello, _ := (&uacp.Hello{ReceiveBufSize: 65535, SendBufSize: 65535, EndpointURL: p.Endpoint()}).Encode()
	r.frame("HELF", hello)
	r.chunk()
	open, _ := ua.Encode(&ua.OpenSecureChannelRequest{RequestHeader: r.header(), RequestType: ua.SecurityTokenRequestTypeIssue,
		SecurityMode: ua.MessageSecurityModeNone, RequestedLifetime: 3600000})
	b := put32(nil, 0)
	b = putString(b, ua.SecurityPolicyURINone)
	b = put32(put32(b, null32), null32)
	r.sequence++
	b = put32(put32(b, r.sequence), 1)
	b = putTypeID(b, id.OpenSecureChannelRequest_Encoding_DefaultBinary)
	r.frame("OPNF", append(b, open...))
	answer := r.chunk()
	at := 12 + 4 + len(ua.SecurityPolicyURINone) + 4 + 4 + 8
	_, v, err := ua.DecodeService(answer[at:])
	if err != nil {
		p.t.Fatal(err)
	}
	token := v.(*ua.OpenSecureChannelResponse).SecurityToken
	r.channel, r.token = token.ChannelID, token.TokenID
	if session {
		s := r.call(&ua.CreateSessionRequest{RequestHeader: r.header(), ClientDescription: &ua.ApplicationDescription{ApplicationURI: "urn:raw", ApplicationName: ua.NewLocalizedText("")},
			EndpointURL: p.Endpoint(), RequestedSessionTimeout: 60000}).(*ua.CreateSessionResponse)
		r.auth = s.AuthenticationToken
		r.call(&ua.ActivateSessionRequest{RequestHeader: r.header(), ClientSignature: &ua.SignatureData{}, UserTokenSignature: &ua.SignatureData{},
			UserIdentityToken: ua.NewExtensionObject(nil)})
	}
	return r
}

func (r *raw) header() *ua.RequestHeader {
	return &ua.RequestHeader{AuthenticationToken: r.auth, Timestamp: time.Now(), RequestHandle: r.sequence + 1, AdditionalHeader: ua.NewExtensionObject(nil)}
}

// frame writes one message; what a closed connection does not take shows when reading.
func (r *raw) frame(kind string, body []byte) {
	b := append([]byte(kind), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[4:], uint32(8+len(body)))
	_, r.broken = r.conn.Write(append(b, body...))
}

// chunk reads one chunk.
func (r *raw) chunk() []byte {
	r.t.Helper()
	b, err := r.tryChunk()
	if err != nil {
		r.t.Fatal("read:", err)
	}
	return b
}

func (r *raw) tryChunk() ([]byte, error) {
	head := make([]byte, 8)
	r.conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.ReadFull(r.conn, head); err != nil {
		return nil, err
	}
	b := make([]byte, binary.LittleEndian.Uint32(head[4:]))
	copy(b, head)
	_, err := io.ReadFull(r.conn, b[8:])
	return b, err
}

// send sends a body in chunks.
func (r *raw) send(body []byte) {
	for id := r.sequence + 1; ; {
		r.sequence++
		b := put32(put32(put32(put32(nil, r.channel), r.token), r.sequence), id)
		n := min(len(body), 60000)
		if n == len(body) {
			r.frame("MSGF", append(b, body...))
			return
		}
		r.frame("MSGC", append(b, body[:n]...))
		body = body[n:]
	}
}

func (r *raw) encode(request any) []byte {
	r.t.Helper()
	b, err := ua.Encode(request)
	if err != nil {
		r.t.Fatal(err)
	}
	return append(putTypeID(nil, ua.ServiceTypeID(request)), b...)
}

// answer reads one response, of any number of chunks.
func (r *raw) answer() any {
	r.t.Helper()
	var body []byte
	for {
		b := r.chunk()
		if string(b[:3]) == "ERR" {
			r.t.Fatalf("ERR %x", b[8:])
		}
		body = append(body, b[24:]...)
		if b[3] == 'F' {
			break
		}
	}
	_, v, err := ua.DecodeService(body)
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

// call sends a request and reads the next response.
func (r *raw) call(request any) any {
	r.t.Helper()
	r.send(r.encode(request))
	return r.answer()
}

// ask sends bytes and returns the status of the next response.
func (r *raw) ask(body []byte) ua.StatusCode {
	r.t.Helper()
	r.send(body)
	return r.answer().(ua.Response).Header().ServiceResult
}
