//go:build !race

package cyclictest

const raceDetector = false
