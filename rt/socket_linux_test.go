package rt

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"time"
)

// loopback is a TCP connection with this process at both ends.
func loopback(t *testing.T) (a, b *net.TCPConn) {
	t.Helper()
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	dialled, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	a = dialled.(*net.TCPConn)
	t.Cleanup(func() { _ = a.Close() }) // some tests closed it already
	if b, err = l.AcceptTCP(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	for _, c := range []*net.TCPConn{a, b} {
		if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	return a, b
}

// descriptor is the connection's, valid while it is open.
func descriptor(t *testing.T, c *net.TCPConn) (fd uintptr) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Control(func(d uintptr) { fd = d })
	}
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// fill sends until the socket takes no more.
func fill(t *testing.T, fd uintptr) (sent int) {
	t.Helper()
	block := make([]byte, 64<<10)
	for sent < 1<<30 {
		n, err := SendNow(fd, block)
		sent += n
		if err == nil {
			continue
		}
		if err != syscall.EAGAIN || n != 0 {
			t.Fatalf("%d bytes and %v, want 0 and EAGAIN", n, err)
		}
		return sent
	}
	t.Fatal("1 GB sent and nobody reads")
	return 0
}

func TestSendNowDoesNotWait(t *testing.T) {
	a, b := loopback(t)
	fd := descriptor(t, a)
	sent := fill(t, fd)
	if n, err := Outq(fd); err != nil || n <= 0 || n > sent {
		t.Errorf("%d bytes unacknowledged of %d sent, %v", n, sent, err)
	}
	if err := a.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	buf, got := make([]byte, 64<<10), 0
	for {
		n, err := b.Read(buf)
		got += n
		if err != nil {
			break
		}
	}
	if got != sent {
		t.Errorf("%d bytes sent, %d received", sent, got)
	}
}

func TestSendNowToNobodyIsAnErrorNotASignal(t *testing.T) {
	a, _ := loopback(t)
	fd := descriptor(t, a)
	if err := a.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if n, err := SendNow(fd, []byte{1}); n != 0 || !errors.Is(err, syscall.EPIPE) {
		t.Errorf("%d, %v; want 0, EPIPE", n, err)
	}
	if n, err := SendNow(fd, nil); n != 0 || err != nil {
		t.Errorf("nothing to send: %d, %v", n, err)
	}
	if _, err := Outq(^uintptr(0)); !errors.Is(err, syscall.EBADF) {
		t.Errorf("no descriptor: %v, want EBADF", err)
	}
}

func TestTCPInfo(t *testing.T) {
	a, _ := loopback(t)
	info, err := ReadTCPInfo(descriptor(t, a))
	if err != nil || info.RTO <= 0 || info.SendMSS == 0 || info.TotalRetransmits < info.Retransmits {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := ReadTCPInfo(^uintptr(0)); !errors.Is(err, syscall.EBADF) {
		t.Errorf("no descriptor: %v, want EBADF", err)
	}
}

func TestSendNowAllocatesNothing(t *testing.T) {
	a, b := loopback(t)
	out, in := descriptor(t, a), descriptor(t, b)
	msg, buf := make([]byte, 140), make([]byte, 140)
	if n := testing.AllocsPerRun(100, func() {
		_, _ = SendNow(out, msg)
		_, _ = Outq(out)
		_, _ = syscall.Read(int(in), buf)
	}); n != 0 {
		t.Errorf("%v allocations a message", n)
	}
	fill(t, out)
	if n := testing.AllocsPerRun(100, func() { _, _ = SendNow(out, msg) }); n != 0 {
		t.Errorf("%v allocations a refusal", n)
	}
}
