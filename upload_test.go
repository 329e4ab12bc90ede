package main

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"opcycle/report"
	"opcycle/run"
)

// store is a server that takes objects, as S3 does.
type store struct {
	*httptest.Server
	mu      sync.Mutex
	objects map[string]string // by path and query
	order   []string
	headers http.Header
	asked   int
	answer  func(asked int, w http.ResponseWriter, r *http.Request) bool // true: answered
}

func newStore(t *testing.T, answer func(int, http.ResponseWriter, *http.Request) bool) *store {
	s := &store{objects: map[string]string{}, answer: answer}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *store) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked++
	asked := s.asked
	s.mu.Unlock()
	if s.answer != nil && s.answer(asked, w, r) {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPut || int64(len(body)) != r.ContentLength {
		http.Error(w, "not a whole PUT", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[r.URL.RequestURI()], s.headers = string(body), r.Header
	s.order = append(s.order, r.URL.RequestURI())
}

// times is how often it was asked.
func (s *store) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// kept is a folder with a result of three files and one that is not whole.
func kept(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "20260101T000000Z")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{run.ResultName: "{}\n", run.RecordsName: strings.Repeat("r", 1<<20), "trace.txt": "t", ".cycles.bin-1": "half"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// quickUpload is an upload that waits for little.
func quickUpload(t *testing.T, url, header string, said io.Writer) *upload {
	t.Helper()
	p, err := readUpload("env:PLACE", func(name string) string {
		return map[string]string{"PLACE": url, uploadHeader: header}[name]
	}, said)
	if err != nil {
		t.Fatal(err)
	}
	p.pause, p.answer = time.Millisecond, 200*time.Millisecond
	return p
}

const (
	secret  = "sesame-4711"
	headers = "Authorization: Bearer " + secret + "\nX-Api-Key: " + secret + "\n"
)

func TestUploadOfAFolder(t *testing.T) {
	s := newStore(t, nil)
	s.Start()
	var said strings.Builder
	if err := quickUpload(t, s.URL+"/plant 7/", headers, &said).send(t.Context(), kept(t)); err != nil {
		t.Fatal(err)
	}
	const at = "/plant%207/20260101T000000Z/"
	if want := []string{at + "cycles.bin", at + "trace.txt", at + "run.json"}; !slices.Equal(s.order, want) {
		t.Errorf("sent %q, want %q, run.json last", s.order, want)
	}
	if s.objects[at+"run.json"] != "{}\n" || len(s.objects[at+"cycles.bin"]) != 1<<20 {
		t.Error("what arrived is not what was sent")
	}
	if s.headers.Get("Authorization") != "Bearer "+secret || s.headers.Get("X-Api-Key") != secret {
		t.Errorf("headers %v", s.headers)
	}
	if strings.Contains(said.String(), secret) || !strings.Contains(said.String(), "uploaded cycles.bin, trace.txt, run.json to "+s.URL+at+"run.json") {
		t.Errorf("said %q", said.String())
	}
}

func TestUploadByAPresignedURL(t *testing.T) {
	s := newStore(t, nil)
	s.Start()
	var said strings.Builder
	const object = "/bucket/node.json?X-Amz-Signature=" + secret + "&X-Amz-Expires=900"
	if err := quickUpload(t, s.URL+object, "", &said).send(t.Context(), kept(t)); err != nil {
		t.Fatal(err)
	}
	if len(s.objects) != 1 || s.objects[object] != "{}\n" {
		t.Errorf("sent %q", s.order)
	}
	if strings.Contains(said.String(), secret) || !strings.Contains(said.String(), "was not sent") {
		t.Errorf("said %q", said.String())
	}
}

func TestUploadThatFails(t *testing.T) {
	status := func(code int, body string) func(int, http.ResponseWriter, *http.Request) bool {
		return func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(code)
			fmt.Fprint(w, body)
			return true
		}
	}
	other := newStore(t, nil)
	other.Start()
	for _, c := range []struct {
		name   string
		answer func(int, http.ResponseWriter, *http.Request) bool
		asked  int    // how often; 0: a try may end before it gets there
		says   string // empty: it succeeds
		lines  int    // of what is said about tries
	}{
		{"403", status(403, "<Error><Code>AccessDenied</Code><AWSAccessKeyId>"+secret+"</AWSAccessKeyId></Error>"), 1, "403 Forbidden (AccessDenied)", 0},
		{"404", status(404, secret), 1, "404 Not Found", 0},
		{"500 for ever", status(500, ""), 4, "gave up after 4 tries", 3},
		{"500 twice", func(asked int, w http.ResponseWriter, _ *http.Request) bool {
			if asked <= 2 {
				w.WriteHeader(500)
			}
			return asked <= 2
		}, 3, "", 2},
		{"429", status(429, ""), 4, "429 Too Many Requests", 3},
		{"slow", func(_ int, _ http.ResponseWriter, r *http.Request) bool {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return true
		}, 0, "no answer within 200ms", 3},
		{"cut", func(int, http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }, 4, "gave up", 3},
		{"redirect", func(_ int, w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, other.URL+"/there?key="+secret, http.StatusTemporaryRedirect)
			return true
		}, 1, "sends us to " + other.URL + "/there, which is not followed", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStore(t, c.answer)
			s.Config.ErrorLog = nil
			s.Start()
			dir := kept(t)
			var said strings.Builder
			err := quickUpload(t, s.URL+"/run.json?signature="+secret, headers, &said).send(t.Context(), dir)
			switch {
			case (err == nil) != (c.says == ""):
				t.Errorf("got %v", err)
			case err != nil && (!strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "the result is whole in "+dir)):
				t.Errorf("got %q, want %q and the folder", err, c.says)
			}
			if n := s.times(); c.asked != 0 && n != c.asked {
				t.Errorf("asked %d times, want %d", n, c.asked)
			}
			if strings.Contains(fmt.Sprint(err, said.String()), secret) {
				t.Errorf("the key was printed: %v\n%s", err, said.String())
			}
			if n := strings.Count(said.String(), " of 4 in "); n != c.lines {
				t.Errorf("%d further tries were said, want %d:\n%s", n, c.lines, said.String())
			}
			if _, err := os.Stat(filepath.Join(dir, run.ResultName)); err != nil {
				t.Error(err)
			}
		})
	}
	if other.times() != 0 {
		t.Error("a redirect was followed")
	}
}

func TestUploadEndsWithTheCommand(t *testing.T) {
	s := newStore(t, func(_ int, w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(500); return true })
	s.Start()
	ctx, cancel := context.WithCancel(t.Context())
	p := quickUpload(t, s.URL+"/", "", &cancelling{cancel})
	p.pause = time.Hour
	if err := p.send(ctx, kept(t)); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("got %v", err)
	}
}

// cancelling ends the command when something is said.
type cancelling struct{ cancel func() }

func (c *cancelling) Write(b []byte) (int, error) { c.cancel(); return len(b), nil }

// A budget that failed stays failed when the result is sent; not sent is not measured; what
// could not be reported is not sent.
func TestDeliver(t *testing.T) {
	s := newStore(t, nil)
	s.Start()
	closed := httptest.NewServer(nil)
	closed.Close()
	for _, c := range []struct {
		name string
		url  string
		said error
		want int // exit code
		sent int
	}{
		{"passed", s.URL, nil, exitPass, 3},
		{"failed", s.URL, verdict{exitFailed}, exitFailed, 3},
		{"passed, not sent", closed.URL, nil, exitNotMeasured, 0},
		{"failed, not sent", closed.URL, verdict{exitFailed}, exitNotMeasured, 0},
		{"not reported", s.URL, errors.New("disk full"), exitNotMeasured, 0},
	} {
		before := len(s.order)
		err := deliver(t.Context(), quickUpload(t, c.url+"/", "", io.Discard), kept(t), c.said)
		code := exitNotMeasured
		var v verdict
		if err == nil {
			code = exitPass
		} else if errors.As(err, &v) {
			code = v.code
		}
		if code != c.want || len(s.order)-before != c.sent {
			t.Errorf("%s: exit %d, %d files; want %d, %d", c.name, code, len(s.order)-before, c.want, c.sent)
		}
	}
}

func TestUploadIsRefused(t *testing.T) {
	for _, c := range []struct{ url, header, says string }{
		{"ftp://host/", "", "no place to send to"},
		{"https:///x", "", "no place to send to"},
		{"host/folder", "", "no place to send to"},
		{"env:NOWHERE", "", "has no NOWHERE"},
		{"https://me:" + secret + "@host/", "", uploadHeader},
		{"https://host/#x", "", "behind #"},
		{"https://host/%zz?" + secret, "", "no place to send to"},
		{"https://host/", secret, "is no header"},
	} {
		_, err := readUpload(c.url, func(name string) string { return map[string]string{uploadHeader: c.header}[name] }, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v, want %q", c.url, err, c.says)
		}
	}
}

// A run sends its result over TLS to a server that the certificates of the environment
// vouch for, under the name that was given.
func TestARunIsUploaded(t *testing.T) {
	s := newStore(t, nil)
	s.StartTLS()
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	alone(t)
	out := filepath.Join(t.TempDir(), "monday")
	t.Setenv("SSL_CERT_FILE", ca)
	t.Setenv(uploadHeader, headers)
	c := start(t, "", "run", "--out", out, "--node", "plc-7", "--upload", s.URL+"/fleet/", profile(t, "run: {floor: 0, duration: 1s, warm_up: 200ms}", "plc: {"+relaxedPLC+"}"))
	if code := c.code(); code != exitPass && code != exitFailed {
		t.Errorf("exit %d", code)
	}
	f, err := report.Read(strings.NewReader(s.objects["/fleet/monday/run.json"]))
	if err != nil || f.Host.Name != "plc-7" || !f.Complete {
		t.Errorf("of %q, complete %v, %v; sent %q", f.Host.Name, f.Complete, err, s.order)
	}
	if text := c.stdout.String() + c.stderr.String(); strings.Contains(text, secret) || !strings.Contains(text, ", run.json to "+s.URL+"/fleet/monday/run.json") {
		t.Error("the upload was not said, or its key was")
	}
}
