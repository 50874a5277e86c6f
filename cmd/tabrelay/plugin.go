package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/plugin/build"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

func (a *app) plugin() *cobra.Command {
	cmd := &cobra.Command{
		Use: "plugin", Short: "Make, record, test, pack, find, add, review, annotate, update and configure plugins",
	}
	cmd.AddCommand(a.pluginNew(), a.pluginDev(), a.pluginBuild(), a.pluginCheck(), a.pluginTest(), a.pluginPack(),
		a.pluginUse(), a.pluginSearch(), a.pluginIndex(), a.pluginConfigure())
	for _, one := range []*cobra.Command{a.pluginAdd(), a.pluginReview(), a.pluginAnnotate(), a.pluginUpdate(),
		a.pluginRemove(), a.pluginList()} {
		cmd.AddCommand(a.startingRelay(one))
	}
	return cmd
}

func (a *app) pluginNew() *cobra.Command {
	var name string
	cmd := a.withJSON(&cobra.Command{
		Use: "new FOLDER", Short: "Write a new plugin to start from", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := build.Scaffold(args[0], name); err != nil {
				return err
			}
			a.notef("The plugin is in %s.\nNext: tabrelay plugin add %s\n", args[0], shellWord(args[0]))
			if a.json {
				return a.printJSON(map[string]string{"folder": args[0]})
			}
			return nil
		},
	})
	cmd.Flags().StringVar(&name, "name", "", "name of the plugin (default: the folder's)")
	return cmd
}

func folderOf(args []string) string { return append(args, ".")[0] }

// pluginFolder is the folder that was named, or this one. Naming something else is a usage error.
func pluginFolder(args []string) (string, error) {
	dir := folderOf(args)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", usage("there is no folder %s", dir).hinting("tabrelay plugin new FOLDER makes a plugin to start " +
			"from")
	case err == nil && !info.IsDir():
		return "", usage("%s is not a folder", dir).hinting("a plugin is a folder with package.json and src/index.ts")
	}
	return dir, err
}

// printWarnings shows the warnings of a build. Errors are part of the build's own error.
func (a *app) printWarnings(found []build.Diagnostic) {
	for _, d := range found {
		if d.Warning {
			a.notef("%s\n", d)
		}
	}
}

// reloadPlugins has the relay read its plugins again, and prints its problems with the named ones. A temporary relay is
// ended instead if the command does not start one itself.
func (a *app) reloadPlugins(ctx context.Context, names ...string) error {
	if _, ok := join.Running(ctx, a.home); !ok && !a.startsRelay {
		join.EndTemporary(ctx, a.home) // the one that the next command starts reads them
		return nil
	}
	var answer struct {
		Problems []registry.Problem `json:"problems"`
	}
	if err := a.post(ctx, "/api/v1/reload", nil, &answer); err != nil {
		return err
	}
	for _, p := range answer.Problems {
		if p.Plugin == "" || slices.Contains(names, p.Plugin) {
			a.notef("problem: %s\n", problemText(p))
		}
	}
	return nil
}

// pluginRow is one plugin of `plugin list`.
type pluginRow struct {
	Name    string   `json:"name"`
	Version string   `json:"version,omitempty"`
	Tools   int      `json:"tools"`
	Shipped bool     `json:"shipped"`
	Enabled bool     `json:"enabled"`
	Folder  string   `json:"folder,omitempty"`
	Matches []string `json:"matches,omitempty"`
	Problem string   `json:"problem,omitempty"`
	// of the content in the folder; empty when no relay can be started, and for shipped ones
	Review  string `json:"review,omitempty"`
	Serving string `json:"serving,omitempty"` // hash of the content that is offered, where that has to be reviewed

	urlSetting string // the setting with the address of the web app; empty when there is none
}

// reviewText is the review's column.
func (p pluginRow) reviewText() string {
	switch review.State(p.Review) {
	case review.Waiting, review.Refused:
		if p.Serving == "" {
			return p.Review + ", off"
		}
		return p.Review + ", the reviewed version runs"
	case "":
		return "-"
	}
	return p.Review
}

// pagesText is the column of the pages, or why there are none.
func (p pluginRow) pagesText() string {
	pages := strings.Join(p.Matches, " ")
	switch {
	case p.Problem != "" && p.Version != "":
		return strings.TrimSpace(pages + " (" + p.Problem + ")")
	case p.Problem != "":
		return "broken: " + p.Problem
	case !p.Enabled:
		return "switched off"
	case pages == "" && p.urlSetting != "":
		return "none yet; say where: tabrelay plugin configure " + p.Name + " " + p.urlSetting + "=ADDRESS"
	}
	return pages
}

func (a *app) pluginList() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use: "list", Short: "List the plugins",
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.pluginRows(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			rows := [][]string{{"NAME", "VERSION", "FROM", "REVIEW", "PAGES"}}
			for _, p := range list {
				from := p.Folder
				if p.Shipped {
					from = "shipped"
				}
				rows = append(rows, []string{p.Name, p.Version, from, p.reviewText(), p.pagesText()})
			}
			return a.table(rows...)
		},
	})
}

func (a *app) pluginRows(ctx context.Context) ([]pluginRow, error) {
	cfg, err := config.Load(a.home)
	if err != nil {
		return nil, err
	}
	added, offered, err := a.offeredPlugins()
	if err != nil {
		return nil, err
	}
	list := []pluginRow{}
	for _, p := range offered {
		m := p.Manifest
		list = append(list, pluginRow{
			Name: m.Name, Version: m.Version, Tools: len(m.Tools), Shipped: p.Shipped,
			Enabled: cfg.Plugin(m.Name).Enabled, Folder: p.Dir, Matches: m.URLPatterns,
			urlSetting: plugin.URLSetting(m.ConfigSchema),
		})
	}
	for _, e := range added {
		if e.Plugin == nil {
			list = append(list, pluginRow{Name: e.Name, Folder: e.Dir, Problem: e.Problem})
		} else if i := slices.IndexFunc(list, func(r pluginRow) bool { return r.Name == e.Name }); i >= 0 {
			list[i].Problem = e.Problem
		}
	}
	slices.SortStableFunc(list, func(a, b pluginRow) int { return strings.Compare(a.Name, b.Name) })
	a.addRelayState(ctx, list)
	return list, nil
}

// addRelayState adds what the relay knows: the state of reviews, and the pages, which depend on settings and on
// the demo's address as well as on the manifest.
func (a *app) addRelayState(ctx context.Context, list []pluginRow) {
	var status httpapi.Status
	if err := a.get(ctx, "/api/v1/status", &status); err != nil {
		a.notef("problem: %v\n", err)
		return
	}
	for i := range list {
		for _, one := range status.Reviews {
			if one.Plugin == list[i].Name && !list[i].Shipped {
				list[i].Review, list[i].Serving = string(one.State), one.Serving
			}
		}
		for _, p := range status.Plugins {
			if p.Name == list[i].Name && list[i].Enabled {
				list[i].Matches = p.Matches
			}
		}
	}
}

// offeredPlugins returns the plugins that were added, and those that a relay of this home folder offers.
func (a *app) offeredPlugins() ([]build.Entry, []plugin.Plugin, error) {
	added, err := build.List(a.home.Plugins())
	if err != nil {
		return nil, nil, err
	}
	cfg, _ := config.Load(a.home) // what is wrong with it is said elsewhere
	shipped, err := catalog.Shipped(cfg)
	if err != nil {
		a.notef("problem: %v\n", err)
	}
	return added, build.Offered(shipped, added), nil
}

func (a *app) pluginConfigure() *cobra.Command {
	return &cobra.Command{
		Use:   "configure NAME KEY=VALUE",
		Short: "Change the settings of a plugin; an empty VALUE removes a setting",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, value, ok := strings.Cut(args[1], "=")
			if !ok || key == "" {
				return usage("%q is not KEY=VALUE", args[1])
			}
			kind, declared, err := a.settingKind(args[0], key)
			if err != nil {
				return err
			}
			given := settingValue(kind, value)
			if problem := registry.CheckSetting(declared, key, given); problem != "" && value != "" {
				return failed("%s: %s is not set: %s", args[0], key, problem)
			}
			if err := a.home.Create(); err != nil {
				return err
			}
			path := []string{"plugins", args[0], "settings", key}
			if value == "" {
				err = config.Unset(a.home, path)
			} else {
				err = config.Set(a.home, path, given)
			}
			if err != nil {
				return err
			}
			if err := a.applySetting(cmd.Context(), strings.Join(path, ".")); err != nil {
				return err
			}
			if err := a.reloadPlugins(cmd.Context(), args[0]); err != nil {
				return err
			}
			if value == "" {
				a.notef("%s: %s is removed.\n", args[0], key)
				return nil
			}
			a.notef("%s: %s is set.\n", args[0], key)
			if kind == "url" {
				a.notef("Next: open that site in a tab of your browser, and sign in there; then ask your agent to " +
					"use it.\n")
			}
			return nil
		},
	}
}

// applySetting has a running relay take over a setting, and asks the person at this terminal where it names sites that
// it did not name before: the relay holds those back.
func (a *app) applySetting(ctx context.Context, key string) error {
	if _, ok := join.Running(ctx, a.home); !ok {
		return nil
	}
	if _, err := a.exchange(ctx, http.MethodPost, "/api/v1/reload", nil); err != nil {
		return err
	}
	var s httpapi.Status
	if err := a.get(ctx, "/api/v1/status", &s); err != nil || !slices.Contains(s.UnappliedKeys, key) {
		return err
	}
	if !hasTerminal() {
		return failed("%s is in config.json and not in effect: what lets agents do more waits for you (%s)", key,
			s.Unapplied).hinting("answer in " + sidePanel + ", or run at a terminal: tabrelay config apply")
	}
	err := a.answerConfig(ctx, policy.ChangeConfig, "allow", "")
	if errors.Is(err, errNotConfirmed) {
		err = failed("%s is in config.json and not in effect: it was not confirmed", key).
			hinting("tabrelay config apply puts it into effect; tabrelay config unset " + key + " takes it out")
	}
	return err
}

// settingKind is the type that a plugin declares for a setting, and the schema of all its settings.
func (a *app) settingKind(name, key string) (kind string, schema json.RawMessage, err error) {
	_, offered, err := a.offeredPlugins()
	if err != nil {
		return "", nil, err
	}
	i := slices.IndexFunc(offered, func(p plugin.Plugin) bool { return p.Manifest.Name == name })
	if i < 0 {
		return "", nil, failed("there is no plugin %q", name).hinting("tabrelay plugin list lists them")
	}
	var declared map[string]struct {
		Type string `json:"type"`
	}
	if schema = offered[i].Manifest.ConfigSchema; len(schema) > 0 {
		if err := json.Unmarshal(schema, &declared); err != nil {
			return "", nil, failed("the settings that %s declares cannot be read: %w", name, err)
		}
	}
	if setting, ok := declared[key]; ok {
		return setting.Type, schema, nil
	}
	known := slices.Sorted(maps.Keys(declared))
	if len(known) == 0 {
		return "", nil, failed("the plugin %s has no settings", name)
	}
	return "", nil, failed("the plugin %s has no setting %q", name, key).hinting("it has: " + strings.Join(known, ", "))
}

// settingValue is the JSON of a value on the command line: a number, a boolean, an object of URLs by name, else a
// string.
func settingValue(kind, text string) json.RawMessage {
	plain := kind == "number" || kind == "boolean" || kind == "url" && strings.HasPrefix(text, "{")
	if plain && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) // a string always encodes
	return quoted
}
