package imports

import "testing"

// Whatever is in a file, each reader gives a result or an error, and finding the program
// never fails otherwise.
func FuzzStressNG(f *testing.F) {
	f.Add(fixture(f, "stress-ng.yaml"))
	f.Add([]byte("system-info: &a [*a]\nmetrics: *a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = KindOf(data)
		if r, err := StressNG("f", data); err == nil && len(r.Figures) == 0 {
			t.Error("a result without a figure")
		}
	})
}
