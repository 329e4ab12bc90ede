package run

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// A plain folder can't stand for resctrl: there a mkdir makes files, a write of one mask
// leaves the others, an rmdir takes a full folder. So the tests mount a file system of
// their own (FUSE) whose few rules are the kernel's, and what ships knows nothing of it but
// a root.
//
// https://www.kernel.org/doc/html/latest/filesystems/fuse.html (messages: include/uapi/linux/fuse.h)

// files is what the file system asks; names are paths without a leading slash.
type files interface {
	kind(name string) (folder, ok bool)
	list(name string) []string
	read(name string) string
	write(name, text string) syscall.Errno
	mkdir(name string) syscall.Errno
	rmdir(name string) syscall.Errno
}

// mount mounts f at dir for this test's thread only: the mount ends with the thread,
// however the test ends. The caller must not leave its goroutine.
func mount(t *testing.T, f files, dir string, flags uintptr) {
	t.Helper()
	dev, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if os.Getuid() != 0 || err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI has to have root and /dev/fuse: %v", err)
		}
		t.Skipf("needs root and /dev/fuse: %v", err)
	}
	runtime.LockOSThread() // never unlocked: its mounts end with it
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("resctrl", dir, "fuse", flags, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", dev.Fd())); err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		serveFUSE(dev, f)
	}()
	if err := noPolls(filepath.Join(dir, "schemata")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
		select {
		case <-served:
		case <-time.After(10 * time.Second):
			t.Error("the file system did not end")
		}
		_ = dev.Close()
	})
}

// noPolls has the kernel learn that files can't be polled. os.Open asks by an epoll_ctl that
// the Go runtime believes not to block: with the server in this very process, the answer
// may never come. A kernel that was refused once does not ask again.
func noPolls(file string) error {
	fd, err := syscall.Open(file, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	poll := struct {
		fd              int32
		events, revents int16
	}{int32(fd), 1, 0}
	now := syscall.Timespec{}
	if _, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// The messages that are answered.
const (
	fuseLookup = iota + 1
	fuseForget
	fuseGetattr
	fuseSetattr
	fuseMkdir      = 9
	fuseRmdir      = 11
	fuseOpen       = 14
	fuseRead       = 15
	fuseWrite      = 16
	fuseStatfs     = 17
	fuseRelease    = 18
	fuseInit       = 26
	fuseOpendir    = 27
	fuseReaddir    = 28
	fuseReleasedir = 29
	fuseInterrupt  = 36
	fuseForgets    = 42
)

// fuseServer numbers the names it was asked for; a name keeps its number.
type fuseServer struct {
	files
	names []string // by number - 1
}

func serveFUSE(dev *os.File, f files) {
	s := &fuseServer{files: f, names: []string{""}}
	buf := make([]byte, 1<<17)
	for {
		n, err := syscall.Read(int(dev.Fd()), buf)
		switch {
		case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.ENOENT):
			continue
		case err != nil || n < 40:
			return // unmounted
		}
		op, unique, node := binary.LittleEndian.Uint32(buf[4:]), buf[8:16], binary.LittleEndian.Uint64(buf[16:])
		if op == fuseForget || op == fuseForgets || op == fuseInterrupt {
			continue
		}
		out, errno := s.answer(op, s.names[max(node, 1)-1], buf[40:n])
		head := binary.LittleEndian.AppendUint32(nil, uint32(16+len(out)))
		head = binary.LittleEndian.AppendUint32(head, uint32(-int32(errno)))
		_, _ = syscall.Write(int(dev.Fd()), append(append(head, unique...), out...))
	}
}

func (s *fuseServer) answer(op uint32, name string, in []byte) ([]byte, syscall.Errno) {
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(in[at:]) }
	text := func(from int) string { return path.Join(name, string(bytes.TrimRight(in[from:], "\x00"))) }
	switch op {
	case fuseInit:
		return words32(7, 31, 0, 0, 0, 1<<16, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0
	case fuseLookup:
		return s.entry(text(0))
	case fuseMkdir:
		if errno := s.mkdir(text(8)); errno != 0 {
			return nil, errno
		}
		return s.entry(text(8))
	case fuseRmdir:
		return nil, s.rmdir(text(0))
	case fuseGetattr, fuseSetattr: // a truncation is ignored, as kernfs does
		if _, ok := s.kind(name); !ok {
			return nil, syscall.ENOENT
		}
		return append(words32(0, 0, 0, 0), s.attr(name)...), 0
	case fuseOpen:
		return words32(0, 0, 1, 0), 0 // FOPEN_DIRECT_IO: no sizes, no cache
	case fuseOpendir:
		return words32(0, 0, 0, 0), 0
	case fuseRead, fuseReaddir:
		all := []byte(nil)
		if op == fuseRead {
			all = []byte(s.read(name))
		} else {
			all = s.folder(name)
		}
		from := min(int(u32(8)), len(all))
		return all[from:min(from+int(u32(16)), len(all))], 0
	case fuseWrite:
		if errno := s.write(name, string(in[40:40+u32(16)])); errno != 0 {
			return nil, errno
		}
		return words32(u32(16), 0), 0
	case fuseStatfs:
		return make([]byte, 80), 0
	case fuseRelease, fuseReleasedir:
		return nil, 0
	}
	return nil, syscall.ENOSYS // also to polls and flushes, which then never come again
}

func (s *fuseServer) number(name string) uint64 {
	for i, n := range s.names {
		if n == name {
			return uint64(i + 1)
		}
	}
	s.names = append(s.names, name)
	return uint64(len(s.names))
}

func (s *fuseServer) entry(name string) ([]byte, syscall.Errno) {
	if _, ok := s.kind(name); !ok {
		return nil, syscall.ENOENT
	}
	return append(append(words64(s.number(name), 1, 0, 0), words32(0, 0)...), s.attr(name)...), 0
}

func (s *fuseServer) attr(name string) []byte {
	mode := uint32(syscall.S_IFREG | 0o644)
	if folder, _ := s.kind(name); folder {
		mode = syscall.S_IFDIR | 0o755
	}
	return append(words64(s.number(name), 0, 0, 0, 0, 0), words32(0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)...)
}

// folder is a whole listing: entries have fixed offsets as long as nothing changes.
func (s *fuseServer) folder(name string) []byte {
	var out []byte
	for _, n := range s.list(name) {
		size := 24 + (len(n)+7)&^7
		out = append(out, words64(s.number(path.Join(name, n)), uint64(len(out)+size))...)
		out = append(out, words32(uint32(len(n)), 0)...)
		out = append(out, n+strings.Repeat("\x00", size-24-len(n))...)
	}
	return out
}

func words32(v ...uint32) []byte {
	var out []byte
	for _, w := range v {
		out = binary.LittleEndian.AppendUint32(out, w)
	}
	return out
}

func words64(v ...uint64) []byte {
	var out []byte
	for _, w := range v {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return out
}
