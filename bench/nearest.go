package bench

import (
	"slices"
	"strings"
)

// Nearest returns up to three of words, those with the fewest letters to change first;
// words that have next to nothing in common with word are left out, but never all.
func Nearest(word string, words []string) []string {
	type scored struct {
		word string
		d    int
	}
	var all []scored
	for _, w := range words {
		all = append(all, scored{w, distance(strings.ToLower(word), strings.ToLower(w))})
	}
	slices.SortStableFunc(all, func(a, b scored) int { return a.d - b.d })
	var out []string
	for i, s := range all {
		if i == 3 || (i > 0 && s.d > all[0].d+1) || (i > 0 && s.d > max(len(word), len(s.word))/2) {
			break
		}
		out = append(out, s.word)
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
