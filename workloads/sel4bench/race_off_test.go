//go:build !race

package sel4bench

const raceDetector = false
