// Package report writes a result for people and for programs: as text with the vendor's
// table, as CSV with the machine names, and reads run.json back.
//
// It is pure: a report is a function of the file, its verdict and the references, and of
// nothing else. Times are rounded here and nowhere before, half away from zero. It
// refuses to print a difference to a vendor's figure that is not comparable, to print a
// figure that is not known as 0, and to read a file that it does not understand wholly.
package report
