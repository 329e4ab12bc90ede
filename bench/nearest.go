package bench

import (
	"slices"
	"strings"
)

// Suggest is the way out of an unknown word: "nearest: a, b" with up to three of words
// that need the fewest letters changed, or all of words when none comes near.
func Suggest(word string, words []string) string {
	near := nearest(word, words)
	if near == nil {
		return "it is one of " + strings.Join(words, ", ")
	}
	return "nearest: " + strings.Join(near, ", ")
}

// nearest is nil when every word differs in more than half of its letters.
func nearest(word string, words []string) []string {
	type scored struct {
		word string
		d    int
	}
	var near []scored
	for _, w := range words {
		d := distance(strings.ToLower(word), strings.ToLower(w))
		if d <= max(len(word), len(w))/2 {
			near = append(near, scored{w, d})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return a.d - b.d })
	var out []string
	for _, s := range near {
		if len(out) < 3 && s.d <= near[0].d+1 {
			out = append(out, s.word)
		}
	}
	return out
}

// distance is the Levenshtein distance in bytes: our names are ASCII.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
