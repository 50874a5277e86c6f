package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/adapters"
	"tabrelay/extension"
	"tabrelay/relay"
	"tabrelay/relay/browser"
	"tabrelay/relay/config"
	"tabrelay/relay/connect"
)

// finding is one thing the doctor looked at.
type finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	Next string `json:"next,omitempty"` // the next step, where something is wrong
}

func (a *app) doctor() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong, and say what to do about it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := a.examine(cmd.Context())
			sound := true
			for _, f := range findings {
				sound = sound && f.OK
			}
			if asJSON {
				if err := a.printJSON(findings); err != nil {
					return err
				}
			} else {
				a.printFindings(findings)
			}
			if !sound {
				return errSilent
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) printFindings(findings []finding) {
	for _, f := range findings {
		mark := "ok  "
		if !f.OK {
			mark = "FAIL"
		}
		a.printf("%s  %-10s %s\n", mark, f.What, f.Text)
		if f.Next != "" {
			a.printf("      %-10s next: %s\n", "", f.Next)
		}
	}
}

func (a *app) examine(ctx context.Context) []finding {
	findings := a.examineHome()
	findings = append(findings, examineBinary()...)
	status, err := a.relayStatus(ctx)
	switch {
	case err != nil:
		findings = append(findings, bad("relay", err.Error(), "tabrelay down, then tabrelay up"))
	case !status.Running:
		findings = append(findings, bad("relay", "it is not running", "tabrelay up"), a.examinePort())
	default:
		findings = append(findings, examineRelay(status)...)
		findings = append(findings, examineBrowsers(status)...)
		findings = append(findings, examinePlugins(status)...)
	}
	return append(findings, a.examineClients()...)
}

func good(what, format string, args ...any) finding {
	return finding{What: what, OK: true, Text: fmt.Sprintf(format, args...)}
}

func bad(what, text, next string) finding { return finding{What: what, Text: text, Next: next} }

func (a *app) examineHome() []finding {
	if _, err := os.Stat(string(a.home)); err != nil {
		return []finding{bad("home", fmt.Sprintf("there is no home folder yet: %v", err), "tabrelay up")}
	}
	findings := []finding{good("home", "%s", a.home)}
	if cfg, err := config.Load(a.home); err != nil {
		findings = append(findings, bad("config", err.Error(), "correct "+a.home.Config()))
	} else {
		findings = append(findings, good("config", "%s", a.home.Config()))
		for _, warning := range cfg.Warnings {
			findings = append(findings, bad("config", warning, "correct its name, or unset it"))
		}
	}
	if secrets, err := config.OpenSecrets(a.home); err != nil {
		findings = append(findings, bad("secrets", err.Error(), ""))
	} else if err := secrets.Check(); err != nil {
		findings = append(findings, bad("secrets", err.Error(), ""))
	}
	return findings
}

func examineBinary() (findings []finding) {
	for _, build := range []func() error{
		func() error { _, err := extension.Files(); return err },
		func() error { _, err := adapters.Files(); return err },
	} {
		if err := build(); err != nil {
			findings = append(findings, bad("binary", err.Error(), "make build"))
		}
	}
	if len(findings) == 0 {
		findings = append(findings, good("binary", "version %s, with extension and plugins", relay.Version))
	}
	return findings
}

func (a *app) examinePort() finding {
	cfg, err := config.Load(a.home)
	if err != nil {
		cfg = config.Default() // what is wrong with it was said
	}
	listener, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return bad("port", fmt.Sprintf("%s cannot be listened on: %v", cfg.Listen, err), "end the program that has it, or set another: listen in "+a.home.Config())
	}
	_ = listener.Close() // it was only a try
	return good("port", "%s is free", cfg.Listen)
}

func examineRelay(s relay.Status) []finding {
	findings := []finding{good("relay", "version %s at http://%s, up %s", s.Version, s.Address, (time.Duration(s.Uptime) * time.Millisecond).Round(time.Second))}
	if s.Version != relay.Version {
		findings[0] = bad("relay", fmt.Sprintf("it has version %s, and this program %s", s.Version, relay.Version), "tabrelay down, then tabrelay up")
	}
	if s.Extension.Bundle == extension.BundleHash() {
		return append(findings, good("extension", "up to date in %s", s.Extension.Folder))
	}
	return append(findings, bad("extension", "the relay holds another build of it than this program", "tabrelay down, then tabrelay up"))
}

func examineBrowsers(s relay.Status) (findings []finding) {
	connected := 0
	for _, b := range s.Browsers {
		if !b.Connected {
			continue
		}
		connected++
		findings = append(findings, good("browser", "%s is connected: Chrome %s, extension %s, %s", b.Label, b.Chrome, b.Extension, counted(b.Tabs, "tab")))
	}
	for _, n := range s.Notices {
		if n.Code != "" && connected == 0 {
			findings = append(findings, bad("browser", n.Message, "open chrome://extensions and press the reload arrow on the card of tabrelay"))
		}
	}
	if connected > 0 {
		return findings
	}
	next := "start your browser; if it runs, open chrome://extensions: tabrelay must be there, switched on, with Developer mode on"
	if len(s.Browsers) == 0 {
		next = "tabrelay up"
	}
	return append(findings, bad("browser", "none is connected", next))
}

func examinePlugins(s relay.Status) []finding {
	findings := []finding{good("plugins", "%d plugins with %d tools", len(s.Plugins), s.Tools)}
	for _, p := range s.Problems {
		findings = append(findings, bad("plugins", problemText(p), ""))
	}
	return findings
}

// examineClients looks at the clients that are connected, and at none that is not.
func (a *app) examineClients() (findings []finding) {
	env, err := connect.Here()
	if err != nil {
		return []finding{bad("clients", err.Error(), "")}
	}
	secrets, secretsErr := config.OpenSecrets(a.home)
	for _, client := range connect.Clients {
		entry, found, err := client.Entry(env)
		again := "tabrelay connect " + client.Name
		switch {
		case err != nil:
			findings = append(findings, bad("client", client.Title+": "+err.Error(), "repair the file"))
			continue
		case !found:
			continue
		}
		if _, err := os.Stat(entry.Command); err != nil {
			findings = append(findings, bad("client", fmt.Sprintf("%s runs %s, which is not there", client.Title, entry.Command), again))
			continue
		}
		if secretsErr == nil {
			if _, ok := secrets.Verify(entry.Token); !ok {
				findings = append(findings, bad("client", client.Title+" has a token that is not known", again))
				continue
			}
		}
		findings = append(findings, good("client", "%s is connected", client.Title))
	}
	if len(findings) == 0 {
		findings = append(findings, bad("client", "no client is connected", "tabrelay connect claude-code"))
	}
	if path, err := browser.Find(""); err == nil {
		findings = append(findings, good("chromium", "%s can be started when no other browser is used", path))
	}
	return findings
}
