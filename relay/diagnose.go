package relay

import (
	"context"
	"errors"
	"os"
	"time"

	"tabrelay/adapters"
	"tabrelay/extension"
	"tabrelay/relay/browser"
	"tabrelay/relay/config"
	"tabrelay/relay/connect"
	"tabrelay/relay/doctor"
	"tabrelay/relay/httpapi"
	"tabrelay/relay/review"
	"tabrelay/relay/store"
)

// Diagnose looks for what is wrong with a home folder and its relay. status is that of the relay that runs, and not
// Running when none does; silent is why a relay that runs did not say it.
func Diagnose(ctx context.Context, home config.Home, status httpapi.Status, silent error) []doctor.Finding {
	s := doctor.Scene{
		Home: home, Version: Version, Minimal: Forced(os.Getenv(config.ForceMinimal)),
		Bundle: bundle(), Hash: extension.BundleHash(), Running: status.Running, Silent: silent,
		Owner:   httpapi.WhoAnswers,
		Clients: connected(), Chrome: func(context.Context) (string, error) { return browser.Find("") },
	}
	_, s.Adapters = adapters.Files()
	if known, err := store.KnownProfiles(ctx, home); err == nil {
		for _, p := range known {
			s.Known = append(s.Known, p.Label)
		}
	}
	if status.Running {
		s.Relay = examined(status)
	}
	return doctor.Examine(ctx, s)
}

// Forced reports whether the value of TABRELAY_FORCE_MINIMAL asks for minimal mode.
func Forced(value string) bool { return value != "" && value != "0" && value != "false" }

// examined is what the doctor reads of a status.
func examined(s httpapi.Status) doctor.Relay {
	d := doctor.Relay{
		Version: s.Version, Address: s.Address, Folder: s.Extension.Folder, Hash: s.Extension.Bundle,
		Uptime:  time.Duration(s.Uptime) * time.Millisecond,
		Plugins: len(s.Plugins), Tools: s.Tools, Restart: s.Restart, Corrupt: s.Corruption,
	}
	for _, b := range s.Browsers {
		d.Browsers = append(d.Browsers, doctor.Browser{Label: b.Label, Chrome: b.Chrome, Extension: b.Extension,
			Connected: b.Connected, UpToDate: b.UpToDate, Tabs: b.Tabs})
	}
	for _, one := range s.Reviews {
		if one.State == review.Waiting {
			d.Waiting = append(d.Waiting, one.Plugin)
		}
	}
	d.Unreviewed, d.Paused, d.Unapplied, d.Widened = s.Unreviewed, s.Paused, s.Unapplied, s.Widened
	for _, p := range s.Problems {
		d.Problems = append(d.Problems, doctor.Complaint{Plugin: p.Plugin, Reason: p.Reason})
	}
	if s.Trouble != nil {
		d.Trouble = doctor.Trouble{Code: string(s.Trouble.Code), Message: s.Trouble.Message, Next: s.Trouble.Hint}
	}
	if s.Refused != nil {
		d.Refused, d.RefusedNext = s.Refused.Reason, s.Refused.Next
	}
	return d
}

// connected lists the MCP clients of this person that have tabrelay in their configuration.
func connected() (list []doctor.Client) {
	env, err := connect.Here()
	if err != nil {
		return []doctor.Client{{Title: "MCP clients", Err: err}}
	}
	for _, client := range connect.Clients {
		entry, found, err := client.Entry(env)
		if err == nil && !found {
			continue
		}
		var broken *connect.BrokenError
		if errors.As(err, &broken) {
			err = broken.Err
		}
		list = append(list, doctor.Client{Name: client.Name, Title: client.Title, Err: err, Command: entry.Command,
			Token: entry.Token})
	}
	return list
}

// NewReport is what a person may give to a bug tracker about a home folder and its relay.
func NewReport(ctx context.Context, home config.Home, status httpapi.Status, found []doctor.Finding) doctor.Report {
	r := doctor.Report{Home: home, Version: Version, Status: status.Public(), Findings: found}
	for _, b := range status.Browsers {
		r.Labels = append(r.Labels, b.Label)
	}
	known, _ := store.KnownProfiles(ctx, home) // that it cannot be read is among the findings
	for _, p := range known {
		r.Labels = append(r.Labels, p.Label)
	}
	return r
}
