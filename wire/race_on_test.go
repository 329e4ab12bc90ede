//go:build race

package wire

// raceDetector: gopcua v0.9.1 races in itself between a request and its timed renewal
// (uasc.SecureChannel.pendingReq, Add against Wait), and the detector measures allocations of its own.
const raceDetector = true
