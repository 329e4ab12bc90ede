package bench

import "testing"

// FuzzDecode: whatever stands in a profile, it is read, refused with complaints, or
// resolved; a complaint always has a place and a text.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"", "---\n---\n", "plc: &a {host: *a}", "plc: {<<: {host: server}}", "? [a]\n: b", "budgets: [a, *b]",
		"name: !!binary x", "plc:\n\tinterval: 3", "placement: {server_cpus: 0-8191}", "run: {duration: 2562047h}",
		"plc: {interval: 100us}\nrun: {duration: 1s}\nopcua: {publishing_interval: 1h}",
	} {
		f.Add(s)
	}
	host := machine(4, 2, 1)
	f.Fuzz(func(t *testing.T, s string) {
		c, o, err := Decode("p.yaml", []byte(s))
		list, _ := err.(Complaints)
		if err == nil {
			err = Validate(c, o)
			more, _ := err.(Complaints)
			list = append(list, more...)
		}
		for _, e := range list {
			if e.Where == "" || e.What == "" {
				t.Errorf("%q: empty complaint %+v", s, e)
			}
		}
		if err != nil {
			return
		}
		if p, err := Resolve(c, host); err == nil && (p.Cycles < minCycles || len(p.Server.CPUs) == 0 || len(p.Client.CPUs) == 0) {
			t.Errorf("%q: %+v", s, p)
		}
	})
}
