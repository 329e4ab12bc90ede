package rt

import (
	"os"
	"syscall"
	"testing"
)

func TestRawFolders(t *testing.T) {
	path := append([]byte(t.TempDir()+"/folder"), 0)
	if errno := RawMkdir(&path[0], 0o700); errno != 0 {
		t.Fatal(errno)
	}
	if errno := RawMkdir(&path[0], 0o700); errno != syscall.EEXIST {
		t.Errorf("made twice: %v", errno)
	}
	if errno := RawRmdir(&path[0]); errno != 0 {
		t.Error(errno)
	}
	if errno := RawRmdir(&path[0]); errno != syscall.ENOENT {
		t.Errorf("removed twice: %v", errno)
	}
}

func TestResidentPages(t *testing.T) {
	page := os.Getpagesize()
	fd, err := RawMemfd("resident", make([]byte, 3*page))
	if err != nil {
		t.Fatal(err)
	}
	defer RawClose(fd)
	if errno := RawFsync(fd); errno != 0 {
		t.Error(errno)
	}
	for name, c := range map[string]struct {
		fd, flags, resident int
	}{
		"a file in memory":            {fd, MmapShared, 3},
		"memory that nobody has used": {-1, MmapPrivate | MmapAnon, 0},
		"memory that is there":        {-1, MmapPrivate | MmapAnon | MmapPopulate, 3},
	} {
		at, errno := RawMmap(uintptr(3*page), ProtRead|ProtWrite, c.flags, c.fd, 0)
		if errno != 0 {
			t.Fatal(errno)
		}
		if n, of, err := ResidentPages(at, uintptr(3*page)); n != c.resident || of != 3 || err != nil {
			t.Errorf("%s: %d of %d pages: %v", name, n, of, err)
		}
		RawMunmap(at, uintptr(3*page))
	}
	mem, err := MapFile(fd, 3*page)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(mem); n != 3*page || mem[n-1] != 0 {
		t.Errorf("%d bytes are mapped", n)
	}
	if err := FreeMemory(mem); err != nil {
		t.Error(err)
	}
	if _, err := MapFile(-1, page); err == nil {
		t.Error("no file has no error")
	}
	if _, _, err := ResidentPages(uintptr(page), uintptr(page)); err == nil {
		t.Error("what is not mapped has no error")
	}
}
