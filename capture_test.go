package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gopcua/opcua/ua"

	"opcycle/bench"
)

// What went over the wire, seen by the kernel: as many Publish responses with values of
// the measuring phase as the report says, and nothing that Wireshark calls malformed.
func TestACaptureHoldsAsManyMessagesAsTheReport(t *testing.T) {
	_, dumps := exec.LookPath("tcpdump")
	_, decodes := exec.LookPath("tshark")
	needs(t, dumps == nil && decodes == nil && os.Geteuid() == 0, "root, tcpdump and tshark")
	for _, c := range []struct {
		host  bench.PLCHost
		items int
	}{{bench.HostServer, 1}, {bench.HostClient, 1}, {bench.HostServer, 1000}} {
		t.Run(fmt.Sprintf("%s/%d items", c.host, c.items), func(t *testing.T) {
			alone(t)
			port := freePort(t)
			dir := t.TempDir()
			out, dump := filepath.Join(dir, "out"), filepath.Join(dir, "lo.pcap")
			end := capture(t, port, dump)
			start(t, "", "run", "--out", out, profile(t, "run: {floor: 0, duration: 2s, warm_up: 500ms}",
				fmt.Sprintf("plc: {%s, host: %s}", relaxedPLC, c.host),
				fmt.Sprintf("opcua: {items: %d, endpoint: 'opc.tcp://127.0.0.1:%d'}", c.items, port))).code()
			end()
			f := identities(t, out)
			if want := fmt.Sprintf("opc.tcp://127.0.0.1:%d", port); f.Attained.Endpoint != want {
				t.Fatalf("the run used %s, not %s", f.Attained.Endpoint, want)
			}
			seen := publishResponses(t, dump, port, f.Phase)
			if want := (counts{t, f}).get("packets", "messages"); seen.inPhase != want || want == 0 {
				t.Errorf("the capture holds %d messages of the phase, the report counts %d", seen.inPhase, want)
			}
			if got := tshark(t, dump, port, "opcua.servicenodeid.numeric == 829", "opcua.servicenodeid.numeric"); len(got) == 0 {
				t.Error("tshark finds no Publish response")
			} else if n := strings.Count(strings.Join(got, ","), "829"); int64(n) != seen.all {
				t.Errorf("tshark finds %d Publish responses, our decoding %d", n, seen.all)
			}
			if got := tshark(t, dump, port, "_ws.malformed", "frame.number"); len(got) != 0 {
				t.Errorf("tshark calls frames %v malformed", got)
			}
		})
	}
}

// capture writes what goes over loopback's port to path until end is called.
func capture(t *testing.T, port int, path string) (end func()) {
	t.Helper()
	c := startBinary(t, "", "tcpdump", "-i", "lo", "-U", "--immediate-mode", "-s", "0", "-B", "16384", "-Z", "root", "-w", path, "tcp", "port", strconv.Itoa(port))
	c.says("listening on lo")
	return func() {
		// The last frames may still lie in the kernel: they are written once this one is,
		// the refusal of a connection that comes after them.
		last := freePort(t)
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: last}}
		if conn, err := d.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = conn.Close()
			t.Fatal("somebody still listens")
		}
		mark := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, uint16(port)), uint16(last))
		if !c.until(func() bool {
			data, err := os.ReadFile(path)
			return err == nil && bytes.Contains(data, mark)
		}) {
			t.Fatal("tcpdump ended by itself")
		}
		c.signal(syscall.SIGINT)
		if code := c.code(); code != 0 || !strings.Contains(c.stderr.String(), "0 packets dropped by kernel") {
			t.Fatalf("tcpdump: exit %d: %s", code, c.stderr.String())
		}
	}
}

func tshark(t *testing.T, dump string, port int, filter, field string) []string {
	t.Helper()
	out, err := exec.Command("tshark", "-r", dump, "-d", fmt.Sprintf("tcp.port==%d,opcua", port), "-Y", filter, "-T", "fields", "-e", field).Output()
	if err != nil {
		t.Fatalf("tshark: %v", err)
	}
	return strings.Fields(string(out))
}

type seen struct{ all, inPhase int64 }

// publishResponses decodes what the server sent: how many Publish responses there are,
// and how many of them carry a value of the measuring phase.
func publishResponses(t *testing.T, dump string, port int, phase bench.Phase) seen {
	t.Helper()
	values := map[int32]bool{}
	for k := phase.First; k < phase.First+phase.N; k++ {
		values[bench.Value(k)] = true
	}
	var n seen
	for _, stream := range streams(t, dump, port) {
		for _, body := range messages(t, stream) {
			_, v, err := ua.DecodeService(body)
			if err != nil {
				t.Fatalf("a message of the server does not decode: %v", err)
			}
			resp, ok := v.(*ua.PublishResponse)
			if !ok {
				continue
			}
			n.all++
			if carries(resp, values) {
				n.inPhase++
			}
		}
	}
	return n
}

func carries(resp *ua.PublishResponse, values map[int32]bool) bool {
	if resp.NotificationMessage == nil {
		return false
	}
	for _, x := range resp.NotificationMessage.NotificationData {
		d, ok := x.Value.(*ua.DataChangeNotification)
		if !ok {
			continue
		}
		for _, it := range d.MonitoredItems {
			if v, ok := it.Value.Value.Value().(int32); ok && values[v] {
				return true
			}
		}
	}
	return false
}

// messages joins the chunks of a stream and returns the body of every MSG.
func messages(t *testing.T, stream []byte) [][]byte {
	t.Helper()
	le := binary.LittleEndian
	var out [][]byte
	parts := map[uint32][]byte{} // by request id
	for len(stream) >= 8 {
		size := int(le.Uint32(stream[4:]))
		if size < 8 || size > len(stream) {
			t.Fatalf("a chunk of %d bytes in a rest of %d", size, len(stream))
		}
		chunk := stream[:size]
		stream = stream[size:]
		if string(chunk[:3]) != "MSG" {
			continue
		}
		id := le.Uint32(chunk[20:]) // Part 6, 6.7.2: policy None
		parts[id] = append(parts[id], chunk[24:]...)
		if chunk[3] == 'F' {
			out = append(out, parts[id])
			delete(parts, id)
		}
	}
	if len(stream) != 0 || len(parts) != 0 {
		t.Errorf("%d bytes and %d messages are not whole", len(stream), len(parts))
	}
	return out
}

// streams are the bytes that came from port, by the port of the peer: TCP put together
// from a capture of Ethernet frames on loopback.
func streams(t *testing.T, dump string, port int) map[uint16][]byte {
	t.Helper()
	data, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	le, be := binary.LittleEndian, binary.BigEndian
	if len(data) < 24 || le.Uint32(data) != 0xa1b2c3d4 || le.Uint32(data[20:]) != 1 {
		t.Fatal("no capture of Ethernet frames in microseconds")
	}
	type segment struct {
		seq  uint32
		data []byte
	}
	segments, first := map[uint16][]segment{}, map[uint16]uint32{}
	for at := 24; at+16 <= len(data); {
		caught, whole := int(le.Uint32(data[at+8:])), int(le.Uint32(data[at+12:]))
		if caught != whole {
			t.Fatalf("a frame is cut off: %d of %d bytes", caught, whole)
		}
		ip := data[at+16+14 : at+16+caught]
		at += 16 + caught
		tcp := ip[int(ip[0]&15)*4 : be.Uint16(ip[2:])]
		if int(be.Uint16(tcp)) != port {
			continue
		}
		peer, seq := be.Uint16(tcp[2:]), be.Uint32(tcp[4:])
		if tcp[13]&2 != 0 { // SYN
			first[peer] = seq + 1
		}
		if payload := tcp[int(tcp[12]>>4)*4:]; len(payload) > 0 {
			segments[peer] = append(segments[peer], segment{seq, payload})
		}
	}
	out := map[uint16][]byte{}
	for peer, list := range segments {
		slices.SortStableFunc(list, func(a, b segment) int { return int(int32(a.seq - b.seq)) })
		for _, s := range list {
			at := int32(s.seq - first[peer])
			if have := int32(len(out[peer])); at > have {
				t.Fatalf("%d bytes are not in the capture", at-have)
			} else if end := at + int32(len(s.data)); end > have { // else sent again
				out[peer] = append(out[peer], s.data[have-at:]...)
			}
		}
	}
	return out
}
