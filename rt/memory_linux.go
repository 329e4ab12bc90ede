package rt

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// LockMemory keeps every present and future page of this process in memory. It is done
// only where it cannot fail later: with the memory unlimited by RLIMIT_MEMLOCK, or with
// CAP_IPC_LOCK over the whole machine. Any finite limit is refused although the call
// itself might succeed: the Go runtime reserves more than 1 GB of address space, all of
// it counts, and the first mapping over the limit ends the process. Cold; RSS grows by
// some 40 MB.
//
// https://man7.org/linux/man-pages/man2/mlockall.2.html
func LockMemory() error {
	if err := mayLockAll(); err != nil {
		return err
	}
	if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE); err != nil {
		return fmt.Errorf("mlockall(MCL_CURRENT|MCL_FUTURE): %w", err)
	}
	return nil
}

// mayLockAll refuses what LockMemory refuses.
func mayLockAll() error {
	soft, _, err := MemlockLimit()
	if err != nil || soft == Unlimited {
		return err
	}
	may, err := mayLock()
	if err == nil && !may {
		err = fmt.Errorf("lock memory: RLIMIT_MEMLOCK is %d bytes and CAP_IPC_LOCK is not held: %w: "+
			"ulimit -l unlimited; in a container --cap-add IPC_LOCK --ulimit memlock=-1", soft, unix.EPERM)
	}
	return err
}

// mayLock reports whether CAP_IPC_LOCK is held where the kernel checks it: in the first
// user namespace.
func mayLock() (bool, error) {
	has, err := HasCapability(CapIPCLock)
	if err != nil || !has {
		return false, err
	}
	return InitialUserNamespace("/")
}

// MemlockLimit is RLIMIT_MEMLOCK in bytes; Unlimited when there is none. Cold.
func MemlockLimit() (soft, hard uint64, err error) { return Rlimit(LimitMemlock) }

// NewShared makes zeroed shared memory of size bytes whose every page is present. name is
// for /proc/self/maps only. The file can neither shrink nor grow (sealed): a peer cannot
// turn our next access into a SIGBUS. Cold.
//
// https://man7.org/linux/man-pages/man2/memfd_create.2.html
func NewShared(name string, size int) (*Shared, error) {
	if size <= 0 {
		return nil, fmt.Errorf("shared memory %q of %d bytes: ask for 1 or more", name, size)
	}
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("memfd_create(%q): %w", name, err)
	}
	file := os.NewFile(uintptr(fd), "memfd:"+name)
	if err := file.Truncate(int64(size)); err != nil {
		return nil, errors.Join(fmt.Errorf("shared memory %q of %d bytes: %w", name, size, err), file.Close())
	}
	seals := unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return nil, errors.Join(fmt.Errorf("shared memory %q: fcntl(F_ADD_SEALS): %w", name, err), file.Close())
	}
	s, err := MapShared(file, size)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

// MapShared maps the first size bytes of a file made by NewShared, here or in another
// process, and touches every page without changing it. The Shared owns f from then on; on
// an error the caller still does. A file shorter than size is refused. Cold.
//
// https://man7.org/linux/man-pages/man2/mmap.2.html
func MapShared(f *os.File, size int) (*Shared, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("map shared memory: %w", err)
	}
	if size <= 0 || info.Size() < int64(size) {
		return nil, fmt.Errorf("map shared memory %s: %d bytes asked for, the file has %d: both ends must be of "+
			"one version", f.Name(), size, info.Size())
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap %d bytes of %s: %w", size, f.Name(), err)
	}
	touch(mem)
	return &Shared{Mem: mem, File: f}, nil
}

// touch makes every page present and writable in this process by adding 0 to it, so that
// neither a peer's value is lost nor a later write faults. madvise(MADV_POPULATE_WRITE)
// was rejected: it needs Linux 5.14.
func touch(mem []byte) {
	for page := 0; page < len(mem); page += os.Getpagesize() {
		// A last page may hold fewer than 4 bytes of mem, but the mapping is of whole pages.
		atomic.AddUint32((*uint32)(unsafe.Pointer(&mem[page])), 0)
	}
}

// Lock keeps the mapping in memory where LockMemory is refused: only its own bytes count
// against RLIMIT_MEMLOCK. Cold.
//
// https://man7.org/linux/man-pages/man2/mlock.2.html
func (s *Shared) Lock() error {
	if err := LockPages(s.Mem); err != nil {
		return fmt.Errorf("%s: %w", s.File.Name(), err)
	}
	return nil
}

// LockPages keeps the pages of mem in memory; only they count against RLIMIT_MEMLOCK. Cold.
//
// https://man7.org/linux/man-pages/man2/mlock.2.html
func LockPages(mem []byte) error {
	if err := unix.Mlock(mem); err != nil {
		return fmt.Errorf("mlock %d bytes: %w: raise RLIMIT_MEMLOCK (ulimit -l)", len(mem), err)
	}
	return nil
}

// Close removes the mapping and closes the file. NB: every slice of Mem is void
// afterwards; touching one is a fault that no recover catches. Cold.
func (s *Shared) Close() error {
	if s.Mem == nil {
		return fmt.Errorf("close shared memory %s: %w", s.File.Name(), os.ErrClosed)
	}
	err := unix.Munmap(s.Mem)
	s.Mem = nil
	if err != nil {
		err = fmt.Errorf("munmap %s: %w", s.File.Name(), err)
	}
	return errors.Join(err, s.File.Close())
}
