package delegation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/capability"
	"tabrelay/relay/lib/suggest"
	"tabrelay/relay/road/fault"
)

const (
	agentsPath = "/api/v1/agents"
	statusPath = "/api/v1/status"

	looksAtDatabase = "tabrelay doctor looks at the database"
)

// agentsCommand is `tabrelay agents`: what a person does about agents in a terminal.
var agentsCommand = capability.Command{Heading: "Connect agents", Make: func(t capability.Terminal) *cobra.Command {
	a := commands{t}
	cmd := &cobra.Command{Use: "agents", Short: "Add, list, test and remove the agents that clients can delegate to"}
	test, remove, transcript := a.test(), a.remove(), a.transcript()
	test.ValidArgsFunction, remove.ValidArgsFunction = t.Completing(a.known), t.Completing(a.known)
	transcript.ValidArgsFunction = t.Completing(a.kept)
	cmd.AddCommand(a.add(), a.list(), test, remove, transcript)
	return cmd
}}

// commands are `tabrelay agents`.
type commands struct{ capability.Terminal }

// known are the agents that there are, to complete.
func (a commands) known(ctx context.Context) (list []string) {
	var now Configured
	if a.Get(ctx, agentsPath, &now) != nil {
		return nil
	}
	for _, one := range now.Agents {
		list = append(list, one.ID)
	}
	return list
}

// kept are the sessions of which something is kept, to complete.
func (a commands) kept(ctx context.Context) (list []string) {
	if a.Get(ctx, agentsPath, &Configured{}) != nil { // it says whether this is for the person
		return nil
	}
	all, _ := AllTranscripts(ctx, a.Home()) // a shell is told of no failure
	for _, t := range all {
		list = append(list, t.Session+"\t"+t.Agent+" "+t.At.Local().Format(time.DateTime))
	}
	return list
}

// didYouMean is the end of a sentence about a name that is not there.
func didYouMean(name string, known []string) string {
	if one := suggest.Nearest(name, known); one != "" {
		return " (did you mean " + one + "?)"
	}
	return ""
}

func (a commands) list() *cobra.Command {
	return a.WithJSON(&cobra.Command{
		Use: "list", Short: "List the agents that are configured, and what each of them lacks", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var list Configured
			if err := a.Get(cmd.Context(), agentsPath, &list); err != nil {
				return err
			}
			if a.JSON() {
				return a.PrintJSON(list)
			}
			if len(list.Agents) == 0 {
				a.Notef("No agent is configured. Next: tabrelay agents add %s, or add a provider of models to "+
					"config.json (docs/delegation.md shows how).\n", strings.Join(presetNames(), "|"))
				return nil
			}
			rows := [][]string{{"AGENT", "STATUS", "RUNS ON", "FOR"}}
			for _, one := range list.Agents {
				rows = append(rows, []string{agentName(one), string(one.Status), runsOn(one),
					strings.Join(one.Capabilities, ", ")})
			}
			if err := a.Table(rows...); err != nil {
				return err
			}
			for _, one := range list.Agents {
				if one.Trouble != "" {
					a.Notef("%s: %s\n", one.ID, one.Trouble)
				}
			}
			if n := unpricedOf(list); n > 0 || list.SpentUSD > 0 {
				a.Notef("Spent today: $%.2f of %s. Requests not counted, because their models have no pricing "+
					"in config.json: %d\n", list.SpentUSD, bound(list.MostUSD), n)
			}
			return nil
		},
	})
}

// unpricedOf is how many requests count as 0 USD, since the relay started.
func unpricedOf(list Configured) (n int) {
	for _, one := range list.Spent {
		n += one.Unpriced
	}
	return n
}

func bound(usd float64) string {
	if usd == 0 {
		return "any amount"
	}
	return fmt.Sprintf("$%.2f", usd)
}

func agentName(one AgentView) string {
	if one.Default {
		return one.ID + " (default)"
	}
	return one.ID
}

// runsOn is the program that an agent is, or the models that it uses.
func runsOn(one AgentView) string {
	if one.Program != "" {
		return one.Program
	}
	var names []string
	for _, p := range one.Providers {
		name := p.ID
		if len(p.Models) > 0 {
			name += " (" + strings.Join(p.Models, ", ") + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, "; ")
}

func (a commands) transcript() *cobra.Command {
	return a.WithJSON(&cobra.Command{
		Use: "transcript [SESSION]", Short: "Show what was said in a session with an agent, or list the sessions kept",
		Long: "Show what was said in a session with an agent: prompts, answers, and what its tools returned. Without " +
			"a session, list those of which something is kept.\n" +
			"Nothing is kept unless delegation.keepTranscripts is true. It works whether the relay runs or not.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, ok := join.Running(cmd.Context(), a.Home()); ok { // which says whether this is for the person
				if err := a.Get(cmd.Context(), agentsPath, &Configured{}); err != nil {
					return err
				}
			}
			if len(args) == 0 {
				return a.listTranscripts(cmd.Context())
			}
			return a.showTranscript(cmd.Context(), args[0])
		},
	})
}

func (a commands) listTranscripts(ctx context.Context) error {
	list, err := AllTranscripts(ctx, a.Home())
	switch {
	case err != nil:
		return a.Failed(looksAtDatabase, "%w", err)
	case a.JSON():
		return a.PrintJSON(append([]Transcript{}, list...))
	case len(list) == 0:
		a.Notef("No transcripts are kept. Set delegation.keepTranscripts to true in config.json to keep those of " +
			"later sessions.\n")
		return nil
	}
	rows := [][]string{{"SESSION", "AGENT", "CLIENT", "TURNS", "LAST"}}
	for _, t := range list {
		rows = append(rows, []string{t.Session, t.Agent, fault.Sanitize(t.Client), strconv.Itoa(t.Turn),
			t.At.Local().Format(time.DateTime)})
	}
	return a.Table(rows...)
}

func (a commands) showTranscript(ctx context.Context, session string) error {
	turns, err := TranscriptOf(ctx, a.Home(), session)
	switch {
	case err != nil:
		return a.Failed(looksAtDatabase, "%w", err)
	case len(turns) == 0:
		return a.Failed("tabrelay agents transcript lists the sessions; with delegation.keepTranscripts in "+
			"config.json, later ones are kept", "no transcript of the session %q is kept", session)
	case a.JSON():
		return a.PrintJSON(turns)
	}
	for _, t := range turns {
		a.Printf("%s for %s, turn %d, %s: %s\n", t.Agent, fault.Sanitize(t.Client), t.Turn,
			t.At.Local().Format(time.DateTime), fault.Sanitize(t.Ended))
		var messages []spoken
		if err := json.Unmarshal(t.Messages, &messages); err != nil {
			return a.Failed(looksAtDatabase, "turn %d cannot be read: %w", t.Turn, err)
		}
		for _, m := range messages {
			a.Printf("%s", m)
		}
	}
	return nil
}

// spoken is one message of a transcript.
type spoken struct {
	Role  string
	Text  string
	Calls []struct {
		Name      string
		Arguments json.RawMessage
	}
	Results []struct{ Name, Text string }
}

// String is the message for a terminal: what somebody said, which tools were called, and what they returned.
func (s spoken) String() string {
	var b strings.Builder
	line := func(who, text string) {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		for i := range lines {
			lines[i] = fault.Sanitize(lines[i])
		}
		fmt.Fprintf(&b, "  %s: %s\n", fault.Sanitize(who), strings.Join(lines, "\n    "))
	}
	if s.Text != "" {
		line(cmp.Or(s.Role, "unknown"), s.Text)
	}
	for _, c := range s.Calls {
		line("calls", c.Name+" "+string(c.Arguments))
	}
	for _, r := range s.Results {
		line(r.Name+" returned", r.Text)
	}
	return b.String()
}
