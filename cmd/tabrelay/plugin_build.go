package main

import (
	"context"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/plugin"
)

func (a *app) pluginBuild() *cobra.Command {
	var out string
	var watch bool
	cmd := &cobra.Command{
		Use: "build [FOLDER]", Short: "Build a plugin into its dist folder", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := pluginFolder(args)
			if err != nil {
				return err
			}
			hurry(watch)
			opts := plugin.Options{Out: out}
			if watch {
				return a.watchPlugin(cmd.Context(), dir, opts)
			}
			began := time.Now()
			p, found, err := plugin.Build(cmd.Context(), dir, opts)
			a.noteBuild(dir, out, err)
			return a.built(plugin.Built{Plugin: p, Diagnostics: found, Err: err, Took: time.Since(began)})
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder for manifest.json and adapter.js (default: dist in the plugin's folder)")
	cmd.Flags().BoolVar(&watch, "watch", false, "build again after each change, until interrupted; a relay that has the plugin offers it at once")
	return cmd
}

// buildMemory is where a build that ends with its process begins to look for garbage. 29 tools with Zod need 176 MB.
const buildMemory = 512 << 20

// hurry lets builds make garbage: all of it for a process that ends soon, which takes a third off a build's CPU time, and
// some of it for one that goes on, which takes a quarter off.
func hurry(goesOn bool) {
	if goesOn {
		debug.SetGCPercent(400)
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(buildMemory)
}

// built says what a build gave.
func (a *app) built(b plugin.Built) error {
	a.warn(b.Diagnostics)
	if b.Err != nil {
		return b.Err
	}
	m := b.Plugin.Manifest
	a.notef("%s %s: %s, adapter of %d bytes, in %s, content %.12s\n", m.Name, m.Version, counted(len(m.Tools), "tool"), len(b.Plugin.Adapter), b.Took.Round(time.Millisecond), b.Plugin.Hash)
	return nil
}

// watchPlugin builds until the context ends. A build that fails leaves what the last good one gave.
func (a *app) watchPlugin(ctx context.Context, dir string, opts plugin.Options) error {
	last := ""
	return plugin.Watch(ctx, dir, opts, func(b plugin.Built) {
		a.noteBuild(dir, opts.Out, b.Err)
		if err := a.built(b); err != nil {
			a.notef("error: %v\nThe build before it stays.\n", err)
			return
		}
		if b.Plugin.Hash == last || !a.added(b.Plugin) {
			return
		}
		last = b.Plugin.Hash
		if err := a.tellRelay(ctx, b.Plugin.Manifest.Name); err != nil {
			a.notef("problem: the relay did not take it: %v\n", err)
		}
		a.noteReview(ctx, b.Plugin)
	})
}

// noteBuild keeps with an added folder whether it builds, for `plugin list` and the relay.
func (a *app) noteBuild(dir, out string, failure error) {
	if out != "" {
		return // a build for elsewhere says nothing about what is offered
	}
	if err := plugin.NoteBuild(a.home.Plugins(), dir, failure); err != nil {
		a.notef("problem: %v\n", err)
	}
}

// added reports whether a plugin's folder is one that the relay offers.
func (a *app) added(p *plugin.Plugin) bool {
	list, err := plugin.List(a.home.Plugins())
	return err == nil && slices.ContainsFunc(list, func(e plugin.Entry) bool { return e.Dir == p.Dir })
}

func (a *app) pluginCheck() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "check [FOLDER]", Short: "Say what an agent would stumble over in a plugin; it builds nothing", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := pluginFolder(args)
			if err != nil {
				return err
			}
			hurry(false)
			p, found, err := plugin.Build(cmd.Context(), dir, plugin.Options{Out: "-"})
			if err != nil {
				a.warn(found)
				return err
			}
			found = append(found, plugin.Check(p)...)
			if asJSON {
				if err := a.printJSON(append([]plugin.Diagnostic{}, found...)); err != nil {
					return err
				}
			} else {
				a.warn(found)
			}
			if len(found) > 0 {
				return failed("%s: %s could be better", p.Manifest.Name, counted(len(found), "thing"))
			}
			a.notef("%s: %s, nothing to say.\n", p.Manifest.Name, counted(len(p.Manifest.Tools), "tool"))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
