package rt

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// pair is two connected descriptors in blocking mode.
func pair(t *testing.T) (a, b uintptr) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fds[0]) }) // some tests closed it already
	t.Cleanup(func() { _ = unix.Close(fds[1]) })
	return uintptr(fds[0]), uintptr(fds[1])
}

func TestFullTransfers(t *testing.T) {
	a, b := pair(t)
	sent := bytes.Repeat([]byte("0123456789"), 100)
	if err := errors.Join(WriteFull(a, sent[:300]), WriteFull(a, sent[300:])); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(sent))
	if err := errors.Join(ReadFull(b, got[:700]), ReadFull(b, got[700:])); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, sent) {
		t.Error("what was read is not what was written")
	}
}

func TestFullTransfersFail(t *testing.T) {
	a, b := pair(t)
	if err := errors.Join(WriteFull(a, []byte{1, 2}), unix.Shutdown(int(a), unix.SHUT_WR)); err != nil {
		t.Fatal(err)
	}
	if err := ReadFull(b, make([]byte, 3)); err != io.ErrUnexpectedEOF {
		t.Errorf("2 of 3 bytes and the end: %v, want io.ErrUnexpectedEOF", err)
	}
	if err := WriteFull(a, []byte{3}); err != syscall.EPIPE {
		t.Errorf("write after the end: %v, want EPIPE", err)
	}
}

func TestFullTransfersAllocateNothing(t *testing.T) {
	a, b := pair(t)
	msg := make([]byte, 140)
	if n := testing.AllocsPerRun(100, func() {
		_ = WriteFull(a, msg)
		_ = ReadFull(b, msg)
	}); n != 0 {
		t.Errorf("%v allocations a message", n)
	}
}
