// Package judge says what a result shows: whether it is valid, which budgets it keeps,
// the one sentence with its statistical bound, and which of its figures may stand beside
// a vendor's.
//
// It is pure: a verdict depends on the file and on nothing else, so that a report made a
// year later from run.json says the same. It refuses to pass a budget on a run that is
// invalid or incomplete, and to call an unknown figure 0.
package judge
