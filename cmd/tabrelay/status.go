package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/review"
)

func (a *app) status() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "Show the relay, its browsers, clients, plugins and last calls", Args: cobra.NoArgs,
		Long: "Show the relay, its browsers, clients, plugins and last calls. Exit code 1 when no relay runs.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.relayStatus(cmd.Context())
			if err != nil {
				return err
			}
			switch {
			case asJSON && !s.Running:
				return errors.Join(a.printJSON(s), errNotRunning())
			case asJSON:
				return a.printJSON(s)
			case !s.Running:
				a.printf("The relay is not running.\n")
				a.notef("Next: tabrelay up\n")
				return errSilent
			}
			a.printStatus(s)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) printStatus(s relay.Status) {
	a.printf("relay      %s, http://%s, process %d, up %s\n", s.Version, s.Address, s.PID, (time.Duration(s.Uptime) * time.Millisecond).Round(time.Second))
	a.printf("state      %s\n", stateText(s))
	if s.Refused != nil {
		a.printf("refused    %s\n", s.Refused.Reason)
	}
	if s.Unapplied != "" {
		a.printf("unapplied  %s: tabrelay config apply\n", s.Unapplied)
	}
	if s.Widened != "" {
		a.printf("widened    since the last start, %s; tabrelay config undo takes it back\n", s.Widened)
	}
	a.printf("home       %s\n", s.Home)
	a.printf("extension  %s\n", s.Extension.Folder)
	a.printf("tools      %d; %s (tabrelay permit list)\n", s.Tools, defaultText(s.Default))
	if s.Paused {
		a.printf("paused     all agents are stopped; tabrelay resume lets them go on\n")
	}
	if s.Questions > 0 {
		a.printf("waiting    %s for you: answer in the side panel; calls also with tabrelay permit pending\n", counted(s.Questions, "question"))
	}
	for _, b := range s.Browsers {
		state := "not connected"
		if b.Connected {
			state = fmt.Sprintf("connected, %s", counted(b.Tabs, "tab"))
		}
		a.printf("browser    %s: %s (Chrome %s, extension %s)\n", b.Label, state, b.Chrome, b.Extension)
	}
	if len(s.Browsers) == 0 {
		a.printf("browser    none\n")
	}
	for _, t := range s.Tabs {
		if t.Owner != nil {
			a.printf("owner      %s has tab %d of %s since %s: %s\n", t.Owner.Name, t.ID, t.Profile, t.Owner.Since.Local().Format(time.TimeOnly), originText(t.URL))
		}
	}
	for _, c := range s.Clients {
		a.printf("client     %s (%s)\n", c.Client, c.Via)
	}
	for _, p := range s.Plugins {
		a.printf("plugin     %s %s: %s on %s\n", p.Name, p.Version, counted(p.Tools, "tool"), strings.Join(p.Matches, ", "))
	}
	for _, p := range s.Problems {
		a.printf("problem    %s\n", problemText(p))
	}
	for _, one := range s.Reviews {
		if one.State == review.Waiting {
			a.printf("review     %s waits: tabrelay plugin review %s\n", one.Plugin, one.Plugin)
		}
	}
	if s.Unreviewed {
		a.printf("review     off: review.required is false, plugins run without one\n")
	}
	for _, n := range s.Notices {
		a.printf("notice     %s %s %s\n", n.Time.Local().Format(time.TimeOnly), n.Profile, n.Message)
	}
	for _, c := range s.Calls {
		a.printf("call       %s %s by %s: %s\n", c.Time.Local().Format(time.TimeOnly), c.Tool, c.Client, c.State)
	}
}

func stateText(s relay.Status) string {
	if s.State == "degraded" {
		return "degraded: no browser is connected, so tools of pages fail at once; tabrelay doctor says why"
	}
	return s.State
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
