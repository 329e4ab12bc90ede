//go:build !linux

package rt

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// unsupported is the error of every call that only Linux has.
func unsupported(what string) error {
	return fmt.Errorf("%s: %w: measure on Linux", what, errors.ErrUnsupported)
}

// Timer is a timerfd on Linux; elsewhere there is none.
type Timer struct{}

// NewTimer fails outside Linux.
func NewTimer() (*Timer, error) { return nil, unsupported("timerfd") }

// SleepUntil fails outside Linux.
func (*Timer) SleepUntil(int64) error { return unsupported("timerfd") }

// Close fails outside Linux.
func (*Timer) Close() error { return unsupported("timerfd") }

// NanosleepOnce fails outside Linux.
func NanosleepOnce(int64) error { return unsupported("clock_nanosleep") }

// NanosleepUntil fails outside Linux.
func NanosleepUntil(int64) error { return unsupported("clock_nanosleep") }

// SetThread fails outside Linux.
func SetThread(int, Attr) error { return unsupported("sched_setattr") }

// ReadThread fails outside Linux.
func ReadThread(int) (Attr, error) { return Attr{}, unsupported("sched_getattr") }

// SetAffinity fails outside Linux.
func SetAffinity(int, []int) error { return unsupported("sched_setaffinity") }

// Affinity fails outside Linux.
func Affinity(int) ([]int, error) { return nil, unsupported("sched_getaffinity") }

// Gettid is -1, unknown, outside Linux.
func Gettid() int { return -1 }

// Threads fails outside Linux.
func Threads() ([]int, error) { return nil, unsupported("list threads") }

// ThreadsOf fails outside Linux.
func ThreadsOf(int) ([]int, error) { return nil, unsupported("list threads") }

// Exec fails outside Linux.
func Exec(string, []string, []string, Attr, time.Duration) error { return unsupported("exec") }

// SetTimerSlack fails outside Linux.
func SetTimerSlack(time.Duration) error { return unsupported("timer slack") }

// TimerSlack fails outside Linux.
func TimerSlack() (time.Duration, error) { return 0, unsupported("timer slack") }

// SetParentDeathSignal fails outside Linux.
func SetParentDeathSignal() error { return unsupported("parent death signal") }

// Rlimit fails outside Linux.
func Rlimit(Resource) (soft, hard uint64, err error) { return 0, 0, unsupported("getrlimit") }

// LimitRealTime fails outside Linux.
func LimitRealTime(time.Duration) error { return unsupported("RLIMIT_RTTIME") }

// LimitRealTimeOf fails outside Linux.
func LimitRealTimeOf(int, time.Duration) error { return unsupported("RLIMIT_RTTIME") }

// LockPages fails outside Linux.
func LockPages([]byte) error { return unsupported("mlock") }

// HasCapability fails outside Linux.
func HasCapability(Capability) (bool, error) { return false, unsupported("capget") }

// InitialUserNamespace fails outside Linux.
func InitialUserNamespace(string) (bool, error) { return false, unsupported("user namespace") }

// LockMemory fails outside Linux.
func LockMemory() error { return unsupported("mlockall") }

// TryLockMemory fails outside Linux.
func TryLockMemory() error { return unsupported("mlockall") }

// MemlockLimit fails outside Linux.
func MemlockLimit() (soft, hard uint64, err error) { return 0, 0, unsupported("RLIMIT_MEMLOCK") }

// NewShared fails outside Linux.
func NewShared(string, int) (*Shared, error) { return nil, unsupported("memfd_create") }

// MapShared fails outside Linux.
func MapShared(*os.File, int) (*Shared, error) { return nil, unsupported("mmap") }

// Lock fails outside Linux.
func (*Shared) Lock() error { return unsupported("mlock") }

// Close fails outside Linux.
func (*Shared) Close() error { return unsupported("munmap") }

// ThreadCPU is -1, unknown, outside Linux.
func ThreadCPU() int64 { return -1 }

// ThreadUsage is all -1, unknown, outside Linux.
func ThreadUsage() Usage { return Usage{-1, -1, -1, -1} }

// ProcessUsage is all -1, unknown, outside Linux.
func ProcessUsage() (u Usage, utime, stime time.Duration) { return Usage{-1, -1, -1, -1}, -1, -1 }

// CPU is -1, unknown, outside Linux.
func CPU() int { return -1 }

// Schedstat is the scheduler's account of a thread on Linux; elsewhere there is none.
type Schedstat struct{}

// OpenSchedstat fails outside Linux.
func OpenSchedstat(string) (*Schedstat, error) { return nil, unsupported("schedstat") }

// Read is never ok outside Linux.
func (*Schedstat) Read() (runNS, delayNS int64, slices int64, ok bool) { return 0, 0, 0, false }

// Close fails outside Linux.
func (*Schedstat) Close() error { return unsupported("schedstat") }

// SendNow fails outside Linux.
func SendNow(uintptr, []byte) (int, error) { return 0, unsupported("send without waiting") }

// Outq fails outside Linux.
func Outq(uintptr) (int, error) { return 0, unsupported("SIOCOUTQ") }

// EnableRxStamps fails outside Linux.
func EnableRxStamps(uintptr) error { return unsupported("SO_TIMESTAMPNS") }

// ReadTCPInfo fails outside Linux.
func ReadTCPInfo(uintptr) (TCPInfo, error) { return TCPInfo{}, unsupported("TCP_INFO") }

func socketNames(uintptr) (local, peer string) { return "", "" }

// ReadCard fails outside Linux.
func ReadCard(string) (Card, error) { return Card{}, unsupported("ethtool") }

// Stamper watches a socket on Linux; elsewhere there is none.
type Stamper struct{}

// NewStamper fails outside Linux.
func NewStamper(uintptr, int, func(int64, []byte)) (*Stamper, error) {
	return nil, unsupported("SO_TIMESTAMPNS")
}

// Counts is nothing outside Linux.
func (*Stamper) Counts() StamperCounts { return StamperCounts{} }

// Close does nothing outside Linux.
func (*Stamper) Close() {}
