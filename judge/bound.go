package judge

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Confidence of every bound.
const Confidence = 0.95

// UpperBound is the one-sided Clopper-Pearson upper bound, at Confidence, of the
// probability of an event that happened in events of trials. One-sided, because a verdict
// claims only "at most": for 0 events it is 1 − 0.05^(1/trials), the rule of three. It
// holds if the trials fail independently. With no trial nothing is known: 1.
//
// Clopper & Pearson, Biometrika 26 (1934) 404: the bound is the Confidence quantile of
// Beta(events+1, trials−events).
func UpperBound(events, trials int64) float64 {
	switch {
	case trials <= 0 || events >= trials:
		return 1
	case events <= 0:
		return -math.Expm1(math.Log(1-Confidence) / float64(trials))
	}
	return mathext.InvRegIncBeta(float64(events)+1, float64(trials-events), Confidence)
}

// TrialsFor is the number of trials without an event that bounds its probability by p,
// 0 < p < 1.
func TrialsFor(p float64) int64 {
	return int64(math.Ceil(math.Log(1-Confidence) / math.Log1p(-p)))
}
