package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tabrelay/relay/install"
	"tabrelay/relay/plugin"
)

func (a *app) pluginAdd() *cobra.Command {
	var registry string
	cmd := &cobra.Command{
		Use: "add [FOLDER | FILE.tgz | PACKAGE[@VERSION]]", Short: "Offer the tools of a plugin: yours, or one from " +
			"elsewhere", Args: cobra.MaximumNArgs(1),
		Long: "Builds the plugin in a folder and offers its tools; the folder stays where it is. A tarball, or a " +
			"package of the\n" +
			"registry that npm is configured for, is verified, unpacked into the home folder and pinned to its " +
			"content.\n" +
			"npm:NAME means a package even where there is a folder of that name.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.home.Create(); err != nil {
				return err
			}
			tuneGC(false)
			from := folderOf(args)
			if isFolder(from) {
				if _, err := pluginFolder(args); err != nil {
					return err
				}
				return a.addFolder(cmd.Context(), from)
			}
			c, err := a.prepareCandidate(cmd.Context(), from, registry)
			if err != nil {
				return err
			}
			if err := c.Install(false); err != nil {
				return errors.Join(err, c.Discard())
			}
			a.printWarnings(c.Found)
			m := c.Plugin.Manifest
			a.notef("%s %s is added, with %s. It works on %s.\n",
				m.Name, m.Version, plural(len(m.Tools), "tool"), strings.Join(m.URLPatterns, " "))
			return errors.Join(a.reloadPlugins(cmd.Context(), m.Name), a.reviewAdded(cmd.Context(), m.Name))
		},
	}
	cmd.Flags().StringVar(&registry, "registry", "", "address of the package registry (default: npm's configuration)")
	return cmd
}

func isFolder(from string) bool {
	info, err := os.Stat(from)
	looks := strings.HasPrefix(from, ".") || strings.HasPrefix(from, "/") || strings.HasSuffix(from, "/")
	return err == nil && info.IsDir() || err != nil && looks && !isTarball(from)
}

func isTarball(from string) bool {
	return strings.HasSuffix(from, ".tgz") || strings.HasSuffix(from, ".tar.gz")
}

func (a *app) addFolder(ctx context.Context, dir string) error {
	p, found, err := plugin.Add(ctx, a.home.Plugins(), dir)
	a.printWarnings(found)
	if err != nil {
		return err
	}
	a.notef("%s %s is added, with %s.\n", p.Manifest.Name, p.Manifest.Version, plural(len(p.Manifest.Tools), "tool"))
	return errors.Join(a.reloadPlugins(ctx, p.Manifest.Name), a.reviewAdded(ctx, p.Manifest.Name))
}

// prepareCandidate fetches and checks a plugin without offering it.
func (a *app) prepareCandidate(ctx context.Context, from, registry string) (*install.Candidate, error) {
	p, err := a.fetch(ctx, from, registry)
	if err != nil {
		return nil, err
	}
	return install.Prepare(ctx, a.home.Plugins(), p)
}

func (a *app) fetch(ctx context.Context, from, registry string) (*install.Package, error) {
	if isTarball(from) {
		return install.ReadTarball(from)
	}
	spec, err := install.ParseSpec(strings.TrimPrefix(from, "npm:"))
	if err != nil {
		return nil, usage("%w", err)
	}
	c, err := npmConfig(ctx, registry)
	if err != nil {
		return nil, err
	}
	return c.Fetch(ctx, spec)
}

func npmConfig(ctx context.Context, registry string) (*install.Config, error) {
	home, _ := os.UserHomeDir() // without a home folder there is no configuration of the user
	c, err := install.ReadConfig(os.Getenv, ".", home)
	if err != nil {
		return nil, err
	}
	if registry != "" {
		c.Use(registry)
	} else {
		c.AskNpm(ctx)
	}
	return c, nil
}

func (a *app) pluginUpdate() *cobra.Command {
	var registry string
	var yes bool
	cmd := &cobra.Command{
		Use: "update NAME [FILE.tgz | PACKAGE@VERSION]", Short: "Show what a newer version of an installed plugin " +
			"changes, and take it", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			before, from, err := install.Installed(a.home.Plugins(), args[0])
			if err != nil {
				return err
			}
			if len(args) == 2 {
				from = args[1]
			}
			c, err := a.prepareCandidate(cmd.Context(), from, registry)
			if err != nil {
				return err
			}
			return a.update(cmd.Context(), before, c, yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "take it without asking")
	cmd.Flags().StringVar(&registry, "registry", "", "address of the package registry (default: npm's configuration)")
	return cmd
}

// update takes a candidate when the person wants it.
func (a *app) update(ctx context.Context, before *plugin.Entry, c *install.Candidate, yes bool) error {
	name, is := before.Name, c.Plugin.Manifest
	if is.Name != name {
		return errors.Join(failed("that is another plugin, %s", is.Name).hinting("tabrelay plugin add adds it"),
			c.Discard())
	}
	switch {
	case before.Plugin == nil:
		a.notef("%s is broken (%s); version %s takes its place.\n", name, before.Problem, is.Version)
	case before.Plugin.Hash == c.Plugin.Hash:
		a.notef("%s %s is up to date.\n", name, is.Version)
		return c.Discard()
	default:
		a.notef("%s:%s\n", name, indented(append(plugin.Compare(before.Plugin, c.Plugin), "the code is another")))
	}
	if !yes && !a.askYesNo("Take it?") {
		return errors.Join(failed("%s stays as it is", name).hinting("--yes takes the newer version"), c.Discard())
	}
	if err := c.Install(true); err != nil {
		return errors.Join(err, c.Discard())
	}
	a.notef("%s %s is installed.\n", name, is.Version)
	return errors.Join(a.reloadPlugins(ctx, name), a.reviewAdded(ctx, name))
}

// askYesNo asks the person at stdin. Without a terminal the answer is no.
func (a *app) askYesNo(question string) bool {
	if !a.interactive() {
		return false
	}
	a.notef("%s [y/N] ", question)
	answer, _ := bufio.NewReader(a.in).ReadString('\n') // no answer is a no
	return strings.EqualFold(strings.TrimSpace(answer), "y")
}

func (a *app) pluginRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Stop offering a plugin; a folder of yours stays", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := install.Remove(a.home.Plugins(), args[0]); err != nil {
				return err
			}
			a.notef("%s is removed.\n", args[0])
			return a.reloadPlugins(cmd.Context(), args[0])
		},
	}
}

func (a *app) pluginUse() *cobra.Command {
	var registry, dir string
	cmd := &cobra.Command{
		Use: "use PACKAGE[@VERSION]", Short: "Put a library that needs no others, such as zod, into a plugin's " +
			"node_modules", Args: cobra.ExactArgs(1),
		Long: "Does for one package what npm install does, for people without Node: it is fetched from the registry " +
			"that npm is\n" +
			"configured for, verified, and unpacked into node_modules. One that needs other packages is left to npm.",
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := install.ParseSpec(args[0])
			if err != nil {
				return usage("%w", err)
			}
			c, err := npmConfig(cmd.Context(), registry)
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
