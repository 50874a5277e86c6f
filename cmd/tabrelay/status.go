package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/fault"
)

func (a *app) status() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use: "status", Short: "Show the relay, its browsers, clients, plugins and last calls",
		Long: "Show the relay, its browsers, clients, plugins and last calls. Exit code 1 when no relay runs.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.relayStatus(cmd.Context())
			if err != nil {
				return err
			}
			switch {
			case a.json && !s.Running:
				return errors.Join(a.printJSON(s), errNotRunning())
			case a.json:
				return a.printJSON(s)
			case !s.Running:
				a.printf("The relay is not running.\n")
				a.notef("Next: tabrelay up\n")
				return silent(exitFailed)
			}
			a.printRelay(s)
			if err := a.printRunning(cmd.Context()); err != nil {
				return err
			}
			a.printBrowsers(s)
			a.printPlugins(s)
			return nil
		},
	})
}

func (a *app) line(name, format string, args ...any) {
	text := wrapWords(pasteable(fmt.Sprintf(format, args...)), max(width(a.out)-11, 0), 0)
	a.printf("%s %s\n", paint(a.out, bold, fmt.Sprintf("%-10s", name)),
		strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 11)))
}

func (a *app) printRelay(s httpapi.Status) {
	uptime := (time.Duration(s.Uptime) * time.Millisecond).Round(time.Second)
	a.line("relay", "%s, http://%s, process %d, up %s", s.Version, s.Address, s.PID, uptime)
	if s.Version != relay.Version {
		a.line("update", "this program has version %s: tabrelay up replaces the relay when no call runs", relay.Version)
	}
	if s.State == "degraded" {
		a.line("state", "degraded: no browser is connected, so tools of pages fail at once; tabrelay doctor says why")
	} else {
		a.line("state", "%s", s.State)
	}
	if s.Refused != nil {
		a.line("refused", "%s", s.Refused.Reason)
	}
	if s.Policy != "" {
		a.line("policy", "your organization's, from %s; tabrelay policy shows it", s.Policy)
	}
	if s.Unapplied != "" {
		a.line("unapplied", "%s: tabrelay config apply", s.Unapplied)
	}
	if s.Widened != "" {
		a.line("widened", "since the last start, %s; tabrelay config undo takes it back", s.Widened)
	}
	if s.Lost != "" {
		a.line("lost", "rules of yours may be missing (%s), so everything is asked about; look at tabrelay permit "+
			"list, then: "+
			"tabrelay permit confirm", s.Lost)
	}
	if s.Narrowed != "" {
		a.line("narrowed", "since an update your rules allow less: %s; when you have read it: tabrelay permit confirm",
			s.Narrowed)
	}
	if s.Updated != "" {
		a.line("updated", "%s; when you have read it: tabrelay permit confirm", s.Updated)
	}
	a.line("home", "%s", s.Home)
	a.line("extension", "%s", s.Extension.Folder)
	a.line("tools", "%d; %s (tabrelay permit list)", s.Tools, defaultText(s.Default))
	if s.Paused {
		a.line("paused", "all agents are stopped; tabrelay resume lets them go on")
	}
	if s.Questions > 0 {
		a.line("waiting", "%s for you: answer in the side panel; calls also with tabrelay permit pending",
			plural(s.Questions, "question"))
	}
}

// exactly is a time format with milliseconds, to tell apart programs that started in the same second.
const exactly = "15:04:05.000"

// printRunning shows the calls that have not ended.
func (a *app) printRunning(ctx context.Context) error {
	var running httpapi.RunningCalls
	if err := a.get(ctx, "/api/v1/running", &running); err != nil {
		return err
	}
	if len(running.Calls) == 0 {
		a.line("running", "nothing")
	}
	for _, c := range running.Calls {
		by := fault.Excerpt(c.Client)
		if c.Attached != nil {
			by += " (here since " + c.Attached.Local().Format(exactly) + ")"
		}
		said := ""
		if c.Called != "" {
			said = "; calls itself “" + fault.Excerpt(c.Called) + "”"
			if c.Doubt != "" {
				said += " (" + fault.Excerpt(c.Doubt) + ")"
			}
		}
		a.line("running", "%s by %s since %s (%s)%s", c.Tool, by, c.Began.Local().Format(time.TimeOnly), c.State, said)
	}
	return nil
}

func (a *app) printBrowsers(s httpapi.Status) {
	for _, b := range s.Browsers {
		state := "not connected"
		if b.Connected {
			state = fmt.Sprintf("connected, %s", plural(b.Tabs, "tab"))
		}
		a.line("browser", "%s: %s (Chrome %s, extension %s)", b.Label, state, b.Chrome, b.Extension)
		if b.Connected && !b.UpToDate {
			a.line("update", "%s runs older files of the extension; it loads the new ones when no call is open",
				b.Label)
		}
	}
	if s.Extension.TrustedInput {
		a.line("extension", "with Chrome's debugger, for trusted input; `tabrelay up` takes that back")
	}
	if len(s.Browsers) == 0 {
		a.line("browser", "none")
	}
	for _, t := range s.Tabs {
		if t.Owner != nil {
			a.line("owner", "%s has tab %d of %s since %s: %s",
				t.Owner.Name, t.ID, t.Profile, t.Owner.Since.Local().Format(time.TimeOnly), originText(t.URL))
		}
	}
	for _, c := range s.Clients {
		a.line("client", "%s (%s) since %s", c.Client, c.Via, c.Since.Local().Format(exactly))
	}
}

func (a *app) printPlugins(s httpapi.Status) {
	for _, p := range s.Plugins {
		a.line("plugin", "%s %s: %s on %s", p.Name, p.Version, plural(p.Tools, "tool"), strings.Join(p.Matches, ", "))
	}
	for _, p := range s.Problems {
		a.line("problem", "%s", problemText(p))
	}
	for _, one := range s.Reviews {
		if one.State == review.Waiting {
			a.line("review", "%s waits: tabrelay plugin review %s", one.Plugin, one.Plugin)
		}
	}
	if s.Unreviewed {
		a.line("review", "off: review.required is false, plugins run without one")
	}
	for _, n := range s.Notices {
		a.line("notice", "%s %s %s", n.Time.Local().Format(time.TimeOnly), n.Profile, n.Message)
	}
	for _, c := range s.Calls {
		a.line("call", "%s %s by %s: %s", c.Time.Local().Format(time.TimeOnly), c.Tool, c.Client, c.State)
	}
}
