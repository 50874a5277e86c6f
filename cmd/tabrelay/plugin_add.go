package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/plugin/install"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/config"
)

const replaceUsage = "name of a plugin of tabrelay whose place it takes"

func (a *app) pluginAdd() *cobra.Command {
	var registry, replace string
	cmd := a.withJSON(&cobra.Command{
		Use:   "add [FOLDER | FILE.tgz | PACKAGE[@VERSION] | github:OWNER/REPO]…",
		Short: "Add plugins and offer their tools: your own, or published ones", Args: cobra.ArbitraryArgs,
		Long: "Builds the plugin in a folder and offers its tools; the folder stays where it is. A tarball, a " +
			"package of the\n" +
			"registry that npm is configured for, or a git repository (github:OWNER/REPO[#BRANCH], git+https://…)\n" +
			"is verified, unpacked into the home folder and pinned to its content. Several are added together.\n" +
			"npm:NAME means a package even where there is a folder, or a plugin of the index, of that name.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.reach(cmd.Context()); err != nil { // before anything is added
				return err
			}
			tuneGC(false)
			if len(args) == 0 {
				args = []string{"."}
			}
			if replace != "" && len(args) > 1 {
				return usage("--replace is for one plugin")
			}
			return a.addAll(cmd.Context(), args, registry, replace)
		},
	})
	cmd.Flags().StringVar(&replace, "replace", "", replaceUsage)
	cmd.Flags().StringVar(&registry, "registry", "", "address of the package registry (default: npm's configuration)")
	return cmd
}

// addAll adds plugins, several at a time, and then asks once for all of them whether they may run. One that fails does
// not keep the others from being added.
func (a *app) addAll(ctx context.Context, from []string, registry, replace string) error {
	type added struct {
		manifest plugin.Manifest
		found    []build.Diagnostic
		err      error
	}
	results := make([]added, len(from))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range from {
		group.Go(func() error {
			r := &results[i]
			r.manifest, r.found, r.err = a.addOne(ctx, from[i], registry, replace)
			return nil
		})
	}
	_ = group.Wait() // each has its own error
	var names []string
	made := []madePlugin{}
	var failures []error
	for i, r := range results {
		a.printWarnings(r.found)
		if r.err != nil {
			if len(from) > 1 {
				r.err = fmt.Errorf("%s: %w", from[i], r.err)
			}
			failures = append(failures, r.err)
			continue
		}
		names = append(names, r.manifest.Name)
		made = append(made, madeOf(r.manifest))
		pages := ""
		if !sourceOf(from[i], "").IsFolder() {
			pages = fmt.Sprintf(" It works on %s.", strings.Join(r.manifest.URLPatterns, " "))
		}
		a.notef("%s %s is added, with %s.%s\n", r.manifest.Name, r.manifest.Version,
			plural(len(r.manifest.Tools), "tool"), pages)
	}
	if a.json {
		failures = append(failures, a.printJSON(map[string]any{"plugins": made}))
	}
	if len(names) > 0 {
		failures = append(failures, a.reloadPlugins(ctx, names...), a.reviewAdded(ctx, names...))
	}
	return errors.Join(failures...)
}

// addOne adds the plugin of a folder, or installs one from elsewhere.
func (a *app) addOne(ctx context.Context, from, registry, replace string) (m plugin.Manifest,
	found []build.Diagnostic, err error) {
	source, err := a.fetching(from, registry)
	if err != nil {
		return m, nil, err
	}
	source.Again = func(from string) string {
		words := "tabrelay plugin add "
		if replace != "" {
			words += "--replace " + shellWord(replace) + " "
		}
		if registry != "" && strings.HasPrefix(from, "npm:") {
			words += "--registry " + shellWord(registry) + " "
		}
		return words + shellWord(from)
	}
	if err := replacing(&source, "add", replace); err != nil {
		return m, nil, err
	}
	if source.IsFolder() {
		if _, err := pluginFolder([]string{from}); err != nil {
			return m, nil, err
		}
	}
	p, found, err := install.Add(ctx, a.home.Plugins(), source, a.progress)
	if err != nil {
		return m, found, misspelt(err)
	}
	return p.Manifest, found, nil
}

// replacing lets the source of a command take the place of one plugin of the program, and of no other; empty: of none.
func replacing(source *install.Source, command, replace string) (err error) {
	source.Replace = replace
	source.Retry = func(name string) string {
		return "tabrelay plugin " + command + " --replace " + name + " " + shellWord(source.From)
	}
	source.Shipped, err = catalog.ShippedNames()
	return err
}

func sourceOf(from, registry string) install.Source {
	return install.Source{From: from, Registry: registry, Dir: "."}
}

// fetching is a source with the limits that the person set.
func (a *app) fetching(from, registry string) (install.Source, error) {
	c, err := config.Load(a.home)
	source := sourceOf(from, registry)
	source.GitBytes = c.PluginSources.GitBytes
	return source, err
}

// misspelt makes a usage error of a source that cannot be one.
func misspelt(err error) error {
	if _, ok := errors.AsType[*install.SpelledError](err); ok {
		return usage("%w", err)
	}
	return err
}

func (a *app) pluginPack() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "pack [FOLDER]", Short: "Make a tarball of a plugin, and check that it installs",
		Args: cobra.MaximumNArgs(1),
		Long: "Builds the plugin and packs what others need: package.json, dist, what \"files\" names, README and " +
			"licence. The tarball\n" +
			"is then installed into an empty folder, and has to give the same plugin. It is what plugin add and npm " +
			"publish take.",
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := pluginFolder(args)
			if err != nil {
				return err
			}
			p, found, err := build.Build(cmd.Context(), dir, build.Options{})
			a.printWarnings(found)
			if err != nil {
				return err
			}
			packed, err := install.Pack(cmd.Context(), p)
			if err != nil {
				return err
			}
			file := filepath.Join(out, packed.Name)
			if err := os.WriteFile(file, packed.Tarball, 0o644); err != nil {
				return err
			}
			for _, name := range packed.Files {
				a.notef("  %s\n", name)
			}
			for _, problem := range packed.Left {
				a.notef("warning: %s\n", problem)
			}
			a.notef("%s %s: %s, %d bytes, content %.12s. It installs.\n", p.Manifest.Name, p.Manifest.Version,
				plural(len(packed.Files), "file"), len(packed.Tarball), p.Hash)
			a.notef("Next: tabrelay plugin add %s, or npm publish %s\n", shellWord(file), shellWord(file))
			a.printf("%s\n", file)
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", ".", "folder for the tarball")
	return cmd
}

func (a *app) pluginUpdate() *cobra.Command {
	var registry string
	var yes bool
	cmd := &cobra.Command{
		Use:   "update NAME [FILE.tgz | PACKAGE@VERSION | github:OWNER/REPO]",
		Short: "Show what a newer version of an installed plugin changes, and install it", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			before, from, err := install.Installed(a.home.Plugins(), args[0])
			if err != nil {
				return err
			}
			if len(args) == 2 {
				from = args[1]
			}
			source, err := a.fetching(from, registry)
			if err != nil {
				return err
			}
			c, err := source.Prepare(cmd.Context(), a.home.Plugins(), a.progress)
			if err != nil {
				return misspelt(err)
			}
			return a.update(cmd.Context(), before, c, answered{yes, registry != ""})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "install it without asking")
	cmd.Flags().StringVar(&registry, "registry", "", "address of the package registry (default: npm's configuration)")
	return cmd
}

// answered is what the words of an update's command answer already.
type answered struct{ yes, registry bool }

// update takes a candidate when the person wants it. --yes is for a newer version of what they added, and not for one
// of another registry that they did not name.
func (a *app) update(ctx context.Context, before *build.Entry, c *install.Candidate, already answered) error {
	name, is := before.Name, c.Plugin.Manifest
	if is.Name != name {
		return errors.Join(failed("that is another plugin, %s", is.Name).hinting("tabrelay plugin add adds it"),
			c.Discard())
	}
	hint := "--yes installs the newer version"
	was, from := c.OtherOrigin(*before.Pin)
	if from != "" {
		a.notef("%s is from %s, and this one is from %s.\n", name, was, from)
	}
	if c.OtherRegistry(*before.Pin) && !already.registry {
		already.yes, hint = false, "--registry URL --yes installs the one of that registry; without it, npm's "+
			"configuration says which"
	}
	switch {
	case before.Plugin == nil:
		a.notef("%s is broken (%s); version %s takes its place.\n", name, before.Problem, is.Version)
	case before.Plugin.Hash == c.Plugin.Hash:
		a.notef("%s %s is up to date.\n", name, is.Version)
		return c.Discard()
	default:
		a.notef("%s:%s\n", name, indented(append(build.Compare(before.Plugin, c.Plugin), "the code has changed")...))
	}
	if !already.yes && !a.askYesNo(ctx, "Install it?") {
		if ctx.Err() != nil {
			return errors.Join(context.Cause(ctx), c.Discard())
		}
		return errors.Join(failed("%s stays as it is", name).hinting(hint), c.Discard())
	}
	if err := c.Install(true); err != nil {
		return errors.Join(err, c.Discard())
	}
	a.notef("%s %s is installed.\n", name, is.Version)
	return errors.Join(a.reloadPlugins(ctx, name), a.reviewAdded(ctx, name))
}

// askYesNo asks the person at stdin. Without a terminal the answer is no.
func (a *app) askYesNo(ctx context.Context, question string) bool {
	if !a.interactive() {
		return false
	}
	a.notef("%s [y/N] ", question)
	answer, _ := unlessStopped(ctx, func() (string, error) { // no answer is a no
		return bufio.NewReader(a.in).ReadString('\n')
	})
	return strings.EqualFold(strings.TrimSpace(answer), "y")
}

func (a *app) pluginRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a plugin; a folder of your own stays", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.removePlugin(cmd.Context(), args[0])
		},
	}
}

// removePlugin has the relay remove a plugin, as it does for the panel.
func (a *app) removePlugin(ctx context.Context, name string) error {
	entry, err := build.Find(a.home.Plugins(), name)
	if err != nil {
		return err
	}
	if _, err = a.exchange(ctx, http.MethodDelete, "/api/v1/plugins/"+url.PathEscape(name), nil); err != nil {
		return err
	}
	a.notef("%s is removed, with %s.\n", name, a.goneWith(entry))
	return nil
}

// goneWith says what went with a plugin that was removed, and what stays.
func (a *app) goneWith(entry *build.Entry) string {
	gone := []string{"what you allowed for it without asking", "what you declared about its tools"}
	stay := "rules that ask or forbid stay"
	if !slices.Contains(catalog.PluginNames(a.home), entry.Name) { // else the one in the binary goes by them
		gone = append(gone, "its settings")
	}
	if entry.Pin != nil {
		gone = append(gone, "its files")
	} else {
		stay = entry.Dir + " and " + stay
	}
	last := len(gone) - 1
	said := strings.Join(gone[:last], ", ") + " and " + gone[last] + "; " + stay
	if allowed := a.allowedByFile(entry.Name); len(allowed) > 0 {
		said += ". config.json still allows without asking, also for another plugin of that name: " +
			strings.Join(allowed, ", ")
	}
	return said
}

// allowedByFile lists the rules of config.json that allow a plugin's tools without a question.
func (a *app) allowedByFile(plugin string) (keys []string) {
	c, err := config.Load(a.home)
	if err != nil {
		return nil
	}
	for target, rules := range c.Permissions {
		isOf := target == plugin || strings.HasPrefix(target, plugin+"__")
		if isOf && slices.Contains(slices.Collect(maps.Values(rules)), string(call.Auto)) {
			keys = append(keys, "permissions."+target)
		}
	}
	slices.Sort(keys)
	return keys
}

func (a *app) pluginUse() *cobra.Command {
	var registry, dir string
	cmd := &cobra.Command{
		Use: "use PACKAGE[@VERSION]", Short: "Put a library without dependencies, such as zod, into a plugin's " +
			"node_modules", Args: cobra.ExactArgs(1),
		Long: "Does for one package what npm install does, for people without Node: it is fetched from the registry " +
			"that npm is\n" +
			"configured for, verified, and unpacked into node_modules. For one with dependencies use npm.",
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := install.ParseSpec(args[0])
			if err != nil {
				return usage("%w", err)
			}
			c, err := sourceOf("", registry).Npm(cmd.Context())
			if err != nil {
				return err
			}
			p, err := c.Library(cmd.Context(), dir, spec)
			if err != nil {
				return err
			}
			a.notef("%s %s is in %s.\n", spec.Name, p.Version, "node_modules")
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "in", ".", "folder of the plugin")
	cmd.Flags().StringVar(&registry, "registry", "", "address of the package registry (default: npm's configuration)")
	return cmd
}
