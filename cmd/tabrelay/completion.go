package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/config"
	"tabrelay/relay/httpapi"
)

// completionTime is how long a shell waits for words that only the relay knows.
const completionTime = time.Second

// words are what can be completed in one place, each with what it is after a tab.
type words func(ctx context.Context) []string

// complete adds what shells complete to the commands: names that exist now.
func (a *app) complete(root *cobra.Command) {
	tools, plugins, clients, profiles := words(a.toolWords), words(a.pluginWords), words(a.clientWords),
		words(a.profileWords)
	targets := func(ctx context.Context) []string {
		return slices.Concat([]string{"default\twhat no rule names"}, a.pluginWords(ctx), a.toolWords(ctx))
	}
	for path, list := range map[string][]words{
		"call": {tools}, "tools show": {tools}, "clients scope": {clients}, "clients rotate": {clients},
		"clients revoke": {clients}, "profiles forget": {profiles}, "agents test": {a.agentWords},
		"permit set":   {targets, fixed("off", "ask", "auto")},
		"permit unset": {targets}, "permit allow": {a.approvalWords}, "permit deny": {a.approvalWords},
		"permit pending": {a.approvalWords}, "plugin remove": {plugins}, "plugin update": {plugins},
		"plugin review": {plugins}, "plugin configure": {plugins}, "config show": {settingWords},
		"config set": {settingWords}, "config unset": {settingWords},
	} {
		if cmd, _, err := root.Find(strings.Fields(path)); err == nil && cmd.CommandPath() == "tabrelay "+path {
			cmd.ValidArgsFunction = a.completing(list...)
		}
	}
	a.completeFlags(root, map[string]words{
		"client": clients, "profile": profiles, "plugins": plugins,
		"browser": fixed("auto", "managed", "none"), "format": fixed("jsonl", "csv"),
		"toolset": func(ctx context.Context) []string {
			return append([]string{"all", "gateway", "agents"}, a.pluginWords(ctx)...)
		},
	})
}

// completeFlags completes the values of flags, in whatever command they are.
func (a *app) completeFlags(cmd *cobra.Command, flags map[string]words) {
	for name, list := range flags {
		if f := cmd.Flags().Lookup(name); f != nil && f.Value.Type() == "string" {
			// fails only for a flag that does not exist
			_ = cmd.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, _ []string, begun string) (
				[]cobra.Completion, cobra.ShellCompDirective) {
				return a.completions(cmd.Context(), list, begun), cobra.ShellCompDirectiveNoFileComp
			})
		}
	}
	for _, sub := range cmd.Commands() {
		a.completeFlags(sub, flags)
	}
}

// completing completes each argument from a list of its own. After the tool of a call, it leaves arguments to the
// shell: they may be in a file.
func (a *app) completing(lists ...words) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch {
		case len(args) < len(lists):
			return a.completions(cmd.Context(), lists[len(args)], begun), cobra.ShellCompDirectiveNoFileComp
		case cmd.Name() == "call":
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completions are the words of a list that begin so. A relay that does not run, or is slow, completes nothing.
func (a *app) completions(ctx context.Context, list words, begun string) (found []cobra.Completion) {
	var err error
	if a.home, err = config.ResolveHome(); err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	for _, word := range list(ctx) {
		if strings.HasPrefix(word, begun) {
			found = append(found, word)
		}
	}
	return found
}

// fixed are words that never change.
func fixed(list ...string) words { return func(context.Context) []string { return list } }

// described is a word with what it is, on one line.
func described(word, what string) string {
	return word + "\t" + strings.Join(strings.Fields(what), " ")
}

func (a *app) toolWords(ctx context.Context) (list []string) {
	_, tools, err := a.listTools(ctx)
	if err != nil {
		return nil
	}
	for _, t := range tools {
		list = append(list, described(t.Name, firstSentence(t.Description)))
	}
	return list
}

func (a *app) pluginWords(context.Context) (list []string) {
	_, offered, err := a.offeredPlugins()
	if err != nil {
		return nil
	}
	for _, p := range offered {
		list = append(list, described(p.Manifest.Name, p.Manifest.Description))
	}
	return list
}

func (a *app) clientWords(ctx context.Context) (list []string) {
	if secrets, err := a.knownSecrets(); err != nil || secrets == nil {
		return nil // and a shell makes no home folder
	}
	clients, err := a.clientsNow(ctx)
	if err != nil {
		return nil
	}
	for _, c := range clients {
		list = append(list, c.Name)
	}
	return list
}

func (a *app) profileWords(ctx context.Context) (list []string) {
	profiles, err := a.profilesNow(ctx)
	if err != nil {
		return nil
	}
	for _, p := range profiles {
		list = append(list, p.Label)
	}
	return list
}

func (a *app) agentWords(ctx context.Context) (list []string) {
	var v struct {
		Agents []struct{ ID string }
	}
	if a.get(ctx, "/api/v1/agents", &v) != nil {
		return nil
	}
	for _, one := range v.Agents {
		list = append(list, one.ID)
	}
	return list
}

func (a *app) approvalWords(ctx context.Context) (list []string) {
	var waiting httpapi.Approvals
	if a.get(ctx, "/api/v1/approvals", &waiting) != nil {
		return nil
	}
	for _, one := range waiting.Approvals {
		list = append(list, described(string(one.ID), one.Tool))
	}
	return list
}

func settingWords(context.Context) []string { return config.Keys() }
