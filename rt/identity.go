package rt

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// under joins a root, "/" on the real machine and a fixture tree in tests, and a path.
func under(root, path string) string { return filepath.Join(root, path) }

// BootID is the random id that the kernel drew at boot: two processes with the same one
// run on one kernel and share CLOCK_REALTIME. Cold.
//
// https://man7.org/linux/man-pages/man5/proc_sys_kernel.5.html
func BootID(root string) (string, error) {
	id, err := oneLine(under(root, "proc/sys/kernel/random/boot_id"))
	if err != nil {
		return "", fmt.Errorf("boot id: %w", err)
	}
	return id, nil
}

// TimeNamespace is the inode of this process's time namespace: CLOCK_MONOTONIC of two
// processes is comparable only if it is the same. Cold.
//
// https://man7.org/linux/man-pages/man7/time_namespaces.7.html
func TimeNamespace(root string) (inode uint64, err error) {
	path := under(root, "proc/self/ns/time")
	link, err := os.Readlink(path)
	if err != nil {
		return 0, fmt.Errorf("time namespace: %w", err)
	}
	number, ok := strings.CutPrefix(link, "time:[")
	number, closed := strings.CutSuffix(number, "]")
	if inode, err = strconv.ParseUint(number, 10, 64); err != nil || !ok || !closed {
		return 0, fmt.Errorf("time namespace: %s is a link to %q, not to time:[inode]", path, link)
	}
	return inode, nil
}

// ClockSource is the kernel's clock source, such as tsc or arch_sys_counter. Under hpet
// or acpi_pm a clock read is a device access of about 1 µs. Cold.
//
// https://docs.kernel.org/timers/timekeeping.html
func ClockSource(root string) (string, error) {
	name, err := oneLine(under(root, "sys/devices/system/clocksource/clocksource0/current_clocksource"))
	if err != nil {
		return "", fmt.Errorf("clock source: %w", err)
	}
	return name, nil
}

// oneLine reads a file of one line, which must not be empty: an empty name would compare
// equal to another unknown one.
func oneLine(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	line := strings.TrimSpace(string(text))
	if line == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return line, nil
}
