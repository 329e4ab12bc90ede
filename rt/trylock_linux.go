package rt

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// TryLockMemory tells whether LockMemory would succeed, and if not by which error of the
// kernel: it locks what is mapped and what comes, but makes no page present
// (MCL_ONFAULT), and unlocks all again. The kernel then counts the same address space
// against the same limit, and the process does not grow. A finite limit that happens to
// be large enough is refused as LockMemory refuses it. Cold.
//
// https://man7.org/linux/man-pages/man2/mlockall.2.html
func TryLockMemory() error {
	if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT); err != nil {
		return fmt.Errorf("mlockall(MCL_CURRENT|MCL_FUTURE): %w", err)
	}
	if err := unix.Munlockall(); err != nil {
		return fmt.Errorf("munlockall: %w", err)
	}
	return mayLockAll()
}
