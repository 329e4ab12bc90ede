package run

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever becomes of one checkpoint, the other is used and the result says so.
func TestADamagedCheckpointIsPassedOver(t *testing.T) {
	const newest, older = "checkpoint-0", "checkpoint-1" // of numbers 2 and 1
	version := func(data []byte) []byte { return bytes.Replace(data, []byte("state 1 "), []byte("state 99 "), 1) }
	for _, tt := range []struct {
		name    string
		file    string
		do      func([]byte) []byte
		seq     int64
		warning string
	}{
		{"both whole", newest, func(d []byte) []byte { return d }, 2, ""},
		{"newest cut off", newest, func(d []byte) []byte { return d[:len(d)-5] }, 1, "checkpoint-0 is damaged or was cut off: its length or sum is wrong: went on from the checkpoint before it"},
		{"newest cut off in its first line", newest, func(d []byte) []byte { return d[:7] }, 1, "checkpoint-0 is no state of a campaign, or was cut off: went on from the checkpoint before it"},
		{"newest empty", newest, func([]byte) []byte { return nil }, 1, "checkpoint-0 is no state of a campaign, or was cut off: went on from the checkpoint before it"},
		{"newest with a wrong bit", newest, func(d []byte) []byte { d[len(d)-9] ^= 1; return d }, 1, "checkpoint-0 is damaged or was cut off: its length or sum is wrong: went on from the checkpoint before it"},
		{"newest of another version", newest, version, 1, "checkpoint-0 is of version 99, this program writes 1: went on from the checkpoint before it"},
		{"older cut off", older, func(d []byte) []byte { return d[:len(d)-5] }, 2, "checkpoint-1 is damaged or was cut off: its length or sum is wrong: went on from the checkpoint before it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := states{t.TempDir()}
			for seq := int64(1); seq <= 2; seq++ {
				if err := s.write(s.slot(seq), checkpoint{Plan: "p", Seq: seq, State: []byte("so far")}); err != nil {
					t.Fatal(err)
				}
			}
			change(t, filepath.Join(s.dir, tt.file), tt.do)
			c, ok, warning, err := s.latest("p", 0)
			if err != nil || !ok || c.Seq != tt.seq || warning != tt.warning {
				t.Errorf("%d (%v), warning %q, error %v", c.Seq, ok, warning, err)
			}
			change(t, filepath.Join(s.dir, newest), func(d []byte) []byte { return nil })
			change(t, filepath.Join(s.dir, older), func(d []byte) []byte { return nil })
			if _, _, _, err := s.latest("p", 0); err == nil || !strings.Contains(err.Error(), "remove both to measure phase 1 from its start") {
				t.Errorf("both damaged: %v", err)
			}
		})
	}
}

func change(t *testing.T, path string, do func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, do(data), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A checkpoint of an earlier phase is none of this one's, and its number goes on.
func TestCheckpointsOfAnotherPhase(t *testing.T) {
	s := states{t.TempDir()}
	if err := s.write(s.slot(7), checkpoint{Plan: "p", Seq: 7, Phase: 0}); err != nil {
		t.Fatal(err)
	}
	if _, ok, warning, err := s.latest("p", 1); ok || warning != "" || err != nil {
		t.Error(ok, warning, err)
	}
	if n := (&CampaignFolder{state: s}).newest(); n != 7 {
		t.Errorf("newest %d", n)
	}
	if _, ok, warning, err := s.latest("another", 0); ok || err != nil || !strings.Contains(warning, "is of another campaign") {
		t.Error(ok, warning, err)
	}
}
