package run

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"opcycle/record"
	"os"
	"path/filepath"
)

// Folder is the folder of one result. Every file in it comes by a temporary name and a
// rename: what has its name is whole.
type Folder struct {
	Dir     string
	parent  string // made for it, to be removed with it; empty: it was there
	records *os.File
	buf     *bufio.Writer
	asides  []string // temporary names of Create: what was never closed goes with Discard
}

// The files of a result.
const (
	ResultName  = "run.json"
	RecordsName = "cycles.bin"
)

// recordsPerCycle is how many records a cycle makes at most, with one client; maxHeld
// bounds the memory they wait in.
const (
	recordsPerCycle = 6
	maxHeld         = 64 << 20
)

// Create makes the folder and, with cycles > 0, opens the file for all their records. A
// folder that holds a result is refused: results are never overwritten.
func Create(dir string, cycles int64) (*Folder, error) {
	f := &Folder{Dir: dir}
	if parent := filepath.Dir(dir); absent(parent) {
		f.parent = parent
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the result: %w; choose another with --out", err)
	}
	if _, err := os.Stat(filepath.Join(dir, ResultName)); err == nil {
		return nil, fmt.Errorf("%s holds a result already; choose another folder with --out", dir)
	}
	if cycles == 0 {
		return f, nil
	}
	t, err := os.CreateTemp(dir, "."+RecordsName+"-*")
	if err != nil {
		return nil, fmt.Errorf("open the file for all records: %w; choose another folder with --out", err)
	}
	// Held in touched memory until the end: a write in the middle takes new pages of the
	// page cache, and these cost the measured CPUs as much as pages of our own.
	size := int(min(max(cycles*recordsPerCycle*record.Size, 1<<20), maxHeld))
	f.records, f.buf = t, bufio.NewWriterSize(t, size)
	_, _ = f.buf.Write(make([]byte, size-1)) // fits: touches the buffer, reaches no file
	f.buf.Reset(t)
	return f, nil
}

// Records takes the records of the measuring phase; nil when they are not kept.
func (f *Folder) Records() io.Writer {
	if f.buf == nil {
		return nil
	}
	return f.buf
}

// Save writes v as run.json and gives the records their name.
func (f *Folder) Save(v any) (err error) {
	if f.records != nil {
		err = errors.Join(f.buf.Flush(), settle(f.records, filepath.Join(f.Dir, RecordsName)))
		f.records = nil
	}
	t, terr := os.CreateTemp(f.Dir, "."+ResultName+"-*")
	if terr != nil {
		return errors.Join(err, fmt.Errorf("write the result: %w", terr))
	}
	enc := json.NewEncoder(t)
	enc.SetIndent("", " ")
	if werr := enc.Encode(v); werr != nil {
		_, _ = t.Close(), os.Remove(t.Name())
		return errors.Join(err, fmt.Errorf("write the result: %w", werr))
	}
	return errors.Join(err, settle(t, filepath.Join(f.Dir, ResultName)))
}

// Discard removes what was begun; the folder stays when it holds anything else.
func (f *Folder) Discard() {
	if f.records != nil {
		_, _ = f.records.Close(), os.Remove(f.records.Name())
		f.records = nil
	}
	for _, name := range f.asides {
		_ = os.Remove(name) // gone, where it got its own name
	}
	_ = os.Remove(f.Dir) // fails when it is not empty, as it should
	if f.parent != "" {
		_ = os.Remove(f.parent)
	}
}

func absent(path string) bool {
	_, err := os.Stat(path)
	return os.IsNotExist(err)
}

// settle makes t durable and gives it its name, which a power cut then leaves it.
func settle(t *os.File, name string) error {
	err := errors.Join(t.Sync(), t.Chmod(0o644), t.Close())
	if err == nil {
		err = os.Rename(t.Name(), name)
	}
	if err != nil {
		_ = os.Remove(t.Name())
		return fmt.Errorf("write %s: %w", name, err)
	}
	return syncFolder(filepath.Dir(name))
}

// syncFolder makes a rename in dir durable.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("make the names in %s durable: %w", dir, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("make the names in %s durable: %w", dir, err)
	}
	return nil
}
