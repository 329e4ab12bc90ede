package rt

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// flock takes the advisory lock of a folder for this open file, alone, within wait; else it
// is EWOULDBLOCK. It ends with the file, or with the process.
//
// https://man7.org/linux/man-pages/man2/flock.2.html
func flock(path string, wait time.Duration) (io.Closer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(wait); ; time.Sleep(10 * time.Millisecond) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if errors.Is(err, unix.EWOULDBLOCK) && time.Now().Before(end) || errors.Is(err, unix.EINTR) {
			continue
		}
		_ = f.Close()
		return nil, &fs.PathError{Op: "flock", Path: path, Err: err}
	}
}
