package main

import (
	"cmp"
	"context"
	_ "embed"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/state/config"
)

// completionTime is how long a shell waits for words that only the relay knows.
const completionTime = time.Second

// words are what can be completed in one place, each with what it is after a tab.
type words func(ctx context.Context) []string

// complete adds what shells complete to the commands: names that exist now, and files where a command takes one.
func (a *app) complete(root *cobra.Command) {
	completeInBareBash(root)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	plugins, added, clients, profiles := words(a.pluginWords), words(a.addedWords), words(a.clientWords),
		words(a.profileWords)
	oneFile := then(files, a.completing())
	targets := func(ctx context.Context) []string {
		return slices.Concat([]string{"default\teverything without a rule of its own"}, a.pluginWords(ctx),
			a.toolWords(ctx))
	}
	for path, complete := range map[string]cobra.CompletionFunc{
		"call": a.completeCall, "tools show": a.completing(a.toolWords),
		"clients scope": a.completing(clients), "clients rotate": a.completing(clients),
		"clients revoke": a.completing(clients), "profiles forget": a.completing(profiles),
		"sessions close": a.completing(a.sessionWords), "tabs release": a.completing(a.tabWords),
		"dead-letters show":   a.completing(a.letterWords),
		"dead-letters replay": a.completing(a.letterWords),
		"permit set":          a.completing(targets, fixed("off", "ask", "auto")),
		"permit unset":        a.completing(targets), "permit allow": a.completing(a.approvalWords),
		"permit deny": a.completing(a.approvalWords), "permit pending": a.completing(a.approvalWords),
		"plugin new": oneFile, "plugin add": files, "plugin pack": oneFile, "plugin build": oneFile,
		"plugin check": oneFile, "plugin test": oneFile, "plugin dev": oneFile,
		"plugin remove": a.completing(added), "plugin update": then(a.completing(added), files),
		"plugin review": a.completingMany(plugins), "plugin annotate": a.completing(plugins),
		"plugin configure": then(a.completing(plugins), a.completeSetting),
		"config show":      a.completing(settingWords), "config set": a.completing(settingWords),
		"config unset": a.completing(settingWords),
	} {
		if cmd, _, err := root.Find(strings.Fields(path)); err == nil && cmd.CommandPath() == "tabrelay "+path {
			cmd.ValidArgsFunction = complete
		}
	}
	toolset := func(ctx context.Context) []string {
		c, err := config.Load(a.home)
		if err != nil {
			c = config.Default()
		}
		return append(relay.Toolsets(c), a.pluginWords(ctx)...)
	}
	a.completeFlags(root, map[string]cobra.CompletionFunc{
		"client": a.completing(clients), "profile": a.completing(profiles), "tab": a.completing(a.tabWords),
		"plugins": a.completingList(plugins), "toolset": a.completingList(toolset),
		"browser": a.completing(fixed("auto", "managed", "none")), "format": a.completing(fixed("jsonl", "csv")),
		"bundle": files, "out": files, "in": files, "dir": files,
	})
}

// bareBash has `completion bash` work without the package bash-completion, which many systems lack.
//
//go:embed completion.bash
var bareBash string

func completeInBareBash(root *cobra.Command) {
	cmd, _, err := root.Find([]string{"completion", "bash"})
	if err != nil {
		return // and nothing is generated
	}
	cmd.Long = "Print a script with which bash completes what begins with tabrelay.\n\n" +
		"In this shell: eval \"$(tabrelay completion bash)\"\nIn every shell: put that line into ~/.bashrc"
	generate := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := generate(cmd, args); err != nil {
			return err
		}
		_, err := io.WriteString(cmd.OutOrStdout(), bareBash)
		return err
	}
}

// completeFlags completes the values of flags, in whatever command they are.
func (a *app) completeFlags(cmd *cobra.Command, flags map[string]cobra.CompletionFunc) {
	for name, complete := range flags {
		if f := cmd.Flags().Lookup(name); f != nil && f.Value.Type() != "bool" {
			// fails only for a flag that does not exist
			_ = cmd.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, _ []string, begun string) (
				[]cobra.Completion, cobra.ShellCompDirective) {
				return complete(cmd, nil, begun) // what a value may be does not depend on the arguments
			})
		}
	}
	for _, sub := range cmd.Commands() {
		a.completeFlags(sub, flags)
	}
}

// files leaves an argument to the shell, which completes names of files.
func files(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// then completes the first argument by one function and the others by another.
func then(first, others cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return first(cmd, args, begun)
		}
		return others(cmd, args, begun)
	}
}

// completing completes each argument from a list of its own.
func (a *app) completing(lists ...words) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) < len(lists) {
			return a.completions(cmd.Context(), lists[len(args)], begun), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completingMany completes every argument from one list, without what was named before.
func (a *app) completingMany(list words) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return slices.DeleteFunc(a.completions(cmd.Context(), list, begun), func(found cobra.Completion) bool {
			name, _, _ := strings.Cut(found, "\t")
			return slices.Contains(args, name)
		}), cobra.ShellCompDirectiveNoFileComp
	}
}

// completingList completes the last of the names in one value, which has commas between them.
func (a *app) completingList(list words) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := begun[:strings.LastIndex(begun, ",")+1]
		found, directive := a.completingMany(list)(cmd, strings.Split(before, ","), begun[len(before):])
		for i := range found {
			name, _, _ := strings.Cut(found[i], "\t") // bash drops what has both a comma and a description
			found[i] = before + name
		}
		return found, directive
	}
}

// commandNames completes the commands that help is asked for.
func commandNames(
	cmd *cobra.Command, args []string, begun string,
) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	of, _, err := cmd.Root().Find(args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, c := range of.Commands() {
		if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), begun) {
			found = append(found, described(c.Name(), c.Short))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completeCall completes the tool of a call, and the file that its arguments are in. Bash begins a word after an @, so
// there the @ arrives as an argument of its own.
func (a *app) completeCall(
	cmd *cobra.Command, args []string, begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	path, marked := strings.CutPrefix(begun, "@")
	switch {
	case len(args) == 0:
		return a.completing(a.toolWords)(cmd, args, begun)
	case len(args) == 2 && args[1] == "@":
		return spacing(pathsFrom(begun))
	case len(args) == 1 && begun == "":
		return []cobra.Completion{"@"}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	case len(args) > 1 || !marked:
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found := pathsFrom(path)
	for i := range found {
		found[i] = "@" + found[i]
	}
	return spacing(found)
}

// spacing has a space follow a name of a file, and none that of a folder.
func spacing(paths []string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(paths) == 1 && !strings.HasSuffix(paths[0], "/") {
		return paths, cobra.ShellCompDirectiveNoFileComp
	}
	return paths, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// pathsFrom are the files and folders whose path begins so; a folder ends with a slash.
func pathsFrom(begun string) (found []string) {
	dir, name := filepath.Split(begun)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), name) || name == "" && strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		path := dir + entry.Name()
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path += "/"
		}
		found = append(found, path)
	}
	return found
}

// completeSetting completes the settings of the plugin that the first argument names, up to their value.
func (a *app) completeSetting(
	cmd *cobra.Command, args []string, begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	list := func(context.Context) []string { return a.pluginSettingWords(args[0]) }
	if len(args) > 1 || strings.Contains(begun, "=") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completions(cmd.Context(), list, begun),
		cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
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
