package main

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/program/httpapi"
)

func (a *app) pluginAnnotate() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:   "annotate NAME,… [PATTERN,… read|write|destroy|none]",
		Short: "Declare which tools read, write or destroy where their author did not",
		Args:  cobra.MatchAll(cobra.RangeArgs(1, 3), notTwo),
		Long: "A tool whose author does not declare whether it changes anything counts as one that may destroy, " +
			"and you\n" +
			"are asked at every call. NAME alone lists the tools of a plugin with what is declared, and offers what\n" +
			"their names suggest. With patterns such as 'list_*,get_*' and an effect you declare it yourself: the\n" +
			"tools only read, write without destroying, or destroy; none takes that back. It does not replace what\n" +
			"the author declares, and it applies to later versions of the plugin, too. You confirm what lets agents\n" +
			"do more: in the side panel when it is open, otherwise at the terminal itself. Of several\n" +
			"plugins, named with commas, you are asked once.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if names := strings.Split(args[0], ","); len(names) > 1 {
				return a.annotateMany(ctx, names, args[1:])
			}
			if len(args) == 3 {
				return a.annotate(ctx, args[0], strings.Split(args[1], ","), args[2])
			}
			view, err := a.hints(ctx, args[0])
			switch {
			case err != nil:
				return err
			case a.json:
				return a.printJSON(view)
			}
			return errors.Join(a.printHints(view), a.offerHints(ctx, view, true))
		},
	})
}

// notTwo refuses patterns without an effect.
func notTwo(_ *cobra.Command, args []string) error {
	if len(args) == 2 {
		return usage("say what they do: read, write, destroy or none")
	}
	return nil
}

func hintsPath(plugin string) string { return "/api/v1/plugins/" + url.PathEscape(plugin) + "/hints" }

func (a *app) hints(ctx context.Context, plugin string) (view catalog.HintsView, err error) {
	return view, a.get(ctx, hintsPath(plugin), &view)
}

// annotate says what tools do.
func (a *app) annotate(ctx context.Context, plugin string, patterns []string, effect string) error {
	for i := range patterns {
		patterns[i] = strings.TrimSpace(patterns[i])
	}
	var view catalog.HintsView
	body := httpapi.Hinting{Patterns: patterns, Effect: effect}
	if err := a.request(ctx, http.MethodPut, hintsPath(plugin), body, &view); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(view)
	}
	return a.printHints(view)
}

// annotateMany says the same of the tools of several plugins, or what their names suggest, with one confirmation.
func (a *app) annotateMany(ctx context.Context, names, said []string) error {
	body := httpapi.HintingMany{Plugins: map[string][]string{}, Effect: "read"}
	for _, name := range names {
		view, err := a.hints(ctx, strings.TrimSpace(name))
		switch {
		case err != nil:
			return err
		case len(said) == 2:
			body.Plugins[view.Plugin] = strings.Split(strings.ReplaceAll(said[0], " ", ""), ",")
			body.Effect = said[1]
		case len(view.Suggested) > 0:
			body.Plugins[view.Plugin] = view.Suggested
		}
	}
	if len(body.Plugins) == 0 {
		a.notef("The names of their tools suggest nothing. Next: tabrelay plugin annotate NAME lists the tools of " +
			"one.\n")
		return nil
	}
	var answer httpapi.ManyHints
	if err := a.request(ctx, http.MethodPut, "/api/v1/hints", body, &answer); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(answer)
	}
	for _, view := range answer.Plugins {
		a.printf("%s\n", view.Plugin)
		if err := a.printHints(view); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printHints(view catalog.HintsView) error {
	rows := [][]string{{"TOOL", "ITS AUTHOR SAYS", "YOU SAY"}}
	for _, t := range view.Tools {
		you := cmp.Or(string(t.Hinted), "-")
		rows = append(rows, []string{t.Tool, t.Says, you})
	}
	return a.table(rows...)
}

// unsaid counts the tools that count as ones that may destroy because nobody says what they do.
func unsaid(view catalog.HintsView) (count int) {
	for _, t := range view.Tools {
		if t.Says == "nothing" && t.Hinted == "" {
			count++
		}
	}
	return count
}

// offerHints says what the names of tools suggest, and with ask lets the person say so at a terminal.
func (a *app) offerHints(ctx context.Context, view catalog.HintsView, ask bool) error {
	open := unsaid(view)
	if open == 0 {
		return nil
	}
	a.notef("%d of the %s of %s do not say what they do. Clients are told that each may destroy, and you are asked at "+
		"every call.\n", open, plural(len(view.Tools), "tool"), view.Plugin)
	if len(view.Suggested) == 0 {
		a.notef("Next: tabrelay plugin annotate %s 'PATTERN,…' read|write|destroy\n", view.Plugin)
		return nil
	}
	patterns := strings.Join(view.Suggested, ",")
	a.notef("Their names suggest that these only read. Next: tabrelay plugin annotate %s '%s' read\n", view.Plugin,
		patterns)
	if !ask || !hasTerminal() {
		return nil
	}
	err := a.annotate(ctx, view.Plugin, slices.Clone(view.Suggested), "read")
	if errors.Is(err, errNotConfirmed) {
		a.notef("They stay as they are.\n")
		return nil
	}
	return err
}

// offerHintsFor is the step after plugins were accepted whose authors say nothing of their tools.
func (a *app) offerHintsFor(ctx context.Context, plugins ...string) error {
	for _, plugin := range plugins {
		view, err := a.hints(ctx, plugin)
		if err != nil {
			return err
		}
		if err := a.offerHints(ctx, view, len(plugins) == 1); err != nil {
			return err
		}
	}
	return nil
}
