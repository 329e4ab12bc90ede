package lmbench

import (
	"slices"
	"testing"
)

// The bytes of RFC 5531, by hand.
func TestRPCOnTheWire(t *testing.T) {
	p := make([]byte, rpcCallBytes)
	putCall(p, 0x01020304)
	call := []byte{
		1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 2, 0, 6, 0x2a, 0x48, 0, 0, 0, 1, 0, 0, 0, 1,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 123,
	}
	if !slices.Equal(p, call) || !isCall(p) {
		t.Errorf("a call is % x", p)
	}
	if isReply(p, 0x01020304) {
		t.Error("a call is taken for a reply")
	}
	putReply(p)
	reply := []byte{1, 2, 3, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 123}
	if got := p[:rpcReplyBytes]; !slices.Equal(got, reply) || !isReply(got, 0x01020304) {
		t.Errorf("a reply is % x", got)
	}
	if isReply(p, 5) || isCall(p) {
		t.Error("another's reply, or a reply for a call")
	}
	for i := range 4 { // what a server refuses
		bad := slices.Clone(call)
		bad[4*(i+1)+3] ^= 0x10
		if isCall(bad) {
			t.Errorf("a call with another word %d is accepted", i+1)
		}
	}
}
