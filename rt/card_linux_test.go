package rt

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// The loopback interface has offloads and no hardware: what it cannot tell is unknown with
// the kernel's own reason, never off or 0.
func TestReadCard(t *testing.T) {
	c, err := ReadCard("lo")
	if err != nil {
		t.Fatal(err)
	}
	if _, known := c.Offloads["gro"]; !known || c.EEE != nil || c.Coalescing != nil {
		t.Errorf("%+v", c)
	}
	for _, what := range []string{"coalescing: ", "EEE: "} {
		if !slices.ContainsFunc(c.Unknown, func(s string) bool { return strings.HasPrefix(s, what) && len(s) > len(what) }) {
			t.Errorf("no word of %s in %q", what, c.Unknown)
		}
	}
	for _, name := range []string{"no-such-card", "", strings.Repeat("x", 40)} {
		if _, err := ReadCard(name); !errors.Is(err, syscall.ENODEV) && !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The sizes that the kernel copies (include/uapi/linux/ethtool.h).
func TestCardStructures(t *testing.T) {
	if a, b, c := unsafe.Sizeof(ethtoolValue{}), unsafe.Sizeof(ethtoolEEE{}), unsafe.Sizeof(ethtoolCoalesce{}); a != 8 || b != 40 || c != 92 {
		t.Errorf("%d, %d and %d bytes, want 8, 40 and 92", a, b, c)
	}
}
