package host

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opcycle/bench"
)

// A card's interrupts with their CPUs and threads; what is not told is unknown, not 0.
func TestCardOfARoot(t *testing.T) {
	root := unpack(t, "rt8")
	for name, text := range map[string]string{
		"sys/class/net/eth0/speed":   "1000\n",
		"sys/class/net/enp4s0/speed": "-1\n",
		"proc/77/task/77/stat":       irqThread(77, "irq/130-eth0", 50),
		"proc/78/task/78/stat":       irqThread(78, "irq/130-s-eth0", 49),  // secondary
		"proc/79/task/79/stat":       irqThread(79, "irq/132-enp4s0-", 60), // the kernel cuts names
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	thousand := int64(1000)
	for _, want := range []bench.Card{
		{Name: "eth0", Speed: &thousand, IRQs: []bench.CardIRQ{
			{Number: "130", Name: "eth0", CPUs: []int{0, 1}, Thread: "irq/130-eth0", Policy: "SCHED_FIFO", Priority: 50},
			{Number: "131", Name: "eth0-TxRx-0", CPUs: []int{4}}}},
		{Name: "enp4s0", Unknown: []string{"speed: the kernel says -1"}, IRQs: []bench.CardIRQ{
			{Number: "132", Name: "enp4s0-rx-0", CPUs: []int{5}, Thread: "irq/132-enp4s0-", Policy: "SCHED_FIFO", Priority: 60}}},
		{Name: "lo", Unknown: []string{"speed: not told"}, IRQs: []bench.CardIRQ{}, IRQsNA: "none: it has no hardware of its own"},
	} {
		got := bench.Card{Name: want.Name}
		(&tree{files: disk(root)}).card(&got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// irqThread is the stat of a kernel thread at SCHED_FIFO.
func irqThread(pid int, name string, priority int) string {
	return fmt.Sprintf("%d (%s) S 2 0 0 0 -1 %d 0 0 0 0 0 0 0 0 %d 0 1 0 5 0 0 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 2 %d 1 0 0 0\n",
		pid, name, flagKernelThread|flagNoAffinity, -1-priority, priority)
}

// A VLAN's hardware is the card below it.
func TestCardBelowAVLAN(t *testing.T) {
	root := unpack(t, "rt8")
	if err := os.MkdirAll(filepath.Join(root, "sys/class/net/lo/lower_lo"), 0o755); err != nil { // the only interface that is everywhere
		t.Fatal(err)
	}
	c, err := readCard(&tree{files: disk(root)}, "lo", 0)
	if err != nil {
		t.Fatal(err)
	}
	depth := 0
	for ; len(c.Below) == 1; c = c.Below[0] {
		depth++
	}
	if depth != cardsBelow || c.Name != "lo" {
		t.Errorf("%d below, the last is %+v", depth, c)
	}
}

// The card of a connection is the one with its local address.
func TestCardOfAConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := CardOf("/", l.Addr().String())
	if err != nil || c.Name != "lo" || len(c.Offloads) == 0 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, local := range []string{"", "192.0.2.1:1", "[2001:db8::1]:1"} {
		if _, err := CardOf("/", local); err == nil {
			t.Errorf("%q has a card", local)
		} else if a, e := netip.ParseAddrPort(local); e == nil && !strings.Contains(err.Error(), a.Addr().String()) {
			t.Errorf("%q: %v", local, err)
		}
	}
}
