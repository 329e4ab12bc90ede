package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"opcycle/run"
)

// uploadHeader is the environment variable of the headers that an upload authenticates by,
// a line each: what stands on a command line, everybody on the machine can read.
const uploadHeader = "OPCYCLE_UPLOAD_HEADER"

// upload sends the files of a result by plain HTTP PUT, as S3 and its like take it by a
// presigned URL or a header. It changes and removes nothing, here or there.
//
// It follows no redirect (a PUT would lose its body or show its headers to another server)
// and prints neither a header nor the query of a URL, which in a presigned one is the key.
type upload struct {
	to     *url.URL // ending in /: a folder, else the place of run.json
	header http.Header
	client *http.Client
	say    io.Writer

	tries  int           // of one file
	pause  time.Duration // before the second; doubled before each further one
	answer time.Duration // what a try may take beyond its bytes
	rate   int64         // bytes a second that a try has to reach
}

// readUpload reads --upload. env:NAME is the URL in a variable of the environment.
func readUpload(text string, env func(string) string, say io.Writer) (*upload, error) {
	if text == "" {
		return nil, nil
	}
	shown := text
	if name, ok := strings.CutPrefix(text, "env:"); ok {
		if text = env(name); text == "" {
			return nil, fmt.Errorf("--upload %s: the environment has no %s", shown, name)
		}
	} else {
		shown, _, _ = strings.Cut(text, "?")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("--upload %q is no place to send to; write https://HOST/FOLDER/, or the URL of one object", shown)
	case u.User != nil:
		return nil, fmt.Errorf("--upload: a password in a URL is read by everybody on the machine; set %s='Authorization: ...'", uploadHeader)
	case u.Fragment != "":
		return nil, fmt.Errorf("--upload %q: the part behind # is never sent; leave it out, or write %%23", shown)
	}
	p := &upload{to: u, header: http.Header{}, say: say, tries: 4, pause: time.Second, answer: 30 * time.Second, rate: 128 << 10}
	p.client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for line := range strings.Lines(env(uploadHeader)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || name == "" {
			return nil, fmt.Errorf("%s: a line is no header; write 'Authorization: ...'", uploadHeader)
		}
		p.header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return p, nil
}

// send sends the result in dir, run.json last: a folder there that has it is whole.
func (p *upload) send(ctx context.Context, dir string) error {
	names := []string{run.ResultName}
	if p.folder() {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("upload: %w", err)
		}
		names = nil
		for _, e := range entries {
			if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") && e.Name() != run.ResultName {
				names = append(names, e.Name())
			}
		}
		names = append(names, run.ResultName)
	}
	for _, name := range names {
		if err := p.file(ctx, dir, name); err != nil {
			return fmt.Errorf("%w; the result is whole in %s", err, dir)
		}
	}
	fmt.Fprintf(p.say, "uploaded %s to %s\n", strings.Join(names, ", "), shownURL(p.place(dir, run.ResultName)))
	if !p.folder() {
		fmt.Fprintf(p.say, "the URL is of one object: what else is in %s was not sent\n", dir)
	}
	return nil
}

// in is the upload to a folder of that name there; empty: to the same place.
func (p *upload) in(folder string) *upload {
	if folder == "" {
		return p
	}
	below := *p
	below.to = p.to.JoinPath(folder + "/")
	return &below
}

func (p *upload) folder() bool { return strings.HasSuffix(p.to.Path, "/") }

// place is where a file goes.
func (p *upload) place(dir, name string) *url.URL {
	if !p.folder() {
		return p.to
	}
	u := *p.to
	u.RawPath, u.Path = "", path.Join(u.Path, filepath.Base(dir), name)
	return &u
}

// shownURL is u without what may be a key.
func shownURL(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }

// file sends one file, several times if it has to. Every further try is said.
func (p *upload) file(ctx context.Context, dir, name string) error {
	to := p.place(dir, name)
	pause := p.pause
	for try := 1; ; try++ {
		again, err := p.once(ctx, filepath.Join(dir, name), to)
		if err == nil {
			return nil
		}
		err = fmt.Errorf("upload %s to %s: %w", name, shownURL(to), err)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%w (interrupted)", err)
		case !again:
			return err
		case try == p.tries:
			return fmt.Errorf("%w; gave up after %d tries", err, try)
		}
		fmt.Fprintf(p.say, "%v; try %d of %d in %s\n", err, try+1, p.tries, pause)
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (interrupted)", err)
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// once is one try. again: another may help.
func (p *upload) once(ctx context.Context, name string, to *url.URL) (again bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	s, err := f.Stat()
	if err != nil {
		return false, err
	}
	limit := p.answer + time.Duration(s.Size()/p.rate)*time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %s for %d bytes", limit, s.Size()))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, to.String(), f)
	if err != nil {
		return false, errors.New("the request can't be made") // its error has the URL
	}
	req.Header, req.ContentLength = p.header.Clone(), s.Size()
	resp, err := p.client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the URL, which may be a key
		}
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return true, err
	}
	defer resp.Body.Close()
	return answered(resp)
}

// storeCode is the word by which S3 and its like say what is wrong. The rest of such an answer
// may repeat a key.
var storeCode = regexp.MustCompile(`<Code>([A-Za-z]{1,64})</Code>`)

// answered judges an answer.
func answered(resp *http.Response) (again bool, err error) {
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return false, nil
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 4096)) // a word more, where there is one
	said := resp.Status
	if m := storeCode.FindSubmatch(body); m != nil {
		said += " (" + string(m[1]) + ")"
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		where := "elsewhere"
		if u, err := resp.Location(); err == nil {
			where = "to " + shownURL(u)
		}
		return false, fmt.Errorf("%s: it sends us %s, which is not followed; name that place in --upload", said, where)
	}
	later := []int{http.StatusRequestTimeout, http.StatusTooManyRequests}
	return resp.StatusCode >= 500 || slices.Contains(later, resp.StatusCode), errors.New(said)
}
