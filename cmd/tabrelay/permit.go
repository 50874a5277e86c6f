package main

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
)

func (a *app) permit() *cobra.Command {
	cmd := &cobra.Command{
		Use: "permit", Short: "What agents may do: rules, and the questions that wait for you",
		Long: "Rules say whether a call is off (not listed, refused), asked about (ask) or runs (auto). TARGET is a " +
			"tool, " +
			"a plugin, an\norigin such as https://example.org, a tool on one " +
			"(mediawiki__edit_page@https://example.org), " +
			"or default.\n\nTwo questions decide: may this tool be used, and may this site be touched? For each, " +
			"the most " +
			"specific rule counts\n(the tool before its plugin, one for the client before one for all), and the " +
			"stricter " +
			"of the two answers wins. A rule\nabout a tool on a site answers both, unless one of them is off. Where " +
			"nothing answers, the default does.",
	}
	cmd.AddCommand(a.permitList(), a.permitSet(), a.permitUnset(), a.permitPending(), a.permitAllow(), a.permitDeny(),
		a.permitConfirm())
	return a.startingRelay(cmd)
}

const permissionsPath = "/api/v1/permissions"

func (a *app) permitList() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use: "list", Short: "List the rules, and what you allowed for a limited time",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var p policy.Permissions
			if err := a.get(cmd.Context(), permissionsPath, &p); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(p)
			}
			return a.printPermissions(p)
		},
	})
}

func (a *app) printPermissions(p policy.Permissions) error {
	a.printf("default  %s\n\n", defaultText(p.Default))
	rows := [][]string{{"TARGET", "CLIENT", "MODE", "UNTIL", "FROM"}}
	for _, r := range p.Rules {
		from := string(r.From)
		if r.Waits {
			from += ", not in effect: tabrelay config apply"
		}
		if r.NoEffect != "" {
			from += ", no effect: " + r.NoEffect
		}
		if len(r.Except) > 0 {
			from += ", stricter: " + strings.Join(r.Except, ", ")
		}
		rows = append(rows, []string{r.Target, cmp.Or(r.Client, "every"), string(r.Mode), untilText(r.Until), from})
	}
	if err := a.table(rows...); err != nil || len(p.Grants) == 0 {
		return err
	}
	a.printf("\n")
	rows = [][]string{{"CLIENT", "MAY", "PROFILE", "UNTIL"}}
	for _, g := range p.Grants {
		rows = append(rows, []string{g.Client, g.Allows, g.Profile, untilText(&g.Until)})
	}
	return a.table(rows...)
}

// defaultText says what happens to tools that no rule names.
func defaultText(d policy.Defaults) string {
	text := map[call.Mode]string{call.Off: "are off", call.Ask: "ask you first", call.Auto: "run"}
	if d.ReadOnly == d.Other {
		return "tools without a rule " + text[d.Other]
	}
	return "tools that only read " + text[d.ReadOnly] + ", others " + text[d.Other]
}

func untilText(until *time.Time) string {
	if until == nil {
		return "never expires"
	}
	return until.Local().Format(time.DateTime)
}

func (a *app) permitSet() *cobra.Command {
	var rule policy.NewRule
	var lasts time.Duration
	cmd := &cobra.Command{
		Use: "set TARGET off|ask|auto", Short: "Make a rule", Args: cobra.ExactArgs(2),
		Example: "  tabrelay permit set mediawiki ask\n" +
			"  tabrelay permit set mediawiki__edit_page auto --client claude-code --for 1h\n" +
			"  tabrelay permit set https://bank.example off\n" +
			"  tabrelay permit set mediawiki__edit_page@https://wiki.example.org auto",
		RunE: func(cmd *cobra.Command, args []string) error {
			rule.Target, rule.Mode = args[0], call.Mode(args[1])
			if !slices.Contains([]call.Mode{call.Off, call.Ask, call.Auto}, rule.Mode) {
				return usage("%q is not off, ask or auto", args[1]).hinting(cmd.CommandPath() + " --help")
			}
			if cmd.Flags().Changed("for") {
				if lasts < time.Second || lasts > policy.LongestRule {
					return usage("--for is %s", lasts).hinting("use one second to one year, such as 30m or " +
						"12h; without --for a rule stays until you remove it")
				}
				rule.For = lasts.String()
			}
			return a.setRule(cmd.Context(), rule)
		},
	}
	cmd.Flags().StringVar(&rule.Client, "client", "", "only for the client of this name")
	cmd.Flags().DurationVar(&lasts, "for", 0, "only for so long, for example 1h")
	cmd.Flags().BoolVar(&a.json, "json", false, "print the rules as JSON")
	return cmd
}

func (a *app) setRule(ctx context.Context, rule policy.NewRule) error {
	var p policy.Permissions
	if err := a.request(ctx, http.MethodPut, permissionsPath, rule, &p); err != nil {
		return unknownTarget(err)
	}
	a.noteClient(ctx, rule.Client)
	for _, r := range p.Rules {
		if r.Target == policy.Spelled(rule.Target) && r.Client == config.Spelled(rule.Client) && r.NoEffect != "" &&
			r.From == "person" {
			a.notef("The rule has no effect yet: %s.\n", r.NoEffect)
		}
	}
	if a.json {
		return a.printJSON(p)
	}
	return nil
}

func unknownTarget(err error) error {
	if strings.Contains(err.Error(), policy.ErrTarget.Error()) {
		return failed("%w", err).hinting("tabrelay tools lists the tools, tabrelay plugin list the plugins")
	}
	return err
}

func (a *app) permitUnset() *cobra.Command {
	var clientName string
	cmd := &cobra.Command{
		Use: "unset TARGET", Short: "Remove a rule", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := permissionsPath + "?" + url.Values{"target": {args[0]}, "client": {clientName}}.Encode()
			return a.request(cmd.Context(), http.MethodDelete, path, nil, &policy.Permissions{})
		},
	}
	cmd.Flags().StringVar(&clientName, "client", "", "the rule that is only for the client of this name")
	return cmd
}

// permitConfirm is for what the person has to look at: rules that may be missing, and those that forbid more than
// before.
func (a *app) permitConfirm() *cobra.Command {
	return &cobra.Command{
		Use: "confirm", Short: "Confirm that you have checked your rules, after some may have been lost or an update " +
			"changed " +
			"what they mean",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			var waiting httpapi.Approvals
			if err := a.get(ctx, "/api/v1/approvals", &waiting); err != nil {
				return err
			}
			looked := false
			for _, c := range waiting.Changes {
				switch c.Kind {
				case policy.ChangeLost:
				case policy.ChangeCarried, policy.ChangeUpdated: // they allow nothing, and need no answer but this
					a.printf("%s\n", strings.Join(c.Lines(), "\n"))
				default:
					continue
				}
				verdict := httpapi.Verdict{Answer: "allow", Digest: c.Digest}
				if err := a.post(ctx, "/api/v1/approvals/"+c.ID, verdict, &httpapi.Approvals{}); err != nil {
					return err
				}
				looked = true
			}
			if !looked {
				a.notef("There is nothing to confirm: no rules are missing.\n")
				return nil
			}
			a.notef("Your rules are in effect.\n")
			return nil
		},
	}
}

func (a *app) config() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Show and change settings; apply changes that wait for you, or undo those of the " +
			"last start",
		Long: "A change of config.json while the relay runs takes effect at once where it forbids more; where it " +
			"lets " +
			"agents do more,\n" +
			"it waits for you. At a start the whole file takes effect; what lets agents do more than at the start " +
			"before is shown\n" +
			"in the side panel, and can be undone.",
	}
	cmd.AddCommand(a.configShow(), a.configSet(), a.configUnset(), a.configPath(), &cobra.Command{
		Use: "apply", Short: "Apply the changes of config.json that wait for you",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.answerConfig(cmd.Context(), policy.ChangeConfig, "allow", "What config.json says is in effect.\n")
		},
	}, &cobra.Command{
		Use: "undo", Short: "Go back to what agents could do before the last start",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.answerConfig(cmd.Context(), policy.ChangeStart, "deny",
				"Agents may do what they could before the last start; config.json stays as it is.\n")
		},
	})
	return cmd
}

func (a *app) answerConfig(ctx context.Context, kind, answer, done string) error {
	var waiting httpapi.Approvals
	if err := a.get(ctx, "/api/v1/approvals", &waiting); err != nil {
		return err
	}
	shown := slices.ContainsFunc(waiting.Changes, func(c policy.PendingChange) bool { return c.Kind == kind })
	if !shown && (kind == policy.ChangeStart || waiting.ConfigWaits == "") {
		a.notef("No change of the configuration waits for you.\n")
		return nil
	}
	if err := a.post(ctx, "/api/v1/approvals/"+kind, httpapi.Verdict{Answer: answer}, &waiting); err != nil {
		return err
	}
	a.notef("%s", done)
	return nil
}
