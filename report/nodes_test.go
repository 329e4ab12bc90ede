package report

import (
	"bytes"
	"strings"
	"testing"

	"opcycle/bench"
	"opcycle/judge"
)

// twoNodes is a clean run of two ends; the server's card is real hardware, the client's a veth.
func twoNodes(t *testing.T) bench.File {
	t.Helper()
	f := scenarioFile(t, "clean")
	f.Phase.Clock = "no common clock: different boot ids"
	speed, none, soft := int64(1000), int64(0), int64(4321)
	worst := int64(42_000)
	server := bench.End{Connections: []bench.Connection{{Local: "192.0.2.1:4840", Peer: "192.0.2.2:50000", RTT: 180_000, RTTVar: 20_000, MinRTT: 120_000, RTO: 204_000_000,
		Total: 3, Seen: bench.Retransmissions{{After: 5, Until: 6, Segments: 3}}, LeftOut: 1}},
		Card: &bench.Card{Name: "enp3s0", Driver: "igc", Speed: &speed, EEE: &bench.EEE{Enabled: true},
			Coalescing: &bench.Coalescing{RxDelay: 3000, TxDelay: 50_000, TxFrames: 32, AdaptiveRx: true}, Offloads: []bench.Offload{{Name: "gro", On: true}, {Name: "lro"}, {Name: "tso", On: true}},
			IRQs:    []bench.CardIRQ{{Number: "130", Name: "enp3s0-TxRx-0", CPUs: []int{0, 1}, Thread: "irq/130-enp3s0-", Policy: "SCHED_FIFO", Priority: 50}, {Number: "131", Name: "enp3s0"}},
			Unknown: []string{"rx: operation not supported"}, Below: []bench.Card{{Name: "eth7", IRQsNA: "none: it has no hardware of its own"}}},
		CPUs: []bench.CPUActivity{{CPU: 2, Interrupts: &soft, Devices: &none, Softirqs: &soft}, {CPU: 3}}}
	client := bench.End{Connections: []bench.Connection{{NA: "use of closed network connection"}}, CardNA: "no connection is open any more"}
	f.Nodes = &bench.Nodes{Clock: bench.ClockComparison{Exchanges: 64, Estimates: 2, Offsets: bench.Offsets{{At: 1, NS: 5e9, Bound: 42_000}}, WorstBound: &worst},
		Server: &server, Client: &client}
	n := 2.0
	f.Figures = append(f.Figures, bench.Figure{Suite: "opcua", Object: bench.ProcessServer, Series: "tcp", Statistic: "retransmissions", Value: &n, Unit: "1"},
		bench.Figure{Suite: "opcua", Object: bench.ProcessClient, Series: "tcp", Statistic: "retransmissions", Unit: "1", NA: "use of closed network connection"})
	return f
}

// The section of two ends, in text and on the page: nothing that is not known is 0 or off.
func TestTwoNodes(t *testing.T) {
	f := twoNodes(t)
	report := section(t, text(t, f), "Two nodes: loop time")
	golden(t, "nodes.txt", []byte(report))
	for format, name := range map[string]string{"markdown": "nodes.md", "junit": "nodes.xml", "csv": "nodes.csv", "benchstat": "nodes.benchstat"} {
		form, err := FindFormat(format)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := form.Write(&b, f, judge.Judge(f), shipped(t)); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
	var page strings.Builder
	if err := HTML(&page, f, judge.Judge(f), nil); err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(report), " ")
	for _, want := range []string{"192.0.2.1:4840 to 192.0.2.2:50000: round trip 180 µs ± 20 µs, at least 120 µs; retransmission time-out 204 ms; segments sent again since it was made: 3",
		"enp3s0, driver igc, 1,000 Mbit/s", "interrupts kept back: rx 3 µs, adaptive, tx 50 µs or 32 packets", "EEE on, not in use", "offloads on: gro tso; off: lro",
		"130 (enp3s0-TxRx-0) on CPU 0-1, thread irq/130-enp3s0- SCHED_FIFO 50", "131 (enp3s0) on CPU unknown, no thread seen", "; through eth7; interrupts n/a",
		"CPU 2: 4,321 interrupts, 0 of devices, 4,321 softirqs; CPU 3: interrupts n/a, of devices n/a, softirqs n/a",
		"n/a: use of closed network connection", "n/a: no connection is open any more", "asymmetry within these bounds is not detectable", "retransmissions: 2 in the phase"} {
		if !strings.Contains(flat, want) {
			t.Errorf("the text does not say %q", want)
		}
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
