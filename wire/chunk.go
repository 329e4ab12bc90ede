package wire

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/gopcua/opcua/ua"
)

// The layout of a chunk (Part 6, 6.7.2): type, chunk type and size are 8 bytes, the
// channel id 4, a symmetric security header 4, the sequence header 8.
const (
	headerSize    = 8  // of HEL, ACK and ERR
	channelEnd    = 12 // of OPN, MSG and CLO
	symmetricEnd  = 16 // where encryption starts
	sequenceSize  = 8
	bodyStart     = symmetricEnd + sequenceSize // of a MSG without encryption
	intermediate  = 'C'
	final         = 'F'
	aborted       = 'A'
	maxURL        = 4096                  // Part 6, 7.1.2.3
	wrapFrom      = math.MaxUint32 - 1024 // Part 6, 6.7.2.4
	wrapBelow     = 1024
	sizeOffset    = 4
	channelOffset = 8
)

// kind is a message type: its three letters in wire order.
type kind [3]byte

func hello() kind   { return kind{'H', 'E', 'L'} }
func errorOf() kind { return kind{'E', 'R', 'R'} }
func open() kind    { return kind{'O', 'P', 'N'} }
func message() kind { return kind{'M', 'S', 'G'} }
func closing() kind { return kind{'C', 'L', 'O'} }

// kindOf reads the type of a chunk of at least 8 bytes. hot.
func kindOf(chunk []byte) kind { return kind(chunk[:3]) }

// known tells whether a server may get such a message at all. hot.
func known(k kind) bool {
	switch k {
	case hello(), errorOf(), open(), message(), closing():
		return true
	}
	return false
}

func u32(b []byte) uint32      { return binary.LittleEndian.Uint32(b) }
func put32(b []byte, v uint32) { binary.LittleEndian.PutUint32(b, v) }
func putKind(b []byte, k kind) { copy(b, k[:]) }
func follows(last, n uint32) bool {
	// Part 6, 6.7.2.4: one more each time; after 4294966271 it may start again below 1024.
	return (n == last+1 && last != math.MaxUint32) || (last >= wrapFrom && n < wrapBelow)
}

// after is the sequence number that we send after last. hot.
func after(last uint32) uint32 {
	if last > wrapFrom {
		return 1
	}
	return last + 1
}

// inbox cuts the byte stream into chunks. Owned by the connection's goroutine.
type inbox struct {
	src   io.Reader
	buf   []byte
	r, w  int // what was read and not yet cut is buf[r:w]
	limit uint32
}

// next returns the next whole chunk; it is valid, and may be changed, until the
// following call. io.EOF comes only between two chunks. hot: no allocation.
func (b *inbox) next() ([]byte, error) {
	for {
		if b.w-b.r >= headerSize {
			head := b.buf[b.r:b.w]
			size := u32(head[sizeOffset:])
			switch {
			case !known(kindOf(head)):
				return nil, refuse(ua.StatusBadTCPMessageTypeInvalid, "message type %q: expected an OPC UA TCP message", head[:3])
			case size > b.limit:
				return nil, refuse(ua.StatusBadTCPMessageTooLarge, "%s chunk of %d bytes: the agreed limit is %d", head[:3], size, b.limit)
			case size < headerSize:
				return nil, refuse(ua.StatusBadTCPMessageTypeInvalid, "%s chunk of %d bytes: shorter than its header", head[:3], size)
			case int(size) <= len(head):
				b.r += int(size)
				return head[:size:size], nil
			}
		}
		if err := b.fill(); err != nil {
			return nil, err
		}
	}
}

// fill reads once. hot.
func (b *inbox) fill() error {
	if b.r == b.w {
		b.r, b.w = 0, 0
	} else if b.w == len(b.buf) {
		b.w = copy(b.buf, b.buf[b.r:b.w])
		b.r = 0
	}
	n, err := b.src.Read(b.buf[b.w:])
	b.w += n
	if n > 0 {
		return nil
	}
	if err == io.EOF && b.w > b.r {
		return io.ErrUnexpectedEOF
	}
	return err
}
