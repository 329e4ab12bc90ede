//go:build !race

package lmbench

const raceDetector = false
