package wire

// outbox seals messages into one buffer, which is the backlog at the same time:
// what the kernel did not take simply stays. Owned by the holder of the turn.
type outbox struct {
	buf      []byte // sealed bytes; its capacity is the bound of the backlog
	head     int    // buf[head:] still has to be written
	sequence uint32 // the last one used
	channel  uint32
	token    uint32
	keys     *keys
	size     int // largest chunk
}

// empty tells whether everything sealed was written. hot.
func (o *outbox) empty() bool { return o.head == len(o.buf) }

// rest is what still has to be written. hot.
func (o *outbox) rest() []byte { return o.buf[o.head:] }

// wrote counts n bytes as written and starts over when all are. hot.
func (o *outbox) wrote(n int) {
	o.head += n
	if o.empty() {
		o.buf, o.head = o.buf[:0], 0
	}
}

// sealedSize is what a message with n bytes of body takes in sealed form. hot.
func (o *outbox) sealedSize(n int) int {
	room := o.keys.room(o.size)
	full := max(0, n-1) / room
	return full*o.keys.size(room) + o.keys.size(n-full*room)
}

// largest is the longest body whose sealed form fits into bytes. cold.
func (o *outbox) largest(bytes int) int {
	room := o.keys.room(o.size)
	full := bytes / o.keys.size(room)
	rest := min(bytes-full*o.keys.size(room), o.size)
	return full*room + max(0, o.keys.room(rest))
}

// message seals the body a+b of a message from off on, chunk after chunk, until the
// body or the space ends, and returns how far it came, and the number of chunks. hot: no allocation.
func (o *outbox) message(id uint32, a, b []byte, off int) (next, chunks int) {
	total, room := len(a)+len(b), o.keys.room(o.size)
	for {
		n, sort := min(total-off, room), byte(final)
		if off+n < total {
			sort = intermediate
		}
		at, size := len(o.buf), o.keys.size(n)
		if at+size > cap(o.buf) {
			return off, chunks
		}
		o.buf = o.buf[:at+size]
		chunk := o.buf[at : at+size : at+size]
		o.sequence = after(o.sequence)
		putKind(chunk, message())
		chunk[3] = sort
		put32(chunk[sizeOffset:], uint32(size))
		put32(chunk[channelOffset:], o.channel)
		put32(chunk[channelEnd:], o.token)
		put32(chunk[symmetricEnd:], o.sequence)
		put32(chunk[symmetricEnd+4:], id)
		gather(chunk[bodyStart:bodyStart+n], a, b, off)
		o.keys.seal(chunk, n)
		chunks++
		if off += n; off == total {
			return off, chunks
		}
	}
}

// gather copies len(dst) bytes of a+b from off on. hot.
func gather(dst, a, b []byte, off int) {
	if off < len(a) {
		n := copy(dst, a[off:])
		dst, off = dst[n:], off+n
	}
	if len(dst) > 0 {
		copy(dst, b[off-len(a):])
	}
}
