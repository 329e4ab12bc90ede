package bench

import "time"

// Defaults is the profile single-node: the vendor's benchmark on this machine. An empty
// profile is this one.
func Defaults() Config {
	return Config{
		Name: "single-node",
		PLC: PLCConfig{
			Host:       string(HostServer),
			Interval:   Duration(10 * time.Millisecond),
			Workload:   "FLOAT",
			Iterations: Iterations{N: 10001},
			Target:     Duration(3305 * time.Microsecond),
			Publish:    string(PublishEnd),
			Guard:      Duration(500 * time.Microsecond),
		},
		OPCUA: OPCUAConfig{
			Endpoint:        "opc.tcp://127.0.0.1:0",
			Items:           1,
			Clients:         1,
			QueueSize:       10,
			PublishRequests: 3,
			Reconnect:       Duration(5 * time.Second),
		},
		Run: RunConfig{
			Duration: Duration(time.Minute),
			WarmUp:   Duration(2 * time.Second),
			Floor:    300,
		},
		Placement: PlacementConfig{
			RT:             string(RTAuto),
			Priority:       80,
			ServerPriority: 45,
			ClientPriority: 48,
		},
		Beside: BesideConfig{
			StressEngine:    "auto",
			StressArgs:      "--cpu 2 --fault 2 --cpu-load 80",
			CyclictestEvery: Duration(250 * time.Microsecond),
			CyclictestPrio:  99,
			TraceStopAbove:  Duration(0),
			With:            []string{},
		},
		CAT:     CATConfig{Mode: CATOff, RTMask: CATAuto, RestMask: CATAuto, Level: CATAuto},
		Budgets: DefaultBudgets(),
	}
}

// Words that a configuration may use.
func hostWords() []string     { return []string{string(HostServer), string(HostClient)} }
func publishWords() []string  { return []string{string(PublishEnd), string(PublishStart)} }
func rtWords() []string       { return []string{string(RTAuto), string(RTRequire), string(RTOff)} }
func workloadWords() []string { return []string{"FLOAT", "ARITHMETIC", "BITWISE", "MEMORY"} }
