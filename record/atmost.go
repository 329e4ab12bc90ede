package record

// AtMost is, for each of the bounds (ns, ascending), how many values do not exceed it, each
// value counted at the upper edge of its histogram bucket: one that lies less than 0.1 %
// below a bound may be counted above it. Overflow is above every bound. cold.
func (s *Series) AtMost(bounds []int64) []int64 {
	out := make([]int64, len(bounds))
	seen, i := s.Underflow, 0
	upTo := func(edge, count int64) {
		for ; i < len(bounds) && bounds[i] < edge; i++ {
			out[i] = seen
		}
		seen += count
	}
	neg := s.neg.Distribution()
	for j := len(neg) - 1; j >= 0; j-- {
		if neg[j].Count > 0 {
			upTo(-neg[j].From, neg[j].Count)
		}
	}
	for _, b := range s.pos.Distribution() {
		if b.Count > 0 {
			upTo(b.To, b.Count)
		}
	}
	for ; i < len(bounds); i++ {
		out[i] = seen
	}
	return out
}
