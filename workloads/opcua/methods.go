package opcua

import (
	"opcycle/bench"
	"opcycle/server"
)

// Leader answers the Methods by which a client gives a server its plan. A text that is not
// empty as the last result is an error; nothing was done then.
type Leader interface {
	Prepare(who server.Caller, config string) (plan, problem string)
	Start(who server.Caller) (announcement, problem string)
	Stop(who server.Caller) (problem string)
}

// PlanText bounds a plan that a client sends, bytes: the longest profile has about 2,000.
const PlanText = 64 << 10

// Methods are the Methods of the object Benchmark, answered by l.
func Methods(l Leader) []server.Method {
	problem := server.Argument{Name: "Error", Description: "why nothing was done; empty: it was done"}
	return []server.Method{
		{Name: bench.MethodPrepare,
			Inputs:  []server.Argument{{Name: "Config", Description: "a profile of opcycle as YAML", Most: PlanText}},
			Outputs: []server.Argument{{Name: "Plan", Description: "the plan on the server's host as JSON"}, problem},
			Call: func(who server.Caller, in []string) []string {
				plan, err := l.Prepare(who, in[0])
				return []string{plan, err}
			}},
		{Name: bench.MethodStart,
			Outputs: []server.Argument{{Name: "Announcement", Description: "the running task and its grid as JSON"}, problem},
			Call: func(who server.Caller, _ []string) []string {
				a, err := l.Start(who)
				return []string{a, err}
			}},
		{Name: bench.MethodStop, Outputs: []server.Argument{problem},
			Call: func(who server.Caller, _ []string) []string { return []string{l.Stop(who)} }},
	}
}

// busy is a Leader that takes no plan: the text says why.
type busy string

func (b busy) Prepare(server.Caller, string) (string, string) { return "", string(b) }
func (b busy) Start(server.Caller) (string, string)           { return "", string(b) }
func (b busy) Stop(server.Caller) string                      { return string(b) }
