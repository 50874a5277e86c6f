package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tabrelay/relay/state/config"
)

func (a *app) policy() *cobra.Command {
	cmd := a.withJSON(&cobra.Command{
		Use: "policy", Short: "Show what an administrator has set on this machine", Args: cobra.NoArgs,
		Long: "Show the policy file of this machine: what it sets, and whom to ask. Nobody but an administrator can " +
			"change that.\nSee docs/company.md.",
		RunE: func(*cobra.Command, []string) error {
			m, err := config.ReadPolicy()
			switch {
			case err != nil:
				return err
			case a.json:
				return a.printJSON(map[string]any{"file": config.PolicyPlace(), "policy": m})
			case m == nil:
				a.printf("There is no policy: %s does not exist.\n", config.PolicyPlace())
				return nil
			}
			return a.printPolicy(m)
		},
	})
	cmd.AddCommand(&cobra.Command{
		Use: "check FILE", Short: "Check a file that is to become a policy", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := config.CheckPolicy(args[0]); err != nil {
				return err
			}
			a.notef("%s can be the policy: as root, put it at %s.\n", args[0], config.PolicyPlace())
			return nil
		},
	}, &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of a policy, for editors", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			a.printf("%s", config.PolicySchema())
			return nil
		},
	})
	return cmd
}

func (a *app) printPolicy(m *config.Managed) error {
	a.line("file", "%s", m.File)
	if m.Contact != "" {
		a.line("contact", "%s", m.Contact)
	}
	for _, target := range slices.Sorted(maps.Keys(m.Rules)) {
		for _, client := range slices.Sorted(maps.Keys(m.Rules[target])) {
			about := target
			if client != config.EveryClient {
				about += " for " + client
			}
			a.line("rule", "%s: %s", about, m.Rules[target][client])
		}
	}
	if m.Sites.Allow != nil {
		a.line("sites", "only %s", orNone(m.Sites.Allow))
	}
	if len(m.Sites.Deny) > 0 {
		a.line("sites", "never %s", orNone(m.Sites.Deny))
	}
	if m.Plugins.Allow != nil {
		var pins []string
		for _, p := range m.Plugins.Allow {
			pins = append(pins, strings.Join(slices.DeleteFunc([]string{p.Name, p.Source, p.Hash},
				func(part string) bool { return part == "" }), " "))
		}
		a.line("plugins", "only %s", orNone(pins))
	}
	if len(m.Plugins.Deny) > 0 {
		a.line("plugins", "never %s", orNone(m.Plugins.Deny))
	}
	for _, key := range m.Settings {
		a.line("setting", "%s is %s", key, config.Shown(key, m.Value(key)))
	}
	return nil
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
