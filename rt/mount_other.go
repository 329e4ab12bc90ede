//go:build !linux

package rt

func mountTracefs(string) error { return unsupported("mount tracefs") }

func unmount(string) error { return unsupported("umount") }
