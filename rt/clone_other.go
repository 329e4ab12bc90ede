//go:build !linux || !(amd64 || arm64)

package rt

import "syscall"

// What needs assembly, elsewhere: ENOSYS.

func RawClone() (int, syscall.Errno)                                { return -1, syscall.ENOSYS }
func RawCloneExit() (int, syscall.Errno)                            { return -1, syscall.ENOSYS }
func RawCloneExec(bool, *byte, **byte, **byte) (int, syscall.Errno) { return -1, syscall.ENOSYS }
func BlockSignals() uint64                                          { return 0 }
func SetBlockedSignals(uint64)                                      {}
func CountSignals() SignalAction                                    { return SignalAction{} }
func SignalsHandled() uint64                                        { return 0 }
func RawSigaction(int, *SignalAction, *SignalAction) syscall.Errno  { return syscall.ENOSYS }
func ForkerCode() []byte                                            { return nil }
