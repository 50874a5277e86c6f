package main

import (
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/program/builtin"
	"tabrelay/relay/program/httpapi"
)

func (a *app) deadLetters() *cobra.Command {
	cmd := &cobra.Command{
		Use: "dead-letters", Short: "Calls with unknown outcome, or that failed at every attempt",
		Long: "Calls with unknown outcome, or that failed at every attempt. They are kept for a week, with their " +
			"arguments but without credentials.\n" +
			"If the outcome of a call became known later, dead-letters show says so.",
	}
	cmd.AddCommand(a.listLetters(), a.showLetter(), a.replayLetter())
	return a.startingRelay(cmd)
}

func (a *app) listLetters() *cobra.Command {
	var limit int
	cmd := a.withJSON(&cobra.Command{
		Use: "list", Short: "List them, the newest first",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 || limit > 1000 {
				return usage("--limit is %d", limit).hinting("use a number from 1 to 1000")
			}
			var page builtin.Letters
			path := fmt.Sprintf("/api/v1/dead-letters?limit=%d", limit)
			if err := a.get(cmd.Context(), path, &page); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(page)
			}
			if len(page.Letters) == 0 {
				a.notef("There are no dead letters.\n")
				return nil
			}
			rows := [][]string{{"ID", "TIME", "TOOL", "CLIENT", "OUTCOME", "ERROR"}}
			for _, l := range page.Letters {
				rows = append(rows, []string{string(l.ID), l.Time.Local().Format(time.DateTime), l.Tool, l.Client,
					outcomeText(l), l.Code})
			}
			return a.table(rows...)
		},
	})
	limitFlag(cmd, &limit, 1000, "how many to show")
	return cmd
}

// outcomeText is what is known of the outcome of a call now.
func outcomeText(l builtin.Letter) string {
	switch {
	case l.Late != "":
		return string(l.Late) + " (learned late)"
	case l.Replayed != "":
		return string(l.Outcome) + ", replayed"
	}
	return string(l.Outcome)
}

func (a *app) showLetter() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use: "show ID", Short: "Show one, with its arguments and its error", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var l builtin.Letter
			if err := a.get(cmd.Context(), letterPath(args[0]), &l); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(l)
			}
			return a.printLetter(l)
		},
	})
}

func letterPath(id string) string { return "/api/v1/dead-letters/" + url.PathEscape(id) }

func (a *app) printLetter(l builtin.Letter) error {
	rows := [][]string{
		{"id", string(l.ID)}, {"time", l.Time.Local().Format(time.DateTime)}, {"tool", l.Tool}, {"client", l.Client},
		{"outcome", fmt.Sprintf("%s, attempts: %d", l.Outcome, l.Attempts)}, {"error", l.Code + ": " + l.Message},
	}
	if l.Profile != "" {
		rows = append(rows, []string{"profile", l.Profile})
	}
	if l.Deeds != "" {
		rows = append(rows, []string{"was to do", l.Deeds})
	}
	rows = append(rows, []string{"arguments", argumentsText(l)})
	if l.Resolved != nil {
		rows = append(rows, []string{"learned late",
			fmt.Sprintf("%s, at %s", l.Late, l.Resolved.Local().Format(time.DateTime))})
		if text := string(l.LateOutput) + string(l.LateError); text != "" {
			rows = append(rows, []string{"", text})
		}
	}
	if l.ReplayOf != "" {
		rows = append(rows, []string{"replay of", string(l.ReplayOf)})
	}
	if l.Replayed != "" {
		rows = append(rows, []string{"replayed as", string(l.Replayed)})
	}
	if !l.Replayable {
		rows = append(rows, []string{"replay", "no: " + l.Because})
	}
	return a.table(rows...)
}

func argumentsText(l builtin.Letter) string {
	if len(l.Arguments) == 0 {
		return "not kept"
	}
	return string(l.Arguments)
}

func (a *app) replayLetter() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "replay ID", Short: "Call the tool again, with the same arguments", Args: cobra.ExactArgs(1),
		Long: "Call the tool again, with the same arguments. Unless the tool only reads, you confirm it first, in " +
			"the side panel if it is open, else at the terminal: the action may\n" +
			"have happened. The new call has an id of its own, and the dead letter names it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := a.runCall(cmd.Context(), letterPath(args[0])+"/replay", httpapi.Repeat{})
			if err != nil {
				return err
			}
			return a.printAnswer(answer)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "has no effect: what may change something is always confirmed")
	a.withCallJSON(cmd)
	return cmd
}
