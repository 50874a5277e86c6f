package doctor

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// reportLog is how much of the end of the log a report holds.
const reportLog = 256 << 10

// Report is what a person may give to a bug tracker. It is written to a file and sent nowhere.
type Report struct {
	Home     config.Home
	Version  string
	Labels   []string // of browser profiles: often the names of people or employers
	Status   any      // without what the person has open and did
	Findings []Finding
	Ask      func(path string) ([]byte, error) // asks the relay that runs; nil when none does
}

// NewReport is a report that leaves out the names of all profiles that were connected once.
func NewReport(ctx context.Context, home config.Home, version string, found []Finding) Report {
	labels, _ := knownLabels(ctx, home) // that they cannot be read is among the findings
	return Report{Home: home, Version: version, Labels: labels, Findings: found}
}

const reportReadme = `A report of tabrelay for a bug tracker. Nothing of it was sent anywhere.

Left out: tokens and other credentials, cookies, arguments and results of calls, titles and addresses of tabs, values of
plugin settings, queries and fragments of URLs, names of folders above the home folder, the name of the user.
What is left out is recognized by its shape, so read the files before you share them.
`

// Write writes the report as a zip.
func (p Report) Write(to io.Writer) error {
	hide := newVeil(p.Home, p.Labels)
	z := zip.NewWriter(to)
	add := func(name string, text string) error {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, hide.text(text))
		}
		return err
	}
	files := []struct{ name, text string }{
		{"README.txt", reportReadme},
		{"versions.json", pretty(map[string]string{"tabrelay": p.Version, "go": runtime.Version(), "os": runtime.GOOS,
			"arch": runtime.GOARCH, "written": time.Now().UTC().Format(time.RFC3339)})},
		{"findings.json", pretty(p.Findings)},
		{"status.json", pretty(p.Status)},
		{"settings.json", p.settings()},
		{"relay.log", p.log()},
		{"metrics.txt", p.ask("/metrics")},
		{"events.json", p.events()},
	}
	for _, f := range files {
		if err := add(f.name, f.text); err != nil {
			return err
		}
	}
	return z.Close()
}

// settings are the values that differ from the defaults. Those of plugins may be anything, so only their names stay.
func (p Report) settings() string {
	c, err := config.Load(p.Home)
	if err != nil {
		return pretty(map[string]string{"error": err.Error()})
	}
	values := config.Values(c)
	for _, key := range []string{"browser.args", "allowedOrigins"} {
		if _, set := values[key]; set {
			values[key] = "(set)"
		}
	}
	plugins := map[string]any{}
	for name, own := range c.Plugins {
		plugins[name] = map[string]any{"enabled": own.Enabled, "urlPatterns": len(own.URLPatterns),
			"settings": len(own.Settings) > 0}
	}
	values["plugins"] = plugins
	return pretty(values)
}

func (p Report) log() string {
	file, err := os.Open(p.Home.Log())
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return err.Error()
	}
	defer file.Close() // only read from
	if info, err := file.Stat(); err == nil && info.Size() > reportLog {
		_, _ = file.Seek(-reportLog, io.SeekEnd) // the file is longer than that
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (p Report) ask(path string) string {
	if p.Ask == nil {
		return ""
	}
	text, err := p.Ask(path)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// events are the last events. What a page said in an error is the page's, so only its code stays.
func (p Report) events() string {
	var answer struct {
		Events []map[string]any `json:"events"`
	}
	text := p.ask("/api/v1/events?once=1&recent=200")
	if json.Unmarshal([]byte(text), &answer) != nil {
		return text
	}
	for _, e := range answer.Events {
		if data, ok := e["data"].(map[string]any); ok {
			delete(data, "profile")
			delete(data, "profileId")
		}
		if e["kind"] == "error" || e["kind"] == "retry" || e["kind"] == "approval" || e["kind"] == "connected" ||
			e["kind"] == "disconnected" || e["kind"] == "reconnecting" {
			delete(e, "message")
		}
	}
	return pretty(answer.Events)
}

// veil hides in text what a report must not show.
type veil struct{ names *strings.Replacer }

// shapes are what no name gives away: tokens and hashes, what follows an authorization or cookie header, and the query
// and fragment of a URL.
var shapes = []struct {
	is  *lazyregexp.Regexp
	now string
}{
	{lazyregexp.New(`tabrelay_[0-9a-f]{16,}`), "(token)"},
	{lazyregexp.New(`\b[0-9a-fA-F]{33,}\b`), "(hex)"},
	{lazyregexp.New(`(?i)\b(bearer|basic)\s+[^\s"']+`), "$1 (removed)"},
	{lazyregexp.New(`(?i)\b(cookie|set-cookie|authorization)(["']?\s*[:=]\s*)[^\n]*`), "$1$2(removed)"},
	{lazyregexp.New(`(\b[a-z][a-z0-9+.-]*://[^\s"'?#<>\\]*)[?#][^\s"'<>\\]*`), "$1?(removed)"},
	{lazyregexp.New(`(\b[a-z][a-z0-9+.-]*://)[^\s/"'@]*@`), "$1"},
}

func newVeil(home config.Home, labels []string) veil {
	pairs := []string{string(home), "HOME"}
	for i, label := range labels {
		if len(label) > 2 {
			pairs = append(pairs, label, fmt.Sprintf("(profile %d)", i+1))
		}
	}
	if person, err := os.UserHomeDir(); err == nil && len(person) > 1 {
		pairs = append(pairs, person, "~")
	}
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if user := os.Getenv(name); len(user) > 2 && user != "root" {
			pairs = append(pairs, user, "(user)")
		}
	}
	if host, err := os.Hostname(); err == nil && len(host) > 3 && host != "localhost" {
		pairs = append(pairs, host, "(host)")
	}
	return veil{strings.NewReplacer(pairs...)}
}

func (v veil) text(s string) string {
	s = v.names.Replace(s)
	for _, shape := range shapes {
		s = shape.is.ReplaceAllString(s, shape.now)
	}
	return fault.Redact(s)
}

func pretty(v any) string {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text) + "\n"
}
