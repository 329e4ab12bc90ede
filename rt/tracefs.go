package rt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Tracefs is one ftrace instance of our own: its buffer, events and switches are not the
// user's, whose tracing stays as it is. Cold, but for what Marker and Stop return.
//
// https://docs.kernel.org/trace/ftrace.html#instances
type Tracefs struct {
	Dir     string // of the instance
	mounted string // tracefs that was mounted for it; empty: it was there
}

// instancePrefix begins the names of our instances.
const instancePrefix = "opcycle-"

// traceBuffer is the size of the buffer of each CPU, KiB: at least the last second of scheduling.
const traceBuffer = 2048

// OpenTracefs makes an instance of the tracefs below root, with the events given that the
// kernel has, stamps by CLOCK_MONOTONIC, and tracing off. Where the kernel's is not mounted
// and root is /, it is mounted in a folder of its own until Close. Instances that a killed
// run left are removed. missing names the events that the kernel does not have.
func OpenTracefs(root string, events []string) (t *Tracefs, missing []string, err error) {
	base, mounted, err := findTracefs(root)
	if err != nil {
		return nil, nil, err
	}
	t = &Tracefs{Dir: filepath.Join(base, "instances", instancePrefix+strconv.Itoa(os.Getpid())), mounted: mounted}
	removeStale(filepath.Join(base, "instances"))
	if err := os.Mkdir(t.Dir, 0o755); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("make an instance of the tracer: %w", err), t.Close())
	}
	for _, set := range [][2]string{{"tracing_on", "0"}, {"trace_clock", "mono"}, {"buffer_size_kb", strconv.Itoa(traceBuffer)}} {
		if err := t.put(set[0], set[1]); err != nil {
			return nil, nil, errors.Join(err, t.Close())
		}
	}
	for _, e := range events {
		if err := t.put(filepath.Join("events", e, "enable"), "1"); err != nil {
			missing = append(missing, e)
		}
	}
	return t, missing, nil
}

// TracefsDir is where tracefs is, for what instances don't have (the tracer hwlat). done
// unmounts it if it was mounted for the caller, which is not possible below other roots
// than /. Cold.
func TracefsDir(root string) (dir string, done func() error, err error) {
	base, mounted, err := findTracefs(root)
	if err != nil {
		return "", nil, err
	}
	t := Tracefs{mounted: mounted}
	return base, t.Close, nil
}

// findTracefs is where tracefs is mounted; mounted is not empty when it was done here.
func findTracefs(root string) (base, mounted string, err error) {
	for _, dir := range []string{"sys/kernel/tracing", "sys/kernel/debug/tracing"} {
		base := filepath.Join(root, dir)
		if _, err := os.Stat(filepath.Join(base, "instances")); err == nil {
			return base, "", nil
		}
	}
	if root != "/" {
		return "", "", fmt.Errorf("no tracefs below %s", root)
	}
	removeStaleMounts()
	dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", mountPrefix, os.Getpid()))
	if err != nil {
		return "", "", fmt.Errorf("a folder for tracefs: %w", err)
	}
	if err := mountTracefs(dir); err != nil {
		_ = os.Remove(dir)
		return "", "", fmt.Errorf("tracefs is not mounted, and can't be: %w; run as root (CAP_SYS_ADMIN), or mount -t tracefs none /sys/kernel/tracing", err)
	}
	return dir, dir, nil
}

// mountPrefix begins the names of folders that tracefs is mounted in, before the process.
const mountPrefix = "opcycle-tracefs-"

// removeStaleMounts unmounts what a killed run had mounted.
func removeStaleMounts() {
	found, err := filepath.Glob(filepath.Join(os.TempDir(), mountPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range found {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), mountPrefix), "-")
		if _, err := os.Stat("/proc/" + pid); errors.Is(err, os.ErrNotExist) {
			removeStale(filepath.Join(dir, "instances"))
			_ = unmount(dir) // it may be a folder only
			_ = os.Remove(dir)
		}
	}
}

// removeStale removes instances of processes that are gone.
func removeStale(dir string) {
	entries, _ := os.ReadDir(dir) // none: nothing to remove
	for _, e := range entries {
		pid, ok := strings.CutPrefix(e.Name(), instancePrefix)
		if n, err := strconv.Atoi(pid); ok && err == nil {
			if _, err := os.Stat(fmt.Sprintf("/proc/%d", n)); errors.Is(err, os.ErrNotExist) {
				_ = syscall.Rmdir(filepath.Join(dir, e.Name()))
			}
		}
	}
}

func (t *Tracefs) put(file, text string) error {
	if err := os.WriteFile(filepath.Join(t.Dir, file), []byte(text), 0o644); err != nil {
		return fmt.Errorf("tracer: %s to %q: %w", file, text, err)
	}
	return nil
}

// On switches the tracer on or off.
func (t *Tracefs) On(on bool) error {
	if on {
		return t.put("tracing_on", "1")
	}
	return t.put("tracing_on", "0")
}

// Clear empties the buffers.
func (t *Tracefs) Clear() error { return t.put("trace", "") }

// Running reads whether the tracer is on: somebody may have stopped it.
func (t *Tracefs) Running() (bool, error) {
	data, err := os.ReadFile(filepath.Join(t.Dir, "tracing_on"))
	return strings.TrimSpace(string(data)) == "1", err
}

// Lost is how many events the buffers of all CPUs could not keep, because they were
// overwritten; −1 unknown.
func (t *Tracefs) Lost() int64 {
	dirs, err := filepath.Glob(filepath.Join(t.Dir, "per_cpu/cpu*/stats"))
	if err != nil || len(dirs) == 0 {
		return -1
	}
	var sum int64
	for _, d := range dirs {
		data, err := os.ReadFile(d)
		if err != nil {
			return -1
		}
		for line := range strings.Lines(string(data)) {
			name, v, _ := strings.Cut(line, ":")
			if n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil && strings.TrimSpace(name) == "overrun" {
				sum += n
			}
		}
	}
	return sum
}

// Close removes the instance, and what was mounted for it.
func (t *Tracefs) Close() error {
	var errs []error
	if t.Dir != "" {
		if err := syscall.Rmdir(t.Dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove the tracer's instance: %w", err))
		}
		t.Dir = ""
	}
	if t.mounted != "" {
		errs = append(errs, unmount(t.mounted), os.Remove(t.mounted))
		t.mounted = ""
	}
	return errors.Join(errs...)
}

// Marker writes records into a running tracer, and can stop it. It is made by the process
// that is measured, for one thread.
type Marker struct {
	mark, switches int
	buf            [64]byte
}

// OpenMarker opens the marker of the instance at dir. Cold.
func OpenMarker(dir string) (*Marker, error) {
	m := &Marker{mark: -1, switches: -1}
	for _, f := range []struct {
		name string
		fd   *int
	}{{"trace_marker", &m.mark}, {"tracing_on", &m.switches}} {
		path := append([]byte(filepath.Join(dir, f.name)), 0)
		fd, errno := RawOpen(&path[0], OpenWriteOnly|OpenCloexec, 0)
		if errno != 0 {
			m.Close()
			return nil, fmt.Errorf("open the tracer's %s: %w", f.name, errno)
		}
		*f.fd = fd
	}
	return m, nil
}

// Mark writes "opcycle WORD k=K ns=V"; false: the tracer is off and took nothing. Hot: one
// system call, no allocation.
func (m *Marker) Mark(word string, k, v int64) bool {
	b := append(m.buf[:0], "opcycle "...)
	b = append(b, word...)
	b = append(b, " k="...)
	b = strconv.AppendInt(b, k, 10)
	b = append(b, " ns="...)
	b = strconv.AppendInt(b, v, 10)
	_, errno := RawWrite(m.mark, b)
	return errno == 0
}

// Stop stops the tracer at once. Hot.
func (m *Marker) Stop() {
	b := append(m.buf[:0], '0')
	_, _ = RawWrite(m.switches, b)
}

// Close closes both files. Cold.
func (m *Marker) Close() {
	for _, fd := range []int{m.mark, m.switches} {
		if fd >= 0 {
			RawClose(fd)
		}
	}
	m.mark, m.switches = -1, -1
}
