//go:build !amd64

package rt

// WideSum is empty: there is no SumWide here.
func WideSum() string { return "" }

// SumWide is amd64's alone: 0.
func SumWide([]byte) uint32 { return 0 }

// StringCopy is empty: there is no CopyString here.
const StringCopy = ""

// CopyString is amd64's alone: it copies nothing.
func CopyString(to, from []byte) {}
