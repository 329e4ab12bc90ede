package plc

import "testing"

func BenchmarkProgram(b *testing.B) {
	for _, name := range Programs() {
		p, err := NewProgram(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.Run(10001)
			}
		})
	}
}
