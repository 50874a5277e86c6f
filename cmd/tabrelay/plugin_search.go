package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/plugin/install"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
)

// searchHit is a plugin that a search found.
type searchHit struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	From        string `json:"from"` // shipped, the folder of an added one, a repository of the index, or registry
	Description string `json:"description"`
	Add         string `json:"add,omitempty"` // the command that adds it
}

func (a *app) pluginSearch() *cobra.Command {
	var registry string
	var local bool
	var limit int
	cmd := a.withJSON(&cobra.Command{
		Use: "search [WORD…]", Short: "Find plugins: installed, built in, in the index, and in the package registry",
		Args: cobra.ArbitraryArgs,
		Long: "Find plugins whose name, description, pages or tools have all these words: those that are installed " +
			"or built in,\n" +
			"those in git repositories that the index lists (tabrelay plugin index), and packages whose names begin\n" +
			"with tabrelay-plugin- or opentabs-plugin-, in the registry that npm is configured for.\n\n" +
			"The registry has 10 s and 8 MiB for its answer; of each description 200 characters are shown.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 || limit > install.MostFound {
				return usage("--limit is %d", limit).hinting("use a number from 1 to 250")
			}
			return a.searchPlugins(cmd.Context(), args, registry, local, limit)
		},
	})
	cmd.Flags().StringVar(&registry, "registry", "", "address of the package registry (default: npm's configuration)")
	cmd.Flags().BoolVar(&local, "local", false, "only those that are here; no request is sent")
	limitFlag(cmd, &limit, 20, "how many to show of the registry")
	return cmd
}

// searchPlugins shows what was found here even when the registry cannot be asked.
func (a *app) searchPlugins(ctx context.Context, words []string, registry string, local bool, limit int) error {
	hits, err := a.searchHere(words)
	if err != nil {
		return err
	}
	listed, err := a.searchIndex(words, limit)
	if err != nil {
		return err
	}
	hits = append(hits, listed...)
	var unasked error
	if !local {
		searched := a.progress("Searching the registry")
		found, err := a.searchRegistry(ctx, strings.Join(words, " "), registry, limit)
		searched()
		if err != nil {
			message, hint := explain(err)
			unasked = failed("the registry cannot be searched: %s", message).hinting(hint +
				"\nthe plugins that are here were searched; --local searches them alone")
		}
		hits = append(hits, found...)
	}
	if err := a.printHits(hits, unasked); err != nil {
		return err
	}
	return unasked
}

func (a *app) printHits(hits []searchHit, unasked error) error {
	if a.json {
		problem := ""
		if unasked != nil {
			problem = unasked.Error()
		}
		return a.printJSON(map[string]any{"plugins": append([]searchHit{}, hits...), "problem": problem})
	}
	if len(hits) == 0 {
		a.notef("No plugin was found. tabrelay plugin new FOLDER makes one to start from.\n")
		return nil
	}
	rows := [][]string{{"NAME", "VERSION", "FROM", "WHAT IT IS FOR"}}
	for _, h := range hits {
		rows = append(rows, []string{h.Name, h.Version, h.From, h.Description})
	}
	if err := a.table(rows...); err != nil {
		return err
	}
	if i := slices.IndexFunc(hits, func(h searchHit) bool { return h.Add != "" }); i >= 0 {
		a.notef("Next: %s\n", hits[i].Add)
	}
	return nil
}

// searchHere finds plugins that are shipped or were added.
func (a *app) searchHere(words []string) (hits []searchHit, err error) {
	_, offered, err := a.offeredPlugins()
	if err != nil {
		return nil, err
	}
	for _, p := range offered {
		if !mentions(p, words) {
			continue
		}
		from := p.Dir
		if p.Shipped {
			from = "shipped"
		}
		m := p.Manifest
		hits = append(hits, searchHit{Name: m.Name, Version: m.Version, From: from, Description: m.Description})
	}
	return hits, nil
}

// searchIndex finds plugins in git repositories that nobody has added here, without asking anybody.
func (a *app) searchIndex(words []string, limit int) (hits []searchHit, err error) {
	index, err := install.ReadIndex(a.home.Plugins())
	if err != nil {
		return nil, err
	}
	entries, offered, err := a.offeredPlugins()
	if err != nil {
		return nil, err
	}
	for _, l := range index.Mentioning(words) {
		here := slices.ContainsFunc(offered, func(p plugin.Plugin) bool { return p.Manifest.Name == l.Name }) ||
			slices.ContainsFunc(entries, func(e build.Entry) bool { return e.Name == l.Name })
		if here || len(hits) == limit {
			continue
		}
		hits = append(hits, searchHit{Name: l.Name, Version: l.Version, From: l.Source(), Description: listingLine(l),
			Add: "tabrelay plugin add " + shellWord(l.From())})
	}
	return hits, nil
}

// listingLine is one line about a plugin of the index.
func listingLine(l install.Listing) string {
	about := cmp.Or(l.Description, l.DisplayName)
	if len(l.Tools) > 0 {
		about += ", " + plural(len(l.Tools), "tool")
	}
	if l.Licence() != "" {
		about += ", " + l.Licence()
	}
	return about
}

func (a *app) pluginIndex() *cobra.Command {
	var registry string
	cmd := a.withJSON(&cobra.Command{
		Use: "index [REPOSITORY…]", Short: "Bring the index of plugins in git repositories up to date",
		Args: cobra.ArbitraryArgs,
		Long: "Fetches each repository (github:OWNER/REPO, git+https://…; default: those that the index has), builds " +
			"every plugin\n" +
			"in its folders, runs none, and writes down their names, pages and tools, pinned to the commit, for\n" +
			"plugin search and the side panel. Nothing is added, and plugins that were added stay as they are.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				index, err := install.ReadIndex(a.home.Plugins())
				if err != nil { // it is what is mended here
					a.notef("%s; repositories that only it had have to be named again.\n", fault.Sanitize(err.Error()))
				}
				for _, r := range index.Sources {
					args = append(args, r.Source)
				}
			}
			return a.updateIndex(cmd.Context(), args, registry)
		},
	})
	cmd.Flags().StringVar(&registry, "registry", "", "address of the package registry (default: npm's configuration)")
	return cmd
}

// updateIndex goes on with the next repository when one cannot be read.
func (a *app) updateIndex(ctx context.Context, from []string, registry string) error {
	var failures []error
	now := []install.IndexedRepository{}
	for _, repository := range from {
		source, err := a.fetching(repository, registry)
		if err != nil {
			return err
		}
		r, left, err := install.UpdateIndex(ctx, a.home.Plugins(), source, a.progress)
		for _, why := range left {
			a.notef("left out: %s\n", fault.Sanitize(why.Error())) // its author worded a part of it
		}
		if err != nil {
			failures = append(failures, misspelt(err))
			continue
		}
		now = append(now, r)
		a.notef("%s: %s at commit %.12s.\n", r.Source, plural(len(r.Plugins), "plugin"), r.Commit)
	}
	if a.json {
		failures = append(failures, a.printJSON(map[string]any{"sources": now}))
	}
	return errors.Join(failures...)
}

// mentions reports whether all words are somewhere in what a plugin says of itself.
func mentions(p plugin.Plugin, words []string) bool {
	m := p.Manifest
	said := []string{m.Name, m.DisplayName, m.Description, strings.Join(m.URLPatterns, " ")}
	for _, t := range m.Tools {
		said = append(said, t.Name, t.DisplayName, t.Description)
	}
	text := strings.ToLower(strings.Join(said, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, strings.ToLower(w)) })
}

func (a *app) searchRegistry(ctx context.Context, words, registry string, limit int) (hits []searchHit, err error) {
	c, err := sourceOf("", registry).Npm(ctx)
	if err != nil {
		return nil, err
	}
	found, err := c.Search(ctx, words, limit)
	for _, f := range found {
		hits = append(hits, searchHit{Name: f.Name, Version: f.Version, From: "registry", Description: f.Description,
			Add: "tabrelay plugin add npm:" + f.Name})
	}
	return hits, err
}
