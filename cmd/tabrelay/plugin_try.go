package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"tabrelay/relay/browser"
	"tabrelay/relay/config"
	"tabrelay/relay/plugin"
	"tabrelay/relay/trial"
)

func (a *app) pluginTest() *cobra.Command {
	var inBrowser, asJSON bool
	cmd := &cobra.Command{
		Use: "test [FOLDER]", Short: "Run a plugin's tools against the fixtures in its folder", Args: cobra.MaximumNArgs(1),
		Long: "Builds the plugin and runs each call of fixtures/*.json: what its handler fetches comes from the fixture, and what it\n" +
			"answers is compared. Handlers that only fetch need no browser. With --browser all of them run in a Chromium without a\n" +
			"window, in pages made of the fixtures' HTML.",
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := pluginFolder(args)
			if err != nil {
				return err
			}
			p, found, err := plugin.Build(cmd.Context(), dir, plugin.Options{Out: "-"})
			a.warn(found)
			if err != nil {
				return err
			}
			fixtures, err := trial.Read(dir, p)
			if err != nil {
				return err
			}
			results, err := a.tried(cmd.Context(), p, fixtures, inBrowser)
			if err != nil {
				return err
			}
			return a.judged(results, asJSON)
		},
	}
	cmd.Flags().BoolVar(&inBrowser, "browser", false, "run in Chromium, in pages made of the fixtures' HTML")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// tried runs all fixtures.
func (a *app) tried(ctx context.Context, p *plugin.Plugin, fixtures []trial.Fixture, inBrowser bool) ([]trial.Result, error) {
	if !inBrowser {
		var results []trial.Result
		for i := range fixtures {
			results = append(results, trial.Run(ctx, p, &fixtures[i]))
		}
		return results, ctx.Err()
	}
	cfg, err := config.Load(a.home)
	if err != nil {
		return nil, err
	}
	path, err := browser.Find(cfg.Browser.Path)
	if err != nil {
		return nil, err
	}
	return trial.InBrowser(ctx, path, os.Geteuid() == 0, p, fixtures)
}

// judged shows results. Any problem is a failure.
func (a *app) judged(results []trial.Result, asJSON bool) error {
	bad, skipped := 0, 0
	for _, r := range results {
		if len(r.Problems) > 0 {
			bad++
		} else if r.NeedsPage != "" {
			skipped++
		}
	}
	if asJSON {
		if err := a.printJSON(results); err != nil {
			return err
		}
	} else {
		a.showResults(results)
	}
	switch {
	case bad > 0:
		return failed("%d of %d fixtures failed", bad, len(results))
	case skipped > 0:
		a.notef("%d passed, %d not run: they need a page. --browser runs them.\n", len(results)-skipped, skipped)
	default:
		a.notef("%d passed.\n", len(results))
	}
	return nil
}

func (a *app) showResults(results []trial.Result) {
	for _, r := range results {
		switch {
		case len(r.Problems) > 0:
			a.printf("failed   %s\n", r.Name)
			for _, problem := range r.Problems {
				a.printf("  %s\n", problem)
			}
		case r.NeedsPage != "":
			a.printf("not run  %s (%s)\n", r.Name, r.NeedsPage)
		default:
			a.printf("passed   %s\n", r.Name)
		}
	}
}
