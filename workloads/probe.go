package workloads

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"opcycle/bench"
	"opcycle/rt"
)

// HeaderBytes lie before a probe's own shared memory, a page so that neither shares a
// cache line with the other: the stop word, at its start.
const HeaderBytes = 4096

// maxFrame bounds one frame: an order or an answer.
const maxFrame = 256 << 20

// Frame is what passes between a conductor and its probe, both ways.
type Frame struct {
	Do    string          `json:"do"`
	Data  json.RawMessage `json:"data,omitempty"`
	Error string          `json:"error,omitempty"`
}

// The frames: order in, ready out, go in, answer out.
const (
	DoOrder  = "order"
	DoReady  = "ready"
	DoGo     = "go"
	DoAnswer = "answer"
)

// Pack is f as bytes: its length in four bytes, little endian, then JSON.
func Pack(f Frame) ([]byte, error) {
	data, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", f.Do, err)
	}
	if len(data) > maxFrame {
		return nil, fmt.Errorf("pack %s: %d bytes, at most %d", f.Do, len(data), maxFrame)
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...), nil
}

// Unpack reads one frame through read, which fills its argument.
func Unpack(read func([]byte) error) (Frame, error) {
	var head [4]byte
	if err := read(head[:]); err != nil {
		return Frame{}, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxFrame {
		return Frame{}, fmt.Errorf("a frame of %d bytes, at most %d", n, maxFrame)
	}
	data := make([]byte, n)
	if err := read(data); err != nil {
		return Frame{}, err
	}
	var f Frame
	if err := json.Unmarshal(data, &f); err != nil {
		return Frame{}, fmt.Errorf("a frame that is no JSON: %w", err)
	}
	return f, nil
}

// Serve is the measured side: it takes the order from descriptor ctl (blocking), runs the
// probe of that suite with shared memory of the given size on descriptor mem, and hands
// its answer or its error over. cold.
func Serve(suite, probe string, ctl, mem uintptr, size int) error {
	s, err := Find(suite)
	if err != nil {
		return err
	}
	run, ok := s.Probes[probe]
	if !ok {
		return fmt.Errorf("suite %s has no probe %q", suite, probe)
	}
	return ServeProbe(run, ctl, mem, size)
}

// ServeProbe is Serve with the probe itself.
func ServeProbe(run bench.Probe, ctl, mem uintptr, size int) error {
	// Before the order: a conductor that is dead by now leaves a socket without an order, one
	// that dies later ends this process, whatever it does.
	if err := rt.SetParentDeathSignal(); err != nil {
		return err
	}
	shared, err := rt.MapShared(os.NewFile(mem, "shared"), HeaderBytes+size)
	if err != nil {
		return err
	}
	side := end{fd: ctl}
	order, err := side.receive(DoOrder)
	if err != nil {
		return err
	}
	answered := false
	p := &bench.ProbeSide{
		Mem:    shared.Mem[HeaderBytes:],
		Stop:   (*uint32)(unsafe.Pointer(&shared.Mem[0])),
		Decode: func(input any) error { return json.Unmarshal(order.Data, input) },
		Ready: func() error {
			if err := side.send(Frame{Do: DoReady}); err != nil {
				return err
			}
			_, err := side.receive(DoGo)
			return err
		},
		Answer: func(v any) error {
			data, err := json.Marshal(v)
			if err != nil {
				return fmt.Errorf("answer: %w", err)
			}
			answered = true
			return side.send(Frame{Do: DoAnswer, Data: data})
		},
	}
	if err = run(p); err == nil && !answered {
		err = errors.New("the probe ended without an answer")
	}
	if err != nil && !answered {
		return errors.Join(err, side.send(Frame{Do: DoAnswer, Error: err.Error()}))
	}
	return err
}

// end is the probe's end of the pipe: raw system calls on a blocking descriptor.
type end struct{ fd uintptr }

func (e end) send(f Frame) error {
	data, err := Pack(f)
	if err == nil {
		err = rt.WriteFull(e.fd, data)
	}
	return err
}

func (e end) receive(do string) (Frame, error) {
	f, err := Unpack(func(p []byte) error { return rt.ReadFull(e.fd, p) })
	if err != nil {
		return f, fmt.Errorf("wait for %s: the conductor has gone: %w", do, err)
	}
	if f.Do != do {
		return f, fmt.Errorf("wait for %s: got %s", do, f.Do)
	}
	return f, nil
}

func unknown(name string, names []string) error {
	return fmt.Errorf("no suite is called %q; %s", name, bench.Suggest(name, names))
}
