package main

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay"
)

// profileLine is one browser profile, as `tabrelay profiles --json` has it.
type profileLine struct {
	ID        string    `json:"id"`
	Label     string    `json:"label"`
	Connected bool      `json:"connected"`
	Seen      time.Time `json:"seen"` // connected last; now, when it is
	Tabs      int       `json:"tabs"`
	Owned     int       `json:"owned"` // of these tabs, those that an agent works in
}

func (a *app) profiles() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "profiles", Short: "List the browser profiles, the last one connected first", Args: cobra.NoArgs,
		Long: "List the browser profiles that have connected, the last one first. A person names theirs in tabrelay's side panel; agents\npass the name, or the id where two have the same, as the argument profile.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			known, err := relay.KnownProfiles(a.home)
			if err != nil {
				return failed("the list of profiles cannot be read: %w", err).hinting("move profiles.json in " + string(a.home) + " away; it is made anew")
			}
			s, err := a.relayStatus(cmd.Context())
			if err != nil {
				return err
			}
			list := profileLines(known, s)
			if asJSON {
				return a.printJSON(map[string]any{"profiles": list})
			}
			if len(list) == 0 {
				a.notef("No browser profile has connected yet. tabrelay up brings one.\n")
				return nil
			}
			return a.table(profileRows(list)...)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// profileLines joins what is known of profiles with what the relay sees of them now.
func profileLines(known []relay.Profile, s relay.Status) []profileLine {
	list := []profileLine{}
	for _, p := range known {
		list = append(list, profileLine{ID: p.ID, Label: p.Label, Seen: p.Seen})
	}
	for i := range list {
		p := &list[i]
		for _, b := range s.Browsers {
			if b.ProfileID == p.ID && b.Connected {
				p.Label, p.Connected, p.Seen = b.Label, true, time.Now().UTC().Truncate(time.Second)
			}
		}
		for _, t := range s.Tabs {
			if t.ProfileID == p.ID {
				p.Tabs++
				if t.Owner != nil {
					p.Owned++
				}
			}
		}
	}
	return list
}

func profileRows(list []profileLine) [][]string {
	rows := [][]string{{"NAME", "ID", "CONNECTED", "TABS", "OWNED"}}
	for _, p := range list {
		seen := "now"
		if !p.Connected {
			seen = p.Seen.Local().Format(time.DateTime)
		}
		rows = append(rows, []string{p.Label, p.ID, seen, strconv.Itoa(p.Tabs), strconv.Itoa(p.Owned)})
	}
	return rows
}
