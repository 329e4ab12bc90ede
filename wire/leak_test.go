package wire

import (
	"testing"

	"go.uber.org/goleak"
)

// checkLeaks fails the run when a goroutine of ours outlives the tests. The clients'
// own ones are theirs: gopcua v0.9.1 leaves its timers for renewal and expiry
// asleep until they fire.
func checkLeaks(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/gopcua/opcua/uasc.(*SecureChannel).scheduleExpiration"),
		goleak.IgnoreAnyFunction("github.com/gopcua/opcua/uasc.(*SecureChannel).scheduleRenewal"),
	)
}
