package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/call"
	"tabrelay/relay/policy"
)

func (a *app) permitPending() *cobra.Command {
	var asJSON, full, secrets bool
	cmd := &cobra.Command{
		Use: "pending [ID]", Short: "Show the questions that wait for you", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.questions(cmd.Context(), args)
			if err != nil {
				return err
			}
			for i := range p.Approvals {
				q := &p.Approvals[i]
				if !secrets && (!full || q.Shown.Hidden == 0) {
					continue
				}
				if err := a.openArguments(cmd.Context(), q, secrets); err != nil {
					return err
				}
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
				a.printf("%s\n", fit(a.out, "  "+strings.ReplaceAll(policy.Text(q), "\n", "\n  ")))
				if flag := unshown(q); flag != "" {
					a.printf("  To see all of it, and to allow it for longer than once: tabrelay permit pending %s %s\n", q.ID, flag)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&full, "full", false, "print all arguments, however long")
	cmd.Flags().BoolVar(&secrets, "secrets", false, "print all arguments, with the values of secret fields")
	return cmd
}

// unshown is the flag with which all of a question is shown, empty when it was.
func unshown(q call.Approval) string {
	switch {
	case q.Shown.Secret > 0:
		return "--secrets"
	case q.Shown.Hidden > 0:
		return "--full"
	}
	return ""
}

// questions are those that wait, or the one that args name.
func (a *app) questions(ctx context.Context, args []string) (p relay.Approvals, err error) {
	if err := a.get(ctx, "/api/v1/approvals", &p); err != nil || len(args) == 0 {
		return p, err
	}
	p.Approvals = slices.DeleteFunc(p.Approvals, func(q call.Approval) bool { return q.ID != args[0] })
	if len(p.Approvals) == 0 {
		return p, failed("no question with the id %q waits for you", args[0]).hinting("tabrelay permit pending lists them")
	}
	return p, nil
}

// openArguments asks for all arguments of a question, with the values of secret fields or without, which the relay
// remembers as shown at the terminal.
func (a *app) openArguments(ctx context.Context, q *call.Approval, secrets bool) error {
	path := fmt.Sprintf("/api/v1/approvals/%s/arguments?secrets=%t&from=", url.PathEscape(q.ID), secrets)
	var lines []call.Line
	for next := 0; ; {
		var part call.Part
		if err := a.get(ctx, path+strconv.Itoa(next), &part); err != nil {
			return err
		}
		lines = append(lines, part.Lines...)
		if next = part.Next; next == 0 {
			break
		}
	}
	policy.ShowAll(q, lines, secrets)
	var now relay.Approvals // what may be answered is another now
	if err := a.get(ctx, "/api/v1/approvals", &now); err != nil {
		return err
	}
	for _, one := range now.Approvals {
		if one.ID == q.ID {
			q.Choices = one.Choices
		}
	}
	return nil
}

func (a *app) permitAllow() *cobra.Command {
	var lasts string
	cmd := &cobra.Command{
		Use: "allow ID", Short: "Allow the call that a question is about", Args: cobra.ExactArgs(1),
		Long: "Allow the call that a question is about. You read it, and type yes, at the terminal itself: what is piped in counts for\nnothing.",
		RunE: func(cmd *cobra.Command, args []string) error {
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
