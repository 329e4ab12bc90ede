package imports

import (
	"os"
	"strings"
	"testing"
)

func TestOslat(t *testing.T) {
	data, err := os.ReadFile("testdata/oslat.json") // of rt-tests 2.4, here
	if err != nil {
		t.Fatal(err)
	}
	r, err := Oslat("f", data)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Series[0]
	if s.Object != "cpu1" || *s.Min != 1000 || *s.Max != 14043000 || s.Count < 57252172 || s.StdDev != nil || *s.Avg < 1008 || *s.Avg > 1009 {
		t.Errorf("%+v", s)
	}
	if *s.Quantiles[0].Value != 1000 || r.Started.IsZero() {
		t.Errorf("p50 %d, started %v", *s.Quantiles[0].Value, r.Started)
	}
	if k, err := KindOf(data); err != nil || k.Name != "oslat" {
		t.Errorf("recognised as %q, %v", k.Name, err)
	}
}

func TestOslatThatCantBeRead(t *testing.T) {
	data, err := os.ReadFile("testdata/oslat.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		old, new, want string
	}{
		"cut off":      {`"histogram"`, "", "line"},
		"version":      {`"file_version": 1`, `"file_version": 2`, "line 2"},
		"threads":      {`"num_threads": 1`, `"num_threads": 2`, "line 16"},
		"no maximum":   {`"max"`, `"most"`, "missing"},
		"odd bucket":   {`"3": `, `"three": `, "three"},
		"other thread": {`"0": {`, `"7": {`, "no thread 0"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(string(data), c.old, c.new, 1)
			if name == "cut off" {
				text = text[:len(text)/2]
			}
			if _, err := Oslat("f.json", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "f.json") {
				t.Errorf("%v, not about %q", err, c.want)
			}
		})
	}
}

func FuzzOslat(f *testing.F) {
	data, err := os.ReadFile("testdata/oslat.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"file_version":1,"num_threads":1,"thread":{"0":{"cpu":-1,"min":1e300,"avg":-1,"max":0,"histogram":{"9223372036854775807":9223372036854775807}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) { _, _ = Oslat("f", data) })
}
