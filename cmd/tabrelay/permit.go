package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/join"
	"tabrelay/relay/policy"
)

func (a *app) permit() *cobra.Command {
	cmd := &cobra.Command{
		Use: "permit", Short: "What agents may do: rules, and the questions that wait for you",
		Long: "Rules say whether a tool is off (not listed, refused), asked about (ask) or runs (auto). TARGET is a tool, a plugin,\n" +
			"an origin such as https://example.org, or default. The order is: client and tool, tool, client and plugin, plugin,\n" +
			"origin, client, default.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.permitList(), a.permitSet(), a.permitUnset(), a.permitPending(), a.permitAllow(), a.permitDeny())
	return cmd
}

// onPermissions asks the relay, or without one does it here.
func (a *app) onPermissions(
	ctx context.Context, ask func(answer *policy.Permissions) error, here func(*relay.Offline) error,
) (p policy.Permissions, err error) {
	if _, ok := join.Running(ctx, a.home); ok {
		return p, ask(&p)
	}
	offline, err := a.openOffline(ctx)
	if err != nil {
		return p, err
	}
	err = here(offline)
	p = offline.Permissions()
	return p, errors.Join(err, offline.Close())
}

// openOffline opens the home folder, in which no relay runs.
func (a *app) openOffline(ctx context.Context) (*relay.Offline, error) {
	cfg, err := config.Load(a.home)
	if err != nil {
		return nil, err
	}
	return relay.OpenOffline(ctx, a.home, cfg)
}

// confirmOffline lets the person confirm a change of the rules that no relay can ask about.
func (a *app) confirmOffline(ctx context.Context, o *relay.Offline, c *policy.Change) error {
	if err := a.confirmHere(ctx, c); err != nil || c == nil {
		return err
	}
	o.Confirmed(c)
	return nil
}

func (a *app) permitList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the rules, and what you allowed for a while", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.onPermissions(cmd.Context(), func(p *policy.Permissions) error {
				return a.get(cmd.Context(), "/api/v1/permissions", p)
			}, func(*relay.Offline) error { return nil })
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(p)
			}
			return a.printPermissions(p)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) printPermissions(p policy.Permissions) error {
	a.printf("default  %s\n\n", defaultText(p.Default))
	rows := [][]string{{"TARGET", "CLIENT", "MODE", "UNTIL", "FROM"}}
	for _, r := range p.Rules {
		from := string(r.From)
		if r.Waits {
			from += ", not in effect: tabrelay config apply"
		}
		rows = append(rows, []string{r.Target, every(r.Client), string(r.Mode), untilText(r.Until), from})
	}
	if err := a.table(rows...); err != nil || len(p.Grants) == 0 {
		return err
	}
	a.printf("\n")
	rows = [][]string{{"ALLOWED", "CLIENT", "PROFILE", "ORIGIN", "UNTIL"}}
	for _, g := range p.Grants {
		rows = append(rows, []string{g.Tool, g.Client, g.Profile, g.Origin, untilText(&g.Until)})
	}
	return a.table(rows...)
}

// defaultText is what is done about tools that no rule names.
func defaultText(d policy.Defaults) string {
	text := func(m call.Mode) string {
		return map[call.Mode]string{call.Off: "are off", call.Ask: "are asked about", call.Auto: "run"}[m]
	}
	if d.ReadOnly == d.Other {
		return "tools that no rule names " + text(d.Other)
	}
	return "tools that only read " + text(d.ReadOnly) + ", others " + text(d.Other)
}

func every(client string) string {
	if client == "" {
		return "every"
	}
	return client
}

func untilText(until *time.Time) string {
	if until == nil {
		return "for ever"
	}
	return until.Local().Format(time.DateTime)
}

func (a *app) permitSet() *cobra.Command {
	var rule policy.NewRule
	var lasts time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use: "set TARGET off|ask|auto", Short: "Make a rule", Args: cobra.ExactArgs(2),
		Example: "  tabrelay permit set wiki ask\n  tabrelay permit set wiki__edit_page auto --client claude-code --for 1h\n  tabrelay permit set https://bank.example off",
		RunE: func(cmd *cobra.Command, args []string) error {
			if rule.Target, rule.Mode = args[0], call.Mode(args[1]); rule.Mode != call.Off && rule.Mode != call.Ask && rule.Mode != call.Auto {
				return usage("%q is none of off, ask and auto", args[1]).hinting(cmd.CommandPath() + " --help")
			}
			if cmd.Flags().Changed("for") {
				if lasts < time.Second || lasts > policy.LongestRule {
					return usage("--for is %s", lasts).hinting("it is one second to a year, such as 30m or 12h; without --for a rule holds until you take it away")
				}
				rule.For = lasts.String()
			}
			p, err := a.onPermissions(cmd.Context(), func(p *policy.Permissions) error {
				return a.request(cmd.Context(), http.MethodPut, "/api/v1/permissions", rule, p)
			}, func(p *relay.Offline) error {
				made, lasts, err := p.Check(rule, policy.ByTerminal)
				if err == nil {
					err = a.confirmOffline(cmd.Context(), p, p.RuleChange(made, lasts))
				}
				if err != nil {
					return err
				}
				return p.Set(cmd.Context(), made, lasts)
			})
			if err != nil {
				return unknownTarget(err)
			}
			a.noteClient(cmd.Context(), rule.Client)
			if asJSON {
				return a.printJSON(p)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&rule.Client, "client", "", "only for the client of this name")
	cmd.Flags().DurationVar(&lasts, "for", 0, "only for so long, for example 1h")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the rules as JSON")
	return cmd
}

func unknownTarget(err error) error {
	if errors.Is(err, policy.ErrTarget) || strings.Contains(err.Error(), policy.ErrTarget.Error()) {
		return failed("%w", err).hinting("tabrelay tools lists the tools, tabrelay plugin list the plugins")
	}
	return err
}

func (a *app) permitUnset() *cobra.Command {
	var client string
	cmd := &cobra.Command{
		Use: "unset TARGET", Short: "Take a rule away", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			query := url.Values{"target": {args[0]}, "client": {client}}
			_, err := a.onPermissions(cmd.Context(), func(p *policy.Permissions) error {
				return a.request(cmd.Context(), http.MethodDelete, "/api/v1/permissions?"+query.Encode(), nil, p)
			}, func(p *relay.Offline) error {
				target := policy.Spelled(args[0])
				if err := a.confirmOffline(cmd.Context(), p, p.UnsetChange(target, client)); err != nil {
					return err
				}
				there, err := p.Unset(cmd.Context(), target, client, "terminal")
				if err == nil && !there {
					return failed("there is no such rule").hinting("tabrelay permit list shows them; those of config.json are changed there")
				}
				return err
			})
			return err
		},
	}
	cmd.Flags().StringVar(&client, "client", "", "the rule that is only for the client of this name")
	return cmd
}
