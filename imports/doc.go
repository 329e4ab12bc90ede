// Package imports reads the results of other programs, so that one report can hold them
// beside ours: cyclictest (text and JSON), oslat, stress-ng and lmbench.
//
// It is pure: bytes in, a result out. It refuses to guess: a line that it can't read is an
// error with its number, and what the other program does not say is n/a, never 0.
package imports
