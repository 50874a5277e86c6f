package main

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/plugin/build"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/state/config"
)

func (a *app) configShow() *cobra.Command {
	var all bool
	cmd := a.withJSON(&cobra.Command{
		Use: "show [KEY]", Short: "Show the settings that are not the default, or one with what it means",
		Args: cobra.MaximumNArgs(1),
		Long: "Show the settings that are not the default, and where each is from: config.json, or the environment " +
			"of this shell.\n" +
			"A relay that was started elsewhere may have another environment. KEY shows one setting, or those " +
			"below it.",
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := config.Entries(a.home, os.Environ())
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return a.showSetting(list, config.Now(args[0]))
			}
			if !all {
				list = slices.DeleteFunc(list, func(e config.Entry) bool { return !e.IsSet() })
			}
			return a.printSettings(list)
		},
	})
	cmd.Flags().BoolVar(&all, "all", false, "also those that have their default")
	return cmd
}

func (a *app) printSettings(list []config.Entry) error {
	if a.json {
		return a.printJSON(map[string]any{"file": a.home.Config(), "settings": append([]config.Entry{}, list...)})
	}
	if len(list) == 0 {
		a.notef("Every setting has its default. tabrelay config show --all lists them.\n")
		return nil
	}
	rows := [][]string{{"KEY", "VALUE", "FROM"}}
	for _, e := range list {
		rows = append(rows, []string{e.Key, string(e.Value), e.From})
	}
	return a.table(rows...)
}

// showSetting shows one setting, or those below a key.
func (a *app) showSetting(list []config.Entry, key string) error {
	below := slices.DeleteFunc(slices.Clone(list), func(e config.Entry) bool {
		return e.Key != key && !strings.HasPrefix(e.Key, key+".")
	})
	switch {
	case len(below) == 0:
		return noSetting(&config.KeyError{Key: key})
	case len(below) > 1 || a.json:
		return a.printSettings(below)
	}
	e := below[0]
	a.printf("%s\n", e.Value)
	a.notef("%s: %s\nIt is from: %s. Default: %s. Accepts: %s. Environment: %s\n", e.Key, e.About, e.From, e.Default,
		e.Accepts, e.Twin)
	return nil
}

func (a *app) configSet() *cobra.Command {
	return &cobra.Command{
		Use: "set KEY VALUE", Short: "Write a setting into config.json and leave the rest as it is",
		Args: cobra.ExactArgs(2),
		Long: "Write a setting into config.json and leave the rest, comments too, as it is. Lists are separated by " +
			"commas. For\n" +
			"providers, agents and the like give a dotted key and JSON: tabrelay config set providers.local.models " +
			"'[\"qwen3\"]'.",
		Example: "  tabrelay config set listen 127.0.0.1:7800\n  tabrelay config set demo.listen ''",
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := settingPath(args[0])
			if err != nil {
				return err
			}
			key := config.Now(args[0])
			value, err := config.Value(key, args[1])
			if err != nil {
				return err
			}
			if err := a.home.Create(); err != nil {
				return err
			}
			if err := a.refuseForbidden(path, value); err != nil {
				return err
			}
			if err := config.Set(a.home, path, value); err != nil {
				return err
			}
			a.notef("%s is %s in %s.\n", key, config.Shown(key, value), a.home.Config())
			return a.noteEffect(cmd.Context(), key)
		},
	}
}

// refuseForbidden refuses to switch on a plugin that the policy does not let be used: it would stay off. What the
// policy says by source or content is about a plugin that is there.
func (a *app) refuseForbidden(path []string, value json.RawMessage) error {
	if len(path) != 3 || path[0] != "plugins" || path[2] != "enabled" || string(value) != "true" {
		return nil
	}
	added, offered, err := a.offeredPlugins()
	for _, p := range offered {
		one := build.Entry{Name: p.Manifest.Name, Shipped: p.Shipped}
		if i := slices.IndexFunc(added, func(e build.Entry) bool { return e.Name == one.Name }); i >= 0 {
			one = added[i]
		}
		if one.Name == path[1] {
			return one.Permit(p.Hash)
		}
	}
	return err
}

func (a *app) configUnset() *cobra.Command {
	return &cobra.Command{
		Use: "unset KEY", Short: "Remove a setting from config.json, so that its default applies",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := settingPath(args[0])
			if err != nil {
				return err
			}
			if err := config.Unset(a.home, path); err != nil {
				return err
			}
			key := config.Now(args[0])
			a.notef("%s is not in %s any more.\n", key, a.home.Config())
			return a.noteEffect(cmd.Context(), key)
		},
	}
}

// settingPath is the place of a key in config.json.
func settingPath(key string) ([]string, error) {
	path, err := config.Path(config.Now(key))
	if err != nil {
		return nil, noSetting(err)
	}
	return path, nil
}

func noSetting(err error) error {
	return usage("%w", err).hinting("tabrelay config show --all lists all settings")
}

// atStart says that a command other than the relay has to be started again.
const atStart = "It is in effect once this is started again: %s\n"

// noteEffect says from when on a setting counts.
func (a *app) noteEffect(ctx context.Context, key string) error {
	if _, set := os.LookupEnv(config.Twin(key)); set {
		a.notef("note: %s is set in this shell's environment, which takes precedence.\n", config.Twin(key))
	}
	command := config.StartedWith(config.Now(key))
	if _, ok := join.Running(ctx, a.home); !ok {
		if command != "" {
			a.notef(atStart, command)
		}
		return nil
	}
	if err := a.reloadPlugins(ctx, key); err != nil {
		return err
	}
	var s httpapi.Status
	if err := a.get(ctx, "/api/v1/status", &s); err != nil {
		return err
	}
	switch {
	case slices.Contains(s.Restart, key):
		a.notef("It is in effect after a restart: tabrelay down, then tabrelay up\n")
	case s.Unapplied != "":
		a.notef("What lets agents do more waits for you (%s): tabrelay config apply\n", s.Unapplied)
	case command != "":
		a.notef(atStart, command)
	default:
		a.notef("It is in effect.\n")
	}
	return nil
}

func (a *app) configPath() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use: "path", Short: "Print where config.json is",
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(map[string]string{"file": a.home.Config(), "home": string(a.home)})
			}
			a.printf("%s\n", a.home.Config())
			return nil
		},
	})
}
