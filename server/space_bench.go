package server

import (
	"errors"
	"strconv"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"opcycle/bench"
	"opcycle/rt"
)

// addBenchmark makes the benchmark's own nodes and the task's (OPC 30000,
// https://reference.opcfoundation.org/PLCopen/v102/docs/).
func (s *space) addBenchmark(cfg *Config, m *image) {
	since := dateTime()
	objects := s.std(id.ObjectsFolder)
	own := func(name string) *ua.NodeID { return ua.NewStringNodeID(nsBench, name) }
	obj := s.object(objects, id.Organizes, own("Benchmark"), nsBench, "Benchmark", id.BaseObjectType)
	s.addMethods(obj, cfg.Methods, since)
	s.variable(obj, id.HasComponent, own(bench.NodePlan), nsBench, bench.NodePlan, id.String, string(cfg.Plan), since)
	s.addClock(obj, own(bench.NodeClock), since)
	if cfg.Items == 0 {
		return
	}
	for i := 1; i <= cfg.Items; i++ {
		name := bench.NodeCounter
		if i > 1 {
			name += "." + strconv.Itoa(i)
		}
		n := s.variable(obj, id.HasComponent, own(name), nsBench, name, id.Int32, nil, since)
		n.kind = sourceCounter
		n.value = func() (any, int64, ua.StatusCode) {
			k, source, ok := m.counter()
			if !ok {
				return nil, 0, statusWaiting
			}
			return bench.Value(k), source, ua.StatusOK
		}
	}
	echo := s.variable(obj, id.HasComponent, own(bench.NodeEcho), nsBench, bench.NodeEcho, id.Int32, nil, since)
	echo.kind, echo.writable = sourceEcho, true // its Write is writeValue's own: the image keeps a time with it
	echo.value = func() (any, int64, ua.StatusCode) {
		v, _ := m.written()
		return v, m.echoSource.Load(), ua.StatusOK
	}
	s.addBooks(obj, own, cfg, m, since)
	s.variable(obj, id.HasComponent, own(bench.NodeItems), nsBench, bench.NodeItems, id.UInt32, uint32(cfg.Items), since)

	devices := s.object(objects, id.Organizes, ua.NewNumericNodeID(nsDI, 5001), nsDI, "DeviceSet", id.BaseObjectType)
	configuration := s.object(devices, id.HasComponent, own("CtrlConfiguration"), nsPLCopen, "CtrlConfiguration", id.BaseObjectType)
	resource := s.object(configuration, id.HasComponent, own("CtrlResource"), nsPLCopen, "CtrlResource", id.BaseObjectType)
	task := s.object(resource, id.HasComponent, own("CtrlTask"), nsPLCopen, "CtrlTask", id.BaseObjectType)
	s.variable(task, id.HasProperty, own(bench.NodePriority), nsPLCopen, bench.NodePriority, id.UInt32, cfg.Priority, since)
	s.variable(task, id.HasProperty, own(bench.NodeInterval), nsPLCopen, bench.NodeInterval, id.String, iecTime(cfg.Interval), since)
}

// addClock makes the node by which a client compares its clock with ours.
func (s *space) addClock(obj *node, nodeID *ua.NodeID, since int64) {
	n := s.variable(obj, id.HasComponent, nodeID, nsBench, bench.NodeClock, id.Int64, nil, since)
	n.value = func() (any, int64, ua.StatusCode) { return rt.Now(), dateTime(), ua.StatusOK }
	n.sampling = clockSampling
}

// addBooks makes the two nodes by which a client that came by itself asks for the
// server's side of its measuring phase.
func (s *space) addBooks(obj *node, own func(string) *ua.NodeID, cfg *Config, m *image, since int64) {
	window := s.variable(obj, id.HasComponent, own(bench.NodeWindow), nsBench, bench.NodeWindow, id.String, "", since)
	window.writable = cfg.Window != nil
	window.write = func(v any) ua.StatusCode {
		text, ok := v.(string)
		if !ok {
			return ua.StatusBadTypeMismatch
		}
		switch err := cfg.Window(text); {
		case errors.Is(err, ErrTooSoon):
			return ua.StatusBadTooManyOperations
		case err != nil:
			return ua.StatusBadOutOfRange
		}
		return ua.StatusOK
	}
	n := s.variable(obj, id.HasComponent, own(bench.NodeResult), nsBench, bench.NodeResult, id.ByteString, []byte{}, since)
	n.value = func() (any, int64, ua.StatusCode) {
		b := m.result.Load()
		if b == nil {
			return []byte{}, since, ua.StatusOK
		}
		return *b, since, ua.StatusOK
	}
}
