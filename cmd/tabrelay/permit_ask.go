package main

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/permit"
)

func (a *app) permitPending() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "pending", Short: "Show the questions that wait for you", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var p relay.Approvals
			if err := a.get(cmd.Context(), "/api/v1/approvals", &p); err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(p)
			}
			if len(p.Approvals) == 0 {
				a.notef("No question waits for you.\n")
			}
			for i, q := range p.Approvals {
				if i > 0 {
					a.printf("\n")
				}
				a.printf("%s  %d s left\n", q.ID, int(time.Until(q.Until).Round(time.Second).Seconds()))
				a.printf("  %s\n", strings.ReplaceAll(permit.Text(q), "\n", "\n  "))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) permitAllow() *cobra.Command {
	var lasts string
	cmd := &cobra.Command{
		Use: "allow ID", Short: "Allow the call that a question is about", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !a.interactive() { // an agent that runs commands must not answer for the person
				return failed("allowing a call needs a person at a terminal").hinting("answer in the side panel, or run tabrelay permit allow in a terminal of your own")
			}
			return a.answer(cmd, args[0], relay.Verdict{Answer: "allow", For: lasts}, "Allowed.\n")
		},
	}
	cmd.Flags().StringVar(&lasts, "for", "once", "once, session, always, or a time such as 1h")
	return cmd
}

func (a *app) permitDeny() *cobra.Command {
	return &cobra.Command{
		Use: "deny ID", Short: "Deny the call that a question is about", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.answer(cmd, args[0], relay.Verdict{Answer: "deny"}, "Denied.\n")
		},
	}
}

func (a *app) answer(cmd *cobra.Command, id string, v relay.Verdict, done string) error {
	var left relay.Approvals
	if err := a.post(cmd.Context(), "/api/v1/approvals/"+url.PathEscape(id), v, &left); err != nil {
		return err
	}
	a.notef("%s", done)
	return nil
}

func (a *app) pause() *cobra.Command {
	return &cobra.Command{
		Use: "pause", Short: "Stop all agents: end what runs, and refuse what comes", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.setPaused(cmd, true, "All agents are stopped. tabrelay resume lets them go on.\n")
		},
	}
}

func (a *app) resume() *cobra.Command {
	return &cobra.Command{
		Use: "resume", Short: "Let agents go on after tabrelay pause", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.setPaused(cmd, false, "Agents may call tools again, as the rules say.\n")
		},
	}
}

func (a *app) setPaused(cmd *cobra.Command, paused bool, done string) error {
	var now relay.Paused
	if err := a.request(cmd.Context(), http.MethodPut, "/api/v1/paused", relay.Paused{Paused: paused}, &now); err != nil {
		return err
	}
	a.notef("%s", done)
	return nil
}
