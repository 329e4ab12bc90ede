package host

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// entry is a member of a tar that opcycle did not write.
type entry struct {
	name, target string
	kind         byte
	data         string
	size         int64 // that the header claims; 0: what data has
}

// packed writes the entries after a manifest that counts them right.
func packed(t *testing.T, entries ...entry) []byte {
	t.Helper()
	m := manifest{Format: captureFormat, Members: len(entries)}
	for _, e := range entries {
		m.Bytes += int64(len(e.data))
	}
	head, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return tarOf(t, append([]entry{{name: manifestName, data: string(head)}}, entries...)...)
}

func tarOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: 0o644, Size: int64(len(e.data)), Linkname: e.target}
		if e.target != "" {
			h.Typeflag = tar.TypeSymlink
		}
		if e.kind != 0 {
			h.Typeflag = e.kind
		}
		if e.size != 0 {
			h.Size = e.size
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.data)); err != nil {
			t.Fatal(err)
		}
	}
	_ = w.Close() // what is missing of a claimed size is missing
	return b.Bytes()
}

// A capture comes from strangers: each of these is refused by an error that names the
// member, and nothing is written outside of the folder that is private to the reading.
func TestAHostileCaptureIsRefused(t *testing.T) {
	self := entry{name: "proc/self", target: "23"}
	whole := packed(t, self, entry{name: "proc/cmdline", data: strings.Repeat("quiet ", 400)})
	for _, tt := range []struct {
		name string
		tar  []byte
		want string
	}{
		{"empty", nil, "it is empty"},
		{"no tar", []byte(strings.Repeat("no tar at all ", 100)), "it is no capture, or damaged"},
		{"another tar", tarOf(t, entry{name: "README", data: "x"}), "its first member is not opcycle/manifest.json"},
		{"the manifest is no JSON", tarOf(t, entry{name: manifestName, data: "{"}), "opcycle/manifest.json: "},
		{"of a later version", tarOf(t, entry{name: manifestName, data: `{"format": 2, "tool": {"name": "opcycle", "version": "9.9"}}`}), "form 2, made by opcycle 9.9"},
		{"a path out", packed(t, entry{name: "../../etc/cron.d/x", data: "x"}), `member "../../etc/cron.d/x": the name leads out`},
		{"a path out, in the middle", packed(t, entry{name: "proc/../../x", data: "x"}), `member "proc/../../x": the name leads out`},
		{"an absolute path", packed(t, entry{name: "/etc/passwd", data: "x"}), `member "/etc/passwd": the name leads out`},
		{"a backslash", packed(t, entry{name: `proc\..\x`, data: "x"}), "the name leads out"},
		{"a link out", packed(t, entry{name: "sys/a", target: "../../etc/passwd"}), `member "sys/a": the link to "../../etc/passwd" leads out`},
		{"an absolute link", packed(t, entry{name: "sys/a", target: "/etc/passwd"}), `the link to "/etc/passwd" leads out`},
		{"self is no process", packed(t, entry{name: "proc/self", target: "../sys"}), `member "proc/self": the link to "../sys" is no process`},
		{"self is the folder itself", packed(t, entry{name: "proc/self", target: "."}), "is no process"},
		{"a namespace that is a path", packed(t, self, entry{name: "proc/23/ns/time", target: "../../cmdline"}), `member "proc/23/ns/time": the link to "../../cmdline" is no namespace`},
		{"a hard link", packed(t, entry{name: "proc/a", target: "proc/b", kind: tar.TypeLink}), "files and links only"},
		{"a device", packed(t, entry{name: "dev/mem", kind: tar.TypeChar}), `member "dev/mem": it is of type '3'`},
		{"twice", packed(t, entry{name: "proc/a", data: "1"}, entry{name: "proc/a", data: "2"}), `member "proc/a": it is in there twice`},
		{"file and link", packed(t, entry{name: "proc/self", target: "23"}, entry{name: "proc/self", data: "2"}), `member "proc/self": it is in there twice`},
		{"a second manifest", packed(t, entry{name: manifestName, data: "{}"}), "it is in there twice"},
		{"a huge member", packed(t, entry{name: "proc/a", size: 1 << 40}), `member "proc/a": larger than 16 MiB`},
		{"a size that is not there", packed(t, entry{name: "proc/a", data: "x", size: 1 << 20}), `member "proc/a": unexpected EOF; it is cut or damaged`},
		{"cut in a member", whole[:len(whole)-2000-1024], "cut or damaged"},
		{"cut between members", whole[:1024+512], "holds 1 members of 0 bytes and says 2 of 2400: it was cut or changed"},
		{"a member too many", bytes.Join([][]byte{whole[:len(whole)-1024], tarOf(t, entry{name: "sys/a", data: "x"})}, nil), "holds 3 members"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, tmp := t.TempDir(), t.TempDir()
			t.Setenv("TMPDIR", tmp)
			file := filepath.Join(dir, "some.tar")
			if err := os.WriteFile(file, tt.tar, 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Read(file)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), file) {
				t.Errorf("%v\nwant the file and %q", err, tt.want)
			}
			for _, d := range []string{dir, tmp} {
				if left, _ := os.ReadDir(d); d == tmp && len(left) > 0 || d == dir && len(left) > 1 {
					t.Errorf("left in %s: %v", d, left)
				}
			}
		})
	}
}

// Bytes changed at random end in an error or a reading, never in a panic, and leave
// nothing behind.
func FuzzReadCapture(f *testing.F) {
	var t testing.T
	f.Add(packed(&t, entry{name: "proc/self", target: "23"}, entry{name: "proc/23/limits", data: "Limit\n"}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, mem, err := readCapture(bytes.NewReader(b))
		if err == nil && (mem == nil || m.Format != captureFormat) {
			t.Error("neither an error nor a capture")
		}
	})
}
