// Package stress makes noise beside a measurement, and proves that it did: the real
// stress-ng with the arguments given, or, where that is absent, a stressor of our own that
// copies memory.
//
// The stressor's processes are pinned to the CPUs given, at the ordinary policy, in a
// process group of their own that ends with this program. While it runs, its processes are
// looked at twice a second in /proc: their processor time must grow, and the CPUs that they
// were seen on are in the result. At its end stress-ng's own metrics are read: bogo
// operations above 0. A stressor that did not start, did not work or ended by itself makes
// the run that it was to disturb invalid.
//
// It measures nothing: a bogo operation is what stress-ng says it is, and compares only
// with itself.
package stress
