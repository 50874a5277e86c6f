package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/clip"
)

const tabsPath = "/api/v1/tabs"

func (a *app) tabs() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "tabs", Short: "List the open tabs, and which agent works in them", Args: cobra.NoArgs,
		Long: "List the tabs of web pages in the connected browser profiles, and which agent works in them. A tab belongs to the agent\nthat changed something there, until that agent leaves, was idle for an hour, or the tab is released.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var answer relay.Tabs
			if err := a.get(cmd.Context(), tabsPath, &answer); err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(answer)
			}
			if len(answer.Tabs) == 0 {
				a.notef("No tab with a web page is open in a connected browser.\n")
				return nil
			}
			return a.table(tabRows(answer.Tabs)...)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(a.releaseTab())
	return cmd
}

func tabRows(tabs []relay.TabStatus) [][]string {
	rows := [][]string{{"TAB", "PROFILE", "OWNER", "SINCE", "TITLE", "SITE"}}
	labels := map[string]string{} // to the id of the first profile called so
	doubled := map[string]bool{}
	for _, t := range tabs {
		if id, ok := labels[t.Profile]; ok && id != t.ProfileID {
			doubled[t.Profile] = true
		}
		labels[t.Profile] = t.ProfileID
	}
	for _, t := range tabs {
		profile, owner, since := t.Profile, "", ""
		if doubled[t.Profile] {
			profile += " (" + t.ProfileID + ")"
		}
		if t.Owner != nil {
			owner, since = t.Owner.Name, t.Owner.Since.Local().Format(time.TimeOnly)
		}
		if t.Acting {
			owner = cmp.Or(owner, "-") + " (working)"
		}
		rows = append(rows, []string{strconv.Itoa(t.TabID), profile, owner, since, clip.Runes(t.Title, 40), originText(t.URL)})
	}
	return rows
}

// originText is an address without what a person would not read in a list.
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
		Long: "Take a tab away from the agent that works in it, so that another one can. A call that runs there goes on to its end.",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.Atoi(args[0])
			if err != nil {
				return usage("%q is not the id of a tab", args[0]).hinting("tabrelay tabs lists them")
			}
			var answer relay.Tabs
			if err := a.get(cmd.Context(), tabsPath, &answer); err != nil {
				return err
			}
			profileID, err := tabOf(answer.Tabs, id, profile)
			if err != nil {
				return err
			}
			var done relay.Released
			path := fmt.Sprintf("%s/%s/%d/owner", tabsPath, url.PathEscape(profileID), id)
			if err := a.request(cmd.Context(), http.MethodDelete, path, nil, &done); err != nil {
				return err
			}
			a.printf("Tab %d is not %s's any more.\n", id, done.Released.Name)
			return nil
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "", "name or id of the browser profile, where several have a tab with that id")
	return cmd
}

// tabOf finds the profile of a tab.
func tabOf(tabs []relay.TabStatus, id int, profile string) (profileID string, err error) {
	var found []relay.TabStatus
	for _, t := range tabs {
		if t.TabID == id && (profile == "" || profile == t.Profile || profile == t.ProfileID) {
			found = append(found, t)
		}
	}
	if owned := slices.DeleteFunc(slices.Clone(found), func(t relay.TabStatus) bool { return t.Owner == nil }); len(owned) > 0 {
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
	return "", usage("several browser profiles have a tab %d", id).hinting("pass one of them: --profile " + strings.Join(ids, ", --profile "))
}
