package main

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/program/builtin"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

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

func (a *app) sessionWords(ctx context.Context) (list []string) {
	var open httpapi.ShellSessions
	if a.get(ctx, sessionsPath, &open) != nil {
		return nil
	}
	for _, s := range open.Sessions {
		list = append(list, s.Name)
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

// addedWords are the plugins that can be removed and updated: those that were added.
func (a *app) addedWords(context.Context) (list []string) {
	added, _, err := a.offeredPlugins()
	if err != nil {
		return nil
	}
	for _, entry := range added {
		list = append(list, entry.Name)
	}
	return list
}

func (a *app) pluginSettingWords(name string) (list []string) {
	_, offered, err := a.offeredPlugins()
	if err != nil {
		return nil
	}
	for _, p := range offered {
		if p.Manifest.Name != name {
			continue
		}
		settings, err := plugin.Settings(p.Manifest.ConfigSchema)
		if err != nil {
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(settings)) {
			list = append(list, described(key+"=", settings[key].Description))
		}
	}
	return list
}

func (a *app) clientWords(context.Context) (list []string) {
	secrets, err := a.knownSecrets()
	if err != nil || secrets == nil {
		return nil // and a shell makes no home folder
	}
	for _, c := range secrets.Clients() {
		list = append(list, c.Name)
	}
	return list
}

func (a *app) profileWords(ctx context.Context) (list []string) {
	profiles, err := store.KnownProfiles(ctx, a.home)
	if err != nil {
		return nil
	}
	for _, p := range profiles {
		list = append(list, p.Label)
	}
	return list
}

func (a *app) tabWords(ctx context.Context) (list []string) {
	var open httpapi.Tabs
	if a.get(ctx, tabsPath, &open) != nil {
		return nil
	}
	for _, t := range open.Tabs {
		list = append(list, described(strconv.Itoa(t.TabID), clip.Runes(t.Title, 40)))
	}
	return list
}

func (a *app) letterWords(ctx context.Context) (list []string) {
	var page builtin.Letters
	if a.get(ctx, "/api/v1/dead-letters?limit=100", &page) != nil {
		return nil
	}
	for _, l := range page.Letters {
		list = append(list, described(string(l.ID), l.Tool+" "+l.Time.Local().Format(time.DateTime)))
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
