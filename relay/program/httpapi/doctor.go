package httpapi

import (
	"context"
	"net/http"
	"os"
	"strconv"
	"time"

	"tabrelay/relay/lib/called"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/program/builtin"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// Diagnose looks for what is wrong with a home folder and its relay. status is that of the relay that runs, and not
// Running when none does; silent is why a relay that runs did not say it.
func Diagnose(ctx context.Context, home config.Home, version string, status Status, silent error) []doctor.Finding {
	s := doctor.Here(ctx, home, version)
	s.Running, s.Silent, s.Owner = status.Running, silent, WhoAnswers
	if status.Running {
		s.Relay = examined(status)
		s.Flavour(status.Extension.TrustedInput)
	}
	return doctor.Examine(ctx, s)
}

// examined is what the doctor reads of a status.
func examined(s Status) doctor.Relay {
	d := doctor.Relay{
		Demo: s.Demo, Version: s.Version, Address: s.Address, Folder: s.Extension.Folder, Hash: s.Extension.Bundle,
		Uptime:  time.Duration(s.Uptime) * time.Millisecond,
		Plugins: len(s.Plugins), Tools: s.Tools, Restart: s.Restart, Corrupt: s.Corruption,
	}
	for _, b := range s.Browsers {
		d.Browsers = append(d.Browsers, doctor.Browser{Label: b.Label, Chrome: b.Chrome, Extension: b.Extension,
			Connected: b.Connected, UpToDate: b.UpToDate, Tabs: b.Tabs, Store: b.Store, Managed: b.Managed,
			Waiting: b.Waiting})
	}
	for _, one := range s.Reviews {
		if one.State == review.Waiting {
			d.Waiting = append(d.Waiting, one.Plugin)
		}
	}
	d.Unreviewed, d.Paused, d.Unapplied, d.Widened = s.Unreviewed, s.Paused, s.Unapplied, s.Widened
	d.Lost, d.Narrowed = s.Lost, s.Narrowed
	for _, p := range s.Problems {
		d.Problems = append(d.Problems, doctor.Complaint{Plugin: p.Plugin, Reason: p.Reason})
	}
	d.Lacks = s.Lacks
	if s.Trouble != nil {
		d.Trouble = doctor.Trouble{Code: string(s.Trouble.Code), Message: s.Trouble.Message, Next: s.Trouble.Hint}
	}
	if s.Refused != nil {
		d.Refused, d.RefusedNext = s.Refused.Reason, s.Refused.Next
	}
	return d
}

// NewReport is what a person may give to a bug tracker about a home folder and its relay.
func NewReport(ctx context.Context, home config.Home, version string, status Status,
	found []doctor.Finding) doctor.Report {
	r := doctor.NewReport(ctx, home, version, found)
	r.Status = status.Public()
	for _, b := range status.Browsers {
		r.Labels = append(r.Labels, b.Label)
	}
	return r
}

// Diagnose is what the doctor finds out about this relay.
func (a *API) Diagnose(ctx context.Context) []doctor.Finding {
	return Diagnose(ctx, a.Home, a.Version, a.Status(ctx), nil)
}

// showDiagnosis is GET /api/v1/doctor: what `tabrelay doctor` finds, with folders named, because the person asks.
func (a *API) showDiagnosis(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	found := a.Diagnose(req.Context())
	for i := range found {
		found[i].Next = called.Exactly(found[i].Next)
		if !a.repairs(found[i].ID) {
			found[i].Fix = ""
		}
	}
	return builtin.Diagnosis{Sound: doctor.Sound(found), Findings: listed(found)}, nil
}

// repairs reports whether the relay can have something done about a finding. A restart ends what systemd counts as part
// of the relay, also the process that would start the next one; and it would apply what waits for the person's answer.
func (a *API) repairs(finding string) bool {
	switch {
	case a.Repair == nil:
		return false
	case doctor.Restarts(finding):
		return os.Getenv("SYSTEMD_EXEC_PID") != strconv.Itoa(os.Getpid()) && a.Policy.Unapplied() == ""
	}
	return doctor.Fixes[finding] != ""
}

// repair is POST /api/v1/doctor/{finding}: it does what `tabrelay doctor --fix` does about one finding. A relay that is
// restarted by it cannot tell how that ended.
func (a *API) repair(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	finding := req.PathValue("finding")
	if !a.repairs(finding) {
		return nil, NewRefusal(http.StatusConflict, fault.New(fault.InvalidRequest,
			"The side panel cannot do anything about this", fault.WithHint("do what stands beside it in a terminal.")))
	}
	done := make(chan error, 1)
	go func() { done <- a.Repair(finding) }()
	select {
	case err := <-done:
		if err != nil {
			return nil, NewRefusal(http.StatusConflict,
				fault.New(fault.InvalidRequest, err.Error(), fault.WithHint(fault.HintOf(err))))
		}
	case <-a.Stopping:
	}
	return map[string]string{"repaired": finding}, nil
}
