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

	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/policy"
)

func (a *app) permitPending() *cobra.Command {
	var full, secrets bool
	cmd := &cobra.Command{
		Use: "pending [ID]", Short: "Show the questions that wait for you", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.pendingApprovals(cmd.Context(), args)
			if err != nil {
				return err
			}
			for _, list := range [][]call.Approval{p.Approvals, p.Missed} {
				for i := range list {
					if q := &list[i]; secrets || full && q.Shown.Hidden > 0 {
						if err := a.showArguments(cmd.Context(), q, secrets); err != nil {
							return err
						}
					}
				}
			}
			if a.json {
				return a.printJSON(p)
			}
			a.printPending(p)
			return nil
		},
	}
	a.withJSON(cmd)
	cmd.Flags().BoolVar(&full, "full", false, "print all arguments, however long")
	cmd.Flags().BoolVar(&secrets, "secrets", false, "print all arguments, with the values of secret fields")
	return cmd
}

func (a *app) printPending(p httpapi.Approvals) {
	if len(p.Approvals)+len(p.Missed) == 0 {
		a.notef("No question waits for you.\n")
	}
	for i, q := range slices.Concat(p.Approvals, p.Missed) {
		if i > 0 {
			a.printf("\n")
		}
		left := time.Until(q.Until).Round(time.Second)
		switch {
		case q.AllowedNext:
			a.printf("%s  missed; allowed for the next time, for %s\n", q.ID, left)
		case q.Missed:
			a.printf("%s  missed; can be allowed for the next time, for %s\n", q.ID, left)
		default:
			a.printf("%s  %d s left\n", q.ID, int(left.Seconds()))
		}
		a.printf("%s\n", wrapToTerminal(a.out, "  "+strings.ReplaceAll(policy.Text(q), "\n", "\n  ")))
		if flag := hiddenFlag(q); flag != "" {
			more := ", and to allow it for longer than once"
			if q.Missed || q.Risk == "destroys" {
				more = ""
			}
			a.printf("  To see all of it%s: tabrelay permit pending %s %s\n", more, q.ID, flag)
		}
	}
}

// hiddenFlag is the flag that shows what a question hides; empty: it hides nothing.
func hiddenFlag(q call.Approval) string {
	switch {
	case q.Shown.Secret > 0:
		return "--secrets"
	case q.Shown.Hidden > 0:
		return "--full"
	}
	return ""
}

// pendingApprovals returns all, or the one that args name.
func (a *app) pendingApprovals(ctx context.Context, args []string) (p httpapi.Approvals, err error) {
	if err := a.get(ctx, "/api/v1/approvals", &p); err != nil || len(args) == 0 {
		return p, err
	}
	other := func(q call.Approval) bool { return q.ID != args[0] }
	p.Approvals, p.Missed = slices.DeleteFunc(p.Approvals, other), slices.DeleteFunc(p.Missed, other)
	if len(p.Approvals)+len(p.Missed) == 0 {
		return p, failed("no question with the id %q waits for you",
			args[0]).hinting("tabrelay permit pending lists them")
	}
	return p, nil
}

// showArguments adds all arguments of a question, with or without the values of secret fields. The relay remembers that
// they were shown at the terminal.
func (a *app) showArguments(ctx context.Context, q *call.Approval, secrets bool) error {
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
	var now httpapi.Approvals // the possible answers have changed
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
		Long: "Allow the call that a question is about. You read it, and type yes, at the terminal itself: what is " +
			"piped in counts for\n" +
			"nothing.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.answerApproval(cmd, args[0], httpapi.Verdict{Answer: "allow", For: lasts}, "Allowed.\n")
		},
	}
	cmd.Flags().StringVar(&lasts, "for", "",
		"once, session, always, or a time such as 1h; without it, what the question asks for")
	return cmd
}

func (a *app) permitDeny() *cobra.Command {
	return &cobra.Command{
		Use: "deny ID", Short: "Deny the call that a question is about", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.answerApproval(cmd, args[0], httpapi.Verdict{Answer: "deny"}, "Denied.\n")
		},
	}
}

func (a *app) answerApproval(cmd *cobra.Command, id string, v httpapi.Verdict, done string) error {
	var left httpapi.Approvals
	if err := a.post(cmd.Context(), "/api/v1/approvals/"+url.PathEscape(id), v, &left); err != nil {
		return err
	}
	a.notef("%s", done)
	return nil
}

func (a *app) pause() *cobra.Command {
	return a.pauseCommand("pause", "Stop all agents: end running calls and refuse new ones", true,
		"All agents are stopped. tabrelay resume lets them go on.\n")
}

func (a *app) resume() *cobra.Command {
	return a.pauseCommand("resume", "Let agents go on after tabrelay pause", false,
		"Agents may call tools again, as the rules say.\n")
}

func (a *app) pauseCommand(name, short string, paused bool, done string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var now httpapi.Paused
			err := a.request(cmd.Context(), http.MethodPut, "/api/v1/paused", httpapi.Paused{Paused: paused}, &now)
			if err == nil {
				a.notef("%s", done)
			}
			return err
		},
	}
}
