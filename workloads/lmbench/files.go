package lmbench

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// Of the files that are made and deleted.
const (
	filesInFolder = 100 // as the original's
	foldersInTree = 100
	// mostTenK bounds the files of 10 KiB: 20 MB, or 24 MB in the pages of a tmpfs, which
	// in a container often has 64 MB.
	mostTenK = 2000
	tenK     = 10 * kib
	// filesTime is what an interval's files may take to be made and deleted together: a file
	// system may be a thousand times slower than another.
	filesTime  = 100 * time.Millisecond
	firstFiles = 20 // that tell how slow it is
)

// fileFigure times the making or the deleting of files of size bytes.
func fileFigure(name, column string, size int, deleting bool) figure {
	return figure{table: tableFiles, name: name, column: column, run: func(b *bed) ([]bench.Reading, error) {
		disk, err := b.realFolder()
		if err != nil {
			return nil, err
		}
		row, err := b.files(disk, size, deleting)
		if err != nil || disk.fs == "tmpfs" {
			return []bench.Reading{row}, err
		}
		second, err := b.tmpfsFiles(size, deleting)
		return []bench.Reading{row, second}, err
	}}
}

// tmpfsFiles is the same in memory, where no disk and no journal disturbs it; without a
// number where there is no such place.
func (b *bed) tmpfsFiles(size int, deleting bool) (bench.Reading, error) {
	dir, err := tmpfsFolder()
	var row bench.Reading
	if err == nil {
		row, err = b.files(dir, size, deleting)
	}
	if err != nil && !errors.Is(err, errStopped) {
		return bench.Reading{Mechanism: "tmpfs", Statistic: median, Unit: micros, NA: err.Error()}, nil
	}
	return row, err
}

// files measures in one folder. Of making and deleting, which take turns, one is timed.
func (b *bed) files(dir folder, size int, deleting bool) (bench.Reading, error) {
	most := filesInFolder * foldersInTree
	if size > 0 {
		most = mostTenK
	}
	t, err := newTree(dir.path, most)
	if err != nil {
		return bench.Reading{}, err
	}
	s, err := b.treeFiles(t, make([]byte, size), int64(most), deleting)
	if err = joined(err, t.remove()); err != nil {
		return bench.Reading{}, err
	}
	r := s.reading(fmt.Sprintf("%d bytes, %s", size, dir.fs), median, micros)
	if dir.fs == ext4 {
		remark(&r, "an ext4 without a journal passes over inodes that were deleted in the last minute: there, making files after deleting many costs many times more, here as in the original")
	}
	return r, nil
}

// treeFiles makes and deletes files of a tree, at most so many an interval.
func (b *bed) treeFiles(t *tree, content []byte, most int64, deleting bool) (sample, error) {
	making := timed("make a file in "+t.path, func(n int64) syscall.Errno { return t.makeFiles(content, n) })
	removing := timed("delete a file in "+t.path, func(n int64) syscall.Errno { return t.deleteFiles(n) })
	both := func(n int64) (made, removed int64, err error) {
		if made, err = making(n); err == nil {
			removed, err = removing(n)
		}
		return made, removed, err
	}
	made, removed, err := both(firstFiles)
	if err != nil {
		return sample{}, err
	}
	most = min(most, max(firstFiles, int64(filesTime)*firstFiles/(made+removed)))
	return b.repeatAtMost(most, func(n int64) (int64, error) {
		made, removed, err := both(n)
		if deleting {
			return removed, err
		}
		return made, err
	})
}

// tree is a folder with folders of so many names each, of which none exists yet.
type tree struct {
	path    string
	folders int
	names   []byte // each of them in width bytes, and zeros
	width   int
}

// newTree makes the folders. What is there of it when that fails is removed.
func newTree(dir string, files int) (*tree, error) {
	t := &tree{path: scratch(dir, rt.RawGetpid())}
	t.width = len(t.path) + len("/99/99") + 1
	t.names = make([]byte, files*t.width)
	for i := range files {
		copy(t.names[i*t.width:], fmt.Sprintf("%s/%d/%d", t.path, i/filesInFolder, i%filesInFolder))
	}
	if errno := rt.RawMkdir(cString(t.path), 0o700); errno != 0 {
		return nil, fmt.Errorf("make a folder in %s: %w; choose another with --dir", dir, errno)
	}
	for ; t.folders*filesInFolder < files; t.folders++ {
		if errno := rt.RawMkdir(cString(fmt.Sprintf("%s/%d", t.path, t.folders)), 0o700); errno != 0 {
			return nil, joined(fmt.Errorf("make folder %d in %s: %w", t.folders, dir, errno), t.remove())
		}
	}
	return t, nil
}

func (t *tree) name(i int64) *byte { return &t.names[int(i)*t.width] }

// makeFiles makes the first n files, the last one first as the original. hot.
//
//go:nosplit
func (t *tree) makeFiles(content []byte, n int64) syscall.Errno {
	for n--; n >= 0; n-- {
		fd, errno := rt.RawOpen(t.name(n), rt.OpenCreate|rt.OpenWriteOnly|rt.OpenTruncate, 0o666)
		if errno != 0 {
			return errno
		}
		if len(content) > 0 {
			if put, errno := rt.RawWrite(fd, content); put != len(content) {
				rt.RawClose(fd)
				return failed(errno)
			}
		}
		if errno := rt.RawClose(fd); errno != 0 {
			return errno
		}
	}
	return 0
}

// deleteFiles deletes them. hot.
//
//go:nosplit
func (t *tree) deleteFiles(n int64) syscall.Errno {
	for n--; n >= 0; n-- {
		if errno := rt.RawUnlink(t.name(n)); errno != 0 {
			return errno
		}
	}
	return 0
}

// remove takes all away, also what a failure has left.
func (t *tree) remove() error {
	for i := range int64(len(t.names) / t.width) {
		rt.RawUnlink(t.name(i))
	}
	var first error
	gone := func(path string) {
		if errno := rt.RawRmdir(cString(path)); errno != 0 && first == nil {
			first = fmt.Errorf("remove %s: %w", path, errno)
		}
	}
	for i := range t.folders {
		gone(fmt.Sprintf("%s/%d", t.path, i))
	}
	gone(t.path)
	return first
}
