package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/browser/launch"
	"tabrelay/relay/plugin/build"
	"tabrelay/relay/plugin/trial"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/config"
)

func (a *app) pluginBuild() *cobra.Command {
	var out string
	var watch bool
	cmd := a.withJSON(&cobra.Command{
		Use: "build [FOLDER]", Short: "Build a plugin into its dist folder", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := pluginFolder(args)
			if err != nil {
				return err
			}
			tuneGC(watch)
			opts := build.Options{Out: out}
			if watch {
				return a.watchPlugin(cmd.Context(), dir, opts)
			}
			began := time.Now()
			p, found, err := build.Build(cmd.Context(), dir, opts)
			a.noteBuild(dir, out, err)
			return a.printBuild(build.Result{Plugin: p, Diagnostics: found, Err: err, Took: time.Since(began)})
		},
	})
	cmd.Flags().StringVar(&out, "out", "", "folder for manifest.json and adapter.js (default: dist in the plugin's "+
		"folder)")
	cmd.Flags().BoolVar(&watch, "watch", false,
		"build again after each change, until interrupted; a relay that has the plugin offers it at once")
	return cmd
}

// buildMemory is from where on a build that ends with its process collects garbage. 29 tools with Zod need 176 MB.
const buildMemory = 512 << 20

// tuneGC makes the collector run less often: not at all in a process that ends soon, which saves a third of a build's
// CPU time, and rarely in a long-lived one, which saves a quarter.
func tuneGC(longLived bool) {
	if longLived {
		debug.SetGCPercent(400)
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(buildMemory)
}

// printBuild prints the result of a build.
func (a *app) printBuild(b build.Result) error {
	a.printWarnings(b.Diagnostics)
	if b.Err != nil {
		return b.Err
	}
	m := b.Plugin.Manifest
	a.notef("%s %s: %s, adapter of %d bytes, in %s, content %.12s\n", m.Name, m.Version, plural(len(m.Tools), "tool"),
		len(b.Plugin.Adapter), b.Took.Round(time.Millisecond), b.Plugin.Hash)
	if a.json {
		made := madeOf(b.Plugin.Manifest)
		made.Hash = b.Plugin.Hash
		return a.printJSON(made)
	}
	return nil
}

// madePlugin is a plugin that was built or added, for programs.
type madePlugin struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Tools   int      `json:"tools"`
	Matches []string `json:"matches"`
	Hash    string   `json:"hash,omitempty"` // of one that was built
}

func madeOf(m plugin.Manifest) madePlugin {
	return madePlugin{Name: m.Name, Version: m.Version, Tools: len(m.Tools), Matches: m.URLPatterns}
}

// watchPlugin builds until the context ends. A build that fails leaves the output of the one before it.
func (a *app) watchPlugin(ctx context.Context, dir string, opts build.Options) error {
	last := ""
	return build.Watch(ctx, dir, opts, func(b build.Result) {
		a.noteBuild(dir, opts.Out, b.Err)
		if err := a.printBuild(b); err != nil {
			a.noteFailure(err)
			a.notef("The previous build stays in place.\n")
			return
		}
		if b.Plugin.Hash == last || !a.isAdded(b.Plugin) {
			return
		}
		last = b.Plugin.Hash
		if err := a.reloadPlugins(ctx, b.Plugin.Manifest.Name); err != nil {
			a.notef("problem: the relay did not accept it: %v\n", err)
		}
		a.noteReview(ctx, b.Plugin)
	})
}

// noteFailure says why a build failed, with the lines of the sources that it is about.
func (a *app) noteFailure(err error) {
	if wrong, ok := errors.AsType[*build.InvalidError](err); ok {
		a.notef("%s\n", wrong.Framed())
		return
	}
	a.notef("error: %v\n", err)
}

// noteBuild records whether an added folder builds, for `plugin list` and the relay.
func (a *app) noteBuild(dir, out string, failure error) {
	if out != "" {
		return // a build into another folder does not change what is offered
	}
	if err := build.RecordBuild(a.home.Plugins(), dir, failure); err != nil {
		a.notef("problem: %v\n", err)
	}
}

// isAdded reports whether the relay offers a plugin's folder.
func (a *app) isAdded(p *plugin.Plugin) bool {
	list, err := build.List(a.home.Plugins())
	return err == nil && slices.ContainsFunc(list, func(e build.Entry) bool { return e.Dir == p.Dir })
}

func (a *app) pluginCheck() *cobra.Command {
	var strict bool
	cmd := a.withJSON(&cobra.Command{
		Use: "check [FOLDER]", Short: "List what would cause agents trouble in a plugin; builds nothing",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := pluginFolder(args)
			if err != nil {
				return err
			}
			tuneGC(false)
			p, found, err := build.Build(cmd.Context(), dir, build.Options{Out: "-"})
			if err != nil {
				a.printWarnings(found)
				return err
			}
			found = append(found, build.Check(p)...)
			if a.json {
				if err := a.printJSON(append([]build.Diagnostic{}, found...)); err != nil {
					return err
				}
			} else {
				a.printWarnings(found)
			}
			if len(found) > 0 {
				summary := fmt.Sprintf("%s: %s could be better", p.Manifest.Name, plural(len(found), "thing"))
				if strict {
					return failed("%s", summary)
				}
				a.notef("%s.\n", summary)
				return nil
			}
			a.notef("%s: %s, no problems.\n", p.Manifest.Name, plural(len(p.Manifest.Tools), "tool"))
			return nil
		},
	})
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 1 when something could be better")
	return cmd
}

func (a *app) pluginTest() *cobra.Command {
	var inBrowser bool
	cmd := &cobra.Command{
		Use: "test [FOLDER]", Short: "Run a plugin's tools against the fixtures in its folder",
		Args: cobra.MaximumNArgs(1),
		Long: "Builds the plugin and runs each call of fixtures/*.json: what its handler fetches comes from the " +
			"fixture, and what it\n" +
			"answers is compared. Handlers that only fetch need no browser. With --browser all of them run in a " +
			"Chromium without a\n" +
			"window, in pages made of the fixtures' HTML.",
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := pluginFolder(args)
			if err != nil {
				return err
			}
			p, found, err := build.Build(cmd.Context(), dir, build.Options{Out: "-"})
			a.printWarnings(found)
			if err != nil {
				return err
			}
			fixtures, err := trial.Read(dir, p)
			if err != nil {
				return err
			}
			results, err := a.runFixtures(cmd.Context(), p, fixtures, inBrowser)
			if err != nil {
				return err
			}
			return a.printResults(results)
		},
	}
	cmd.Flags().BoolVar(&inBrowser, "browser", false, "run in Chromium, in pages made of the fixtures' HTML")
	a.withJSON(cmd)
	return cmd
}

// runFixtures runs all fixtures.
func (a *app) runFixtures(ctx context.Context, p *plugin.Plugin, fixtures []trial.Fixture,
	inBrowser bool) ([]trial.Result, error) {
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
	path, err := launch.Find(cfg.Browser.Path)
	if err != nil {
		return nil, err
	}
	return trial.InBrowser(ctx, path, os.Geteuid() == 0, p, fixtures)
}

// printResults shows results. Any problem is a failure.
func (a *app) printResults(results []trial.Result) error {
	bad, skipped := 0, 0
	for _, r := range results {
		if len(r.Problems) > 0 {
			bad++
		} else if r.NeedsPage != "" {
			skipped++
		}
	}
	if a.json {
		if err := a.printJSON(results); err != nil {
			return err
		}
	} else {
		a.printFixtures(results)
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

func (a *app) printFixtures(results []trial.Result) {
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
