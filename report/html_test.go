package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestHTMLGoldenWithoutPictures(t *testing.T) {
	golden(t, "empty.html", inForm(t, "html", "empty"))
}

var outside = regexp.MustCompile(`(?:src|href|url\()\s*=?\s*["']?(?:https?:|//|file:|/)`)

func TestHTMLStandsAlone(t *testing.T) {
	for name := range scenarios() {
		t.Run(name, func(t *testing.T) {
			page := string(inForm(t, "html", name))
			if m := outside.FindString(page); m != "" {
				t.Errorf("asks for something outside: %s", m)
			}
			if strings.Contains(page, "<script") {
				t.Error("has a script")
			}
			for _, tag := range []string{"table", "svg", "figure", "div", "p", "h2", "details", "ul", "pre"} {
				if a, b := len(regexp.MustCompile("<"+tag+"[ >]").FindAllString(page, -1)), strings.Count(page, "</"+tag+">"); a != b {
					t.Errorf("%d <%s>, %d </%s>", a, tag, b, tag)
				}
			}
			if a, b := strings.Count(page, "<svg "), strings.Count(page, `<svg role="img" aria-label="`); a != b {
				t.Errorf("%d pictures, %d with words", a, b)
			}
			for _, literal := range []string{"#1B1F24", "#1F6FEB"} {
				if strings.Contains(page, literal) {
					t.Errorf("a plot keeps the colour %s in the dark", literal)
				}
			}
		})
	}
}

func TestHTMLShowsWhatTextSays(t *testing.T) {
	file := scenarioFile(t, "eventful")
	page := string(inForm(t, "html", "eventful"))
	for _, w := range []string{"Histogram of Execution time", "Dead time", "One cycle, to scale", "Over the run", "missed", "Effective plan", "Capacity left of the cycle", "left of T", file.Host.CPUModel} {
		if !strings.Contains(page, w) {
			t.Errorf("%q is not on the page", w)
		}
	}
}

func TestPNG(t *testing.T) {
	img, err := png.Decode(bytes.NewReader(inForm(t, "png", "eventful")))
	if err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() < 1000 || b.Dy() < 1000 {
		t.Errorf("the picture is %v", b)
	}
}

// A browser shows the page at both widths, says nothing on its console and asks nobody.
func TestInChromium(t *testing.T) {
	page := filepath.Join(t.TempDir(), "r.html")
	if err := os.WriteFile(page, inForm(t, "html", "eventful"), 0o644); err != nil {
		t.Fatal(err)
	}
	browsed(t, page)
}

// browsed shows a page to a browser.
func browsed(t *testing.T, page string) {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser")
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI has to have chromium")
		}
		t.Skip("needs chromium")
	}
	dir := t.TempDir()
	for _, width := range []int{400, 1400} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			shot, log := filepath.Join(dir, fmt.Sprintf("%d.png", width)), filepath.Join(dir, fmt.Sprintf("%d.json", width))
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			out, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
				"--user-data-dir="+filepath.Join(dir, "profile"), fmt.Sprintf("--window-size=%d,2000", width), "--enable-logging=stderr",
				"--log-net-log="+log, "--screenshot="+shot, "file://"+page).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for line := range strings.Lines(string(out)) {
				if strings.Contains(line, ":CONSOLE") {
					t.Errorf("console: %s", line)
				}
			}
			painted(t, shot, width)
			asksNobody(t, log, page)
		})
	}
}

// painted looks whether the screenshot has the width and more than one colour.
func painted(t *testing.T, path string, width int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	colours := map[string]bool{}
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y += 7 {
		for x := b.Min.X; x < b.Max.X; x += 7 {
			colours[fmt.Sprint(img.At(x, y))] = true
		}
	}
	if b.Dx() != width || len(colours) < 10 {
		t.Errorf("%v with %d colours", b, len(colours))
	}
}

// asksNobody reads the browser's own log for what the page asked for; the browser's
// requests for itself, such as for updates, name other initiators.
func asksNobody(t *testing.T, path, page string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Events []struct {
			Params struct {
				URL       string `json:"url"`
				Initiator string `json:"initiator"`
			} `json:"params"`
		} `json:"events"`
	}
	if err := json.Unmarshal(data, &log); err != nil {
		t.Fatalf("%v in the browser's log", err)
	}
	for _, e := range log.Events {
		if strings.HasPrefix(e.Params.Initiator, "file:") && e.Params.URL != "" && !strings.HasSuffix(e.Params.URL, page) && !strings.HasPrefix(e.Params.URL, "data:") {
			t.Errorf("the page asks for %s", e.Params.URL)
		}
	}
}
