//go:build race

package cyclictest

// raceDetector: what it makes of a function is not what ships.
const raceDetector = true
