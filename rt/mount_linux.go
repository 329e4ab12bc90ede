package rt

import "golang.org/x/sys/unix"

func mountTracefs(dir string) error { return unix.Mount("none", dir, "tracefs", 0, "") }

func unmount(dir string) error { return unix.Unmount(dir, unix.MNT_DETACH) }
