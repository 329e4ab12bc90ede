//go:build !linux

package rt

import (
	"syscall"
	"time"
)

// What only Linux has, elsewhere: ENOSYS, or an error that says so.

func RawGetppid() int                                                { return -1 }
func RawGetpid() int                                                 { return -1 }
func RawRead(int, []byte) (int, syscall.Errno)                       { return -1, syscall.ENOSYS }
func RawWrite(int, []byte) (int, syscall.Errno)                      { return -1, syscall.ENOSYS }
func RawOpen(*byte, int, uint32) (int, syscall.Errno)                { return -1, syscall.ENOSYS }
func RawClose(int) syscall.Errno                                     { return syscall.ENOSYS }
func RawStat(*byte, *StatBuffer) syscall.Errno                       { return syscall.ENOSYS }
func RawUnlink(*byte) syscall.Errno                                  { return syscall.ENOSYS }
func RawLseek(int, int64, int) (int64, syscall.Errno)                { return -1, syscall.ENOSYS }
func RawMunmap(uintptr, uintptr) syscall.Errno                       { return syscall.ENOSYS }
func RawMprotect(uintptr, uintptr, int) syscall.Errno                { return syscall.ENOSYS }
func RawMsync(uintptr, uintptr, int) syscall.Errno                   { return syscall.ENOSYS }
func RawMadvise(uintptr, uintptr, int) syscall.Errno                 { return syscall.ENOSYS }
func RawFutexWait(*uint32, uint32) syscall.Errno                     { return syscall.ENOSYS }
func RawFutexWake(*uint32, int) (int, syscall.Errno)                 { return -1, syscall.ENOSYS }
func RawKill(int, int) syscall.Errno                                 { return syscall.ENOSYS }
func RawTgkill(int, int, int) syscall.Errno                          { return syscall.ENOSYS }
func RawWait(int, *int32, int) (int, syscall.Errno)                  { return -1, syscall.ENOSYS }
func RawExit(code int)                                               { syscall.Exit(code) }
func RawDieWithParent() syscall.Errno                                { return syscall.ENOSYS }
func RawPipe() (r, w int, err error)                                 { return -1, -1, unsupported("pipe2") }
func RawSocketPair() (a, b int, err error)                           { return -1, -1, unsupported("socketpair") }
func RawEventfd(bool) (int, error)                                   { return -1, unsupported("eventfd") }
func RawMemfd(string, []byte) (int, error)                           { return -1, unsupported("memfd_create") }
func UnshareFiles() error                                            { return unsupported("unshare") }
func RawMemory(int, bool) ([]byte, error)                            { return nil, unsupported("mmap") }
func FreeMemory([]byte) error                                        { return unsupported("munmap") }
func FilesystemOf(string) (int64, error)                             { return 0, unsupported("statfs") }
func MemoryPointer([]byte) uintptr                                   { return 0 }
func RawMmap(uintptr, int, int, int, int64) (uintptr, syscall.Errno) { return 0, syscall.ENOSYS }
func RawSocket(bool) (int, syscall.Errno)                            { return -1, syscall.ENOSYS }
func RawConnect(int, *RawAddress) syscall.Errno                      { return syscall.ENOSYS }
func RawAccept(int) (int, syscall.Errno)                             { return -1, syscall.ENOSYS }
func RawReceiveFrom(int, []byte, *RawAddress) (int, syscall.Errno)   { return -1, syscall.ENOSYS }
func RawSendTo(int, []byte, *RawAddress) (int, syscall.Errno)        { return -1, syscall.ENOSYS }
func RawSetSocketOption(int, int, int32) syscall.Errno               { return syscall.ENOSYS }
func RawSocketOption(int, int) (int, error)                          { return 0, unsupported("getsockopt") }
func LoopbackAddress(byte, int) RawAddress                           { return RawAddress{} }
func RawListen(int) (fd, port int, err error)                        { return -1, 0, unsupported("raw sockets") }
func RawUDP(time.Duration) (fd, port int, err error)                 { return -1, 0, unsupported("raw sockets") }
func RawDup(int) (int, error)                                        { return -1, unsupported("fcntl") }
func RawSelectWritable(int, *FDSet) (int, syscall.Errno)             { return -1, syscall.ENOSYS }
func RawDupTo(int, int) error                                        { return unsupported("dup3") }
func ForkExec(string, []string) (int, syscall.Errno)                 { return -1, syscall.ENOSYS }
func SharedCounter() (*uint64, error)                                { return nil, unsupported("mmap") }
