package lmbench

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"opcycle/bench"
	"opcycle/rt"
)

// kept counts the files below a folder.
func kept(t *testing.T, dir string) (folders, files, bytes int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil || path == dir:
		case d.IsDir():
			folders++
		default:
			info, _ := d.Info()
			files, bytes = files+1, bytes+int(info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return folders, files, bytes
}

// The loops make and delete as many files as they are told, of that size, not more than a
// hundred in a folder, and nothing stays.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	tr, err := newTree(dir, 250)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, tenK} {
		if errno := tr.makeFiles(make([]byte, size), 230); errno != 0 {
			t.Fatal(errno)
		}
		if folders, files, bytes := kept(t, dir); folders != 4 || files != 230 || bytes != 230*size {
			t.Errorf("%d folders, %d files, %d bytes", folders, files, bytes)
		}
		entries, err := os.ReadDir(filepath.Join(tr.path, "0"))
		if err != nil || len(entries) != filesInFolder {
			t.Errorf("%d entries in a folder: %v", len(entries), err)
		}
		if errno := tr.deleteFiles(230); errno != 0 {
			t.Fatal(errno)
		}
		if _, files, _ := kept(t, dir); files != 0 {
			t.Errorf("%d files stay", files)
		}
	}
	if errno := tr.deleteFiles(1); errno != syscall.ENOENT {
		t.Errorf("deleted twice: %v", errno)
	}
	if errno := tr.makeFiles(nil, 7); errno != 0 {
		t.Fatal(errno)
	}
	if err := tr.remove(); err != nil {
		t.Error(err)
	}
	if folders, files, _ := kept(t, dir); folders+files != 0 {
		t.Errorf("%d folders and %d files stay", folders, files)
	}
}

func TestTreeThatCannotBe(t *testing.T) {
	if _, err := newTree("/nowhere", 10); err == nil || !strings.Contains(err.Error(), "/nowhere") || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("the error is %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(scratch(dir, os.Getpid()), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := newTree(dir, 10); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("the error is %v", err)
	}
}

// A figure of files leaves nothing behind, also when its run is ended, and says what it is
// of.
func TestFiles(t *testing.T) {
	for _, deleting := range []bool{false, true} {
		b := alone(t)
		dir := t.TempDir()
		r, err := b.files(folder{dir, "this"}, 100, deleting)
		if err != nil {
			t.Fatal(err)
		}
		if r.Value == nil || *r.Value <= 0 || !strings.Contains(r.Mechanism, "100 bytes, this") {
			t.Errorf("%+v", r)
		}
		*b.stop = 1
		if _, err := b.files(folder{dir, "this"}, 100, deleting); !errors.Is(err, errStopped) {
			t.Errorf("the error is %v", err)
		}
		if folders, files, _ := kept(t, dir); folders+files != 0 {
			t.Errorf("%d folders and %d files stay", folders, files)
		}
	}
}

func TestRealFolder(t *testing.T) {
	for name, c := range map[string]struct{ dir, fs, err string }{
		"none":       {"", "", "--dir"},
		"not there":  {"/nowhere/at/all", "", "/nowhere/at/all"},
		"of a kind":  {"/dev/shm", "tmpfs", ""},
		"of another": {"/proc", "file system 0x9fa0", ""},
	} {
		b := newBed(1)
		b.Dir = c.dir
		f, err := b.realFolder()
		if f.fs != c.fs || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func TestCachedFile(t *testing.T) {
	dir := t.TempDir()
	const size = 3*mib + 5
	fd, err := folder{dir, "this"}.cachedFile(size)
	if err != nil {
		t.Fatal(err)
	}
	defer rt.RawClose(fd)
	if _, files, _ := kept(t, dir); files != 0 {
		t.Error("its name stays")
	}
	mem, err := rt.MapFile(fd, size)
	if err != nil {
		t.Fatal(err)
	}
	if mem[size-1] != 4 || !bytes.Equal(mem[:mib], mem[2*mib:3*mib]) || mem[255] != 255 {
		t.Error("another content")
	}
	if err := inCache(fd, size); err != nil {
		t.Error(err)
	}
	if err := rt.FreeMemory(mem); err != nil {
		t.Error(err)
	}
	if _, err := (folder{"/nowhere", "this"}).cachedFile(1); err == nil || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("the error is %v", err)
	}
}

// What a killed probe left is removed by the conductor.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	m := measurement{runner: &runner{dir: dir}}
	tree := filepath.Join(scratch(dir, 4711), "0")
	if err := os.MkdirAll(tree, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree, "7"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "another's"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m.sweep(4711)
	if folders, files, _ := kept(t, dir); folders != 0 || files != 1 {
		t.Errorf("%d folders and %d files stay", folders, files)
	}
}

func TestFileSystemsHaveNames(t *testing.T) {
	for magic, want := range map[int64]string{0xef53: ext4, 0x58465342: "xfs", 0x794c7630: "overlay", 0x01021994: "tmpfs", -0x6edc97c2: "btrfs", 0x1234: "file system 0x1234"} {
		if got := filesystem(magic); got != want {
			t.Errorf("%#x is %q, not %q", magic, got, want)
		}
	}
}

// Each figure of files and memory that is measured here has its rows, in a folder of the
// test, and none is without a number.
func TestFileAndVMFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("real figures take seconds")
	}
	b := alone(t)
	b.Dir, b.Root = t.TempDir(), "/"
	for name, c := range map[string]struct {
		run  func(*bed) ([]bench.Reading, error)
		rows int // at least
	}{
		"mmap":        {mmapLatency, 1},
		"page fault":  {pageFault, 3},
		"file reread": {fileReread, 1},
		"mmap reread": {mmapReread, 1},
	} {
		rows, err := c.run(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(rows) < c.rows {
			t.Errorf("%s: %d rows", name, len(rows))
		}
		for _, r := range rows {
			if r.Value == nil || r.Mechanism == "" {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
	if folders, files, _ := kept(t, b.Dir); folders+files != 0 {
		t.Errorf("%d folders and %d files stay", folders, files)
	}
}

func TestFaults(t *testing.T) {
	b := alone(t)
	fd, err := folder{t.TempDir(), "this"}.cachedFile(mib)
	if err != nil {
		t.Fatal(err)
	}
	defer rt.RawClose(fd)
	page, err := rt.MapFile(fd, os.Getpagesize())
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.faults(rt.MemoryPointer(page))
	if err != nil || s.least() <= 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if page[0] != 0 {
		t.Error("the page was written")
	}
	mem, err := rt.RawMemory(4096, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.faults(rt.MemoryPointer(mem)); err == nil || !strings.Contains(err.Error(), "0 of 1 stores") {
		t.Errorf("the error is %v", err)
	}
}

// As many faults as the kernel counts divide the same time that the pages do.
func TestPageFaultRows(t *testing.T) {
	rows := pageFaultRows(samples(1100, 1100, 1100), samples(100, 100, 100), 100, 10, "this")
	for i, want := range []float64{0.01, 0.1, 0.1} {
		if rows[i].Value == nil || *rows[i].Value < want*0.999 || *rows[i].Value > want*1.001 {
			t.Errorf("row %d is not %g: %+v", i, want, rows[i])
		}
	}
	if !strings.Contains(rows[0].Deviation, "10 faults for 100 pages") {
		t.Errorf("the remark is %q", rows[0].Deviation)
	}
	if rows := pageFaultRows(samples(2, 2, 2), samples(1, 1, 1), 100, 0, "this"); rows[1].NA == "" {
		t.Errorf("no faults have a cost: %+v", rows[1])
	}
}

// The kernel's count of faults is at least one a window of fault-around, and each page is
// there: read again, none faults.
func TestTouchesFault(t *testing.T) {
	dir := t.TempDir()
	fd, err := folder{dir, "this"}.cachedFile(faultBytes)
	if err != nil {
		t.Fatal(err)
	}
	defer rt.RawClose(fd)
	alone(t)
	pages := pageOrder(faultBytes)
	if len(pages)*os.Getpagesize() != faultBytes {
		t.Fatalf("%d pages", len(pages))
	}
	seen := map[uint64]bool{}
	for _, p := range pages {
		seen[p] = true
	}
	if len(seen) != len(pages) || !seen[0] || !seen[faultBytes-uint64(os.Getpagesize())] {
		t.Errorf("%d of %d pages", len(seen), len(pages))
	}
	before := rt.ThreadUsage().MinorFaults
	if errno := touches(fd, pages, 3); errno != 0 {
		t.Fatal(errno)
	}
	faults := rt.ThreadUsage().MinorFaults - before
	// Large folios are mapped whole: at most 2 MiB a fault where pages have 4 KiB.
	if least := int64(3 * faultBytes / (2 * mib)); faults < least || faults > int64(3*len(pages))*11/10 {
		t.Errorf("%d faults for 3 times %d pages", faults, len(pages))
	}
}
