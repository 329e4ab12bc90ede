package lmbench

import (
	"errors"
	"fmt"
	"syscall"

	"opcycle/rt"
)

// memoryFolder is where Linux has a file system in memory for everybody.
const memoryFolder = "/dev/shm"

// filesystems are the kernel's numbers of file systems (include/uapi/linux/magic.h, and of
// those that are not in there their own sources).
func filesystem(magic int64) string {
	name, ok := map[int64]string{
		tmpfs: "tmpfs", 0x858458f6: "ramfs", 0xef53: ext4, 0x58465342: "xfs", 0x9123683e: "btrfs", 0x794c7630: "overlay",
		0xf2f52010: "f2fs", 0x2fc12fc1: "zfs", 0xca451a4e: "bcachefs", 0x6969: "nfs", 0x65735546: "fuse", 0x01021997: "9p",
		0xff534d42: "cifs", 0xfe534d42: "smb2", 0x4d44: "vfat", 0x2011bab0: "exfat",
	}[magic&0xffffffff]
	if !ok {
		return fmt.Sprintf("file system %#x", magic&0xffffffff)
	}
	return name
}

const (
	tmpfs = 0x01021994
	ext4  = "ext4" // ext2 and ext3 have the same number, and today the same driver
)

// folder is a place for files, on a file system with a name.
type folder struct{ path, fs string }

// realFolder is the folder whose file system is measured.
func (b *bed) realFolder() (folder, error) {
	if b.Dir == "" {
		return folder{}, errors.New("there is no folder to make files in: name one with --dir")
	}
	magic, err := rt.FilesystemOf(b.Dir)
	if err != nil {
		return folder{}, fmt.Errorf("%w; choose another folder with --dir", err)
	}
	return folder{b.Dir, filesystem(magic)}, nil
}

// tmpfsFolder is a file system in memory, which is there to compare with.
func tmpfsFolder() (folder, error) {
	magic, err := rt.FilesystemOf(memoryFolder)
	if err == nil && magic != tmpfs {
		err = fmt.Errorf("%s is on %s, not tmpfs", memoryFolder, filesystem(magic))
	}
	return folder{memoryFolder, "tmpfs"}, err
}

// scratch is the name of all that a probe makes in a folder. The conductor removes it when
// the probe could not.
func scratch(dir string, pid int) string { return fmt.Sprintf("%s/.opcycle-lmbench-%d", dir, pid) }

// cachedFile makes a file of size bytes, written to the disk so that nobody does that while
// it is measured, and takes its name away. It stays in the page cache.
func (f folder) cachedFile(size int64) (int, error) {
	path := scratch(f.path, rt.RawGetpid())
	fd, errno := rt.RawOpen(cString(path), rt.OpenReadWrite|rt.OpenCreate|rt.OpenExclusive|rt.OpenCloexec, 0o600)
	if errno != 0 {
		return -1, fmt.Errorf("make a file in %s: %w; choose another folder with --dir", f.path, errno)
	}
	errno = rt.RawUnlink(cString(path))
	if errno == 0 {
		errno = fill(fd, size)
	}
	if errno == 0 {
		errno = rt.RawFsync(fd)
	}
	if errno != 0 {
		rt.RawClose(fd)
		return -1, fmt.Errorf("write %s to a file in %s: %w; choose another folder with --dir", sizeText(size), f.path, errno)
	}
	return fd, nil
}

// inCache is an error when the page cache does not have all of the file.
func inCache(fd int, size int64) error {
	mem, err := rt.MapFile(fd, int(size))
	if err != nil {
		return err
	}
	defer func() { _ = rt.FreeMemory(mem) }()
	got, of, err := rt.ResidentPages(rt.MemoryPointer(mem), uintptr(size))
	if err == nil && got < of {
		err = fmt.Errorf("the page cache has %d of the file's %d pages: too little memory, or a file system that does not cache", got, of)
	}
	return err
}

// fill writes size bytes to a new file.
func fill(fd int, size int64) syscall.Errno {
	block := make([]byte, mib)
	for i := range block {
		block[i] = byte(i)
	}
	for size > 0 {
		n, errno := rt.RawWrite(fd, block[:min(int64(len(block)), size)])
		if n <= 0 {
			return failed(errno)
		}
		size -= int64(n)
	}
	return 0
}
