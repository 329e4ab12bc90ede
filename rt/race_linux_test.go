//go:build race

package rt

// raceDetector: its shadow memory is terabytes of reservations, which mlockall would count.
const raceDetector = true
