package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/browser/launch"
	"tabrelay/relay/lib/clip"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/fault"
)

const tabsPath = "/api/v1/tabs"

func (a *app) tabs() *cobra.Command {
	cmd := a.withJSON(&cobra.Command{
		Use: "tabs", Short: "List the open tabs, and which agent works in them",
		Long: "List the tabs of web pages in the connected browser profiles, and which agent works in them. A tab " +
			"belongs to the agent\n" +
			"that changed something there, until that agent leaves or is idle for an hour, or the tab is released.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var open httpapi.Tabs
			if err := a.get(cmd.Context(), tabsPath, &open); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(open)
			}
			if len(open.Tabs) == 0 {
				a.notef("No tab with a web page is open in a connected browser.\n")
				return nil
			}
			return a.table(tabRows(open.Tabs)...)
		},
	})
	cmd.AddCommand(a.releaseTab())
	return cmd
}

func tabRows(tabs []httpapi.TabStatus) [][]string {
	rows := [][]string{{"TAB", "PROFILE", "OWNER", "SINCE", "TITLE", "SITE"}}
	ids := map[string]string{} // of the profiles, by label
	ambiguous := map[string]bool{}
	for _, t := range tabs {
		if id, ok := ids[t.Profile]; ok && id != t.ProfileID {
			ambiguous[t.Profile] = true
		}
		ids[t.Profile] = t.ProfileID
	}
	for _, t := range tabs {
		profile, owner, since := t.Profile, "", ""
		if ambiguous[t.Profile] {
			profile += " (" + t.ProfileID + ")"
		}
		if t.Owner != nil {
			owner, since = t.Owner.Name, t.Owner.Since.Local().Format(time.TimeOnly)
		}
		if t.Acting {
			owner = cmp.Or(owner, "-") + " (working)"
		}
		rows = append(rows, []string{strconv.Itoa(t.TabID), profile, owner, since, clip.Runes(t.Title, 40),
			originText(t.URL)})
	}
	return rows
}

// originText shortens an address to its origin.
func originText(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Scheme + "://" + u.Host
}

func (a *app) releaseTab() *cobra.Command {
	var profile string
	cmd := &cobra.Command{
		Use: "release ID", Short: "Take a tab away from the agent that works in it", Args: cobra.ExactArgs(1),
		Long: "Take a tab away from the agent that works in it, so that another one can. A call that is " +
			"running there continues.",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.Atoi(args[0])
			if err != nil {
				return usage("%q is not the id of a tab", args[0]).hinting("tabrelay tabs lists them")
			}
			var open httpapi.Tabs
			if err := a.get(cmd.Context(), tabsPath, &open); err != nil {
				return err
			}
			profileID, err := profileOfTab(open.Tabs, id, profile)
			if err != nil {
				return err
			}
			var done httpapi.Released
			path := fmt.Sprintf("%s/%s/%d/owner", tabsPath, url.PathEscape(profileID), id)
			if err := a.request(cmd.Context(), http.MethodDelete, path, nil, &done); err != nil {
				return err
			}
			a.printf("Tab %d is no longer %s's.\n", id, done.Released.Name)
			return nil
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "",
		"name or id of the browser profile, where several have a tab with that id")
	return cmd
}

// profileOfTab is the id of the profile in which a tab is; of several, the one in which an agent works in it.
func profileOfTab(tabs []httpapi.TabStatus, id int, profile string) (profileID string, err error) {
	var found []httpapi.TabStatus
	for _, t := range tabs {
		if t.TabID == id && (profile == "" || profile == t.Profile || profile == t.ProfileID) {
			found = append(found, t)
		}
	}
	unowned := func(t httpapi.TabStatus) bool { return t.Owner == nil }
	if owned := slices.DeleteFunc(slices.Clone(found), unowned); len(owned) > 0 {
		found = owned
	}
	switch len(found) {
	case 0:
		return "", failed("there is no tab %d", id).hinting("tabrelay tabs lists them")
	case 1:
		return found[0].ProfileID, nil
	}
	ids := make([]string, len(found))
	for i, t := range found {
		ids[i] = t.ProfileID + " (" + t.Profile + ")"
	}
	return "", usage("several browser profiles have a tab %d", id).
		hinting("pass one of them: --profile " + strings.Join(ids, ", --profile "))
}

// profileEntry is one browser profile, as `tabrelay profiles --json` prints it.
type profileEntry struct {
	ID        string    `json:"id"`
	Label     string    `json:"label"`
	Connected bool      `json:"connected"`
	Seen      time.Time `json:"seen"` // when it was connected last
	Tabs      int       `json:"tabs"`
	Owned     int       `json:"owned"` // of these tabs, those that an agent works in
}

func (a *app) profiles() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error { return a.listProfiles(cmd.Context()) }
	cmd := a.withJSON(&cobra.Command{
		Use: "profiles", Short: "List the browser profiles, the last one connected first",
		Long: "List the browser profiles that have connected, the last one first. A person names theirs in " +
			"tabrelay's side panel; agents\n" +
			"pass the name, or the id where two have the same, as the argument profile.",
		RunE: list,
	})
	cmd.AddCommand(a.withJSON(&cobra.Command{Use: "list", Short: "List the browser profiles", RunE: list}),
		a.forgetProfile())
	return a.startingRelay(cmd)
}

func (a *app) listProfiles(ctx context.Context) error {
	list, err := a.profilesNow(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"profiles": list})
	}
	if len(list) == 0 {
		a.notef("No browser profile has connected yet. tabrelay up brings one.\n")
		return nil
	}
	rows := [][]string{{"NAME", "ID", "CONNECTED", "TABS", "OWNED"}}
	for _, p := range list {
		seen := "now"
		if !p.Connected {
			seen = p.Seen.Local().Format(time.DateTime)
		}
		rows = append(rows, []string{p.Label, p.ID, seen, strconv.Itoa(p.Tabs), strconv.Itoa(p.Owned)})
	}
	return a.table(rows...)
}

func (a *app) profilesNow(ctx context.Context) ([]profileEntry, error) {
	var v struct{ Profiles []profileEntry }
	err := a.get(ctx, "/api/v1/profiles", &v)
	return v.Profiles, err
}

func (a *app) forgetProfile() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "forget NAME", Short: "Forget a browser profile that is not used any more", Args: cobra.ExactArgs(1),
		Long: "Forget a browser profile that is not used any more, by name or id. Nothing waits for it, and it is " +
			"not listed, until it connects again.\nOf one that `tabrelay up --profile` made, the folder with what " +
			"it is signed in to is removed; you are asked first.",
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := a.profilesNow(cmd.Context())
			if err != nil {
				return err
			}
			p, err := oneProfile(list, args[0])
			if err != nil {
				return err
			}
			made := slices.IndexFunc(a.home.Browsers(), func(name string) bool {
				return name != "" && launch.ProfileOf(a.home.Browser(name)) == p.ID
			})
			if made >= 0 && !yes &&
				!a.askYesNo(cmd.Context(), "Remove its folder, with what it is signed in to?") {
				return failed("nothing was forgotten").hinting("--yes removes it without asking")
			}
			path := "/api/v1/profiles/" + url.PathEscape(p.ID)
			if _, err := a.exchange(cmd.Context(), http.MethodDelete, path, nil); err != nil {
				return err
			}
			if made >= 0 {
				name := a.home.Browsers()[made]
				if err := a.stopBrowser(cmd.Context(), name); err != nil {
					return err
				}
				if err := os.RemoveAll(a.home.Browser(name)); err != nil {
					return failed("cannot remove its folder: %w", err)
				}
			}
			a.notef("The profile %s is forgotten.\n", fault.Sanitize(p.Label))
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "remove the folder of one that tabrelay up made without asking")
	return cmd
}

// oneProfile is the profile of that id or name.
func oneProfile(list []profileEntry, name string) (found profileEntry, err error) {
	var names, ids []string
	for _, p := range list {
		if p.ID == name {
			return p, nil
		}
		names = append(names, p.Label)
		if p.Label == name {
			found = p
			ids = append(ids, p.ID)
		}
	}
	switch len(ids) {
	case 0:
		return found, failed("there is no browser profile %q%s", name, suggestion(name, names)).
			hinting("tabrelay profiles lists them")
	case 1:
		return found, nil
	}
	return found, usage("several browser profiles are called %q", name).
		hinting("pass the id of one: " + strings.Join(ids, ", "))
}
