//go:build race

package lmbench

// raceDetector: what it makes of a function is not what ships.
const raceDetector = true
