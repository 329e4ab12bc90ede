package server

import (
	"strconv"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"opcycle/bench"
)

// addBenchmark makes the benchmark's own nodes and the task's (OPC 30000,
// https://reference.opcfoundation.org/PLCopen/v102/docs/).
func (s *space) addBenchmark(cfg *Config, m *image) {
	since := dateTime()
	objects := s.std(id.ObjectsFolder)
	own := func(name string) *ua.NodeID { return ua.NewStringNodeID(nsBench, name) }
	obj := s.object(objects, id.Organizes, own("Benchmark"), nsBench, "Benchmark", id.BaseObjectType)
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
	echo.kind, echo.writable = sourceEcho, true
	echo.value = func() (any, int64, ua.StatusCode) {
		v, _ := m.written()
		return v, m.echoSource.Load(), ua.StatusOK
	}
	s.variable(obj, id.HasComponent, own(bench.NodeItems), nsBench, bench.NodeItems, id.UInt32, uint32(cfg.Items), since)
	s.variable(obj, id.HasComponent, own(bench.NodePlan), nsBench, bench.NodePlan, id.String, string(cfg.Plan), since)

	devices := s.object(objects, id.Organizes, ua.NewNumericNodeID(nsDI, 5001), nsDI, "DeviceSet", id.BaseObjectType)
	configuration := s.object(devices, id.HasComponent, own("CtrlConfiguration"), nsPLCopen, "CtrlConfiguration", id.BaseObjectType)
	resource := s.object(configuration, id.HasComponent, own("CtrlResource"), nsPLCopen, "CtrlResource", id.BaseObjectType)
	task := s.object(resource, id.HasComponent, own("CtrlTask"), nsPLCopen, "CtrlTask", id.BaseObjectType)
	s.variable(task, id.HasProperty, own(bench.NodePriority), nsPLCopen, bench.NodePriority, id.UInt32, cfg.Priority, since)
	s.variable(task, id.HasProperty, own(bench.NodeInterval), nsPLCopen, bench.NodeInterval, id.String, iecTime(cfg.Interval), since)
}
