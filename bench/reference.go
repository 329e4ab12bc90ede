package bench

// Reference is one published figure of a vendor, a row of configs/reference/*.csv.
type Reference struct {
	Vendor     string
	Product    string
	Platform   string
	Row        string // as printed by the vendor, e.g. "Execution Time - Minimum"
	Series     string // our machine name
	Statistic  string
	Value      string // as printed; parsed by the reader, never re-formatted
	Unit       string
	Conditions string
	Source     string
	Date       string
	// Comparable, per topology (PLCHost): yes | topology | definition | inconsistent | unknown.
	ComparableServer, ComparableClient string
	Why                                string // one sentence
}

// Comparable returns the word for host.
func (r Reference) Comparable(host PLCHost) string {
	if host == HostClient {
		return r.ComparableClient
	}
	return r.ComparableServer
}
