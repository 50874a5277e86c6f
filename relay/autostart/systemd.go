package autostart

import (
	"path/filepath"
	"strings"
)

const unit = "tabrelay.service"

func systemd(env Environment) System {
	dir := env.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Home, ".config")
	}
	return System{
		Name: "systemd", File: filepath.Join(dir, "systemd", "user", unit), text: unitText,
		start: [][]string{{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "enable", unit},
			{"systemctl", "--user", "restart", unit}},
		stop:   [][]string{{"systemctl", "--user", "disable", "--now", unit}, {"systemctl", "--user", "daemon-reload"}},
		status: []string{"systemctl", "--user", "is-active", unit},
		refuse: func(p Program) error {
			if strings.ContainsAny(p.Executable, "\"'\\") {
				return &PathError{p.Executable}
			}
			return nil
		},
	}
}

// PathError is a path of tabrelay that the system does not start programs from.
type PathError struct{ Path string }

// Error names it.
func (e *PathError) Error() string {
	return "systemd starts no program whose path has quotes or backslashes: " + e.Path
}

// Hint is the next step.
func (e *PathError) Hint() string { return "move tabrelay to another folder and try again" }

// unitText is the unit. The relay ends by itself with success when a person stops it, and is not started again then.
func unitText(p Program) string {
	var b strings.Builder
	b.WriteString("[Unit]\n" +
		"Description=tabrelay, a browser relay for AI agents\n" +
		"StartLimitIntervalSec=60\n" +
		"StartLimitBurst=5\n\n" +
		"[Service]\n" +
		"ExecStart=" + unitQuote(p.Executable) + " serve\n")
	if p.Home != "" {
		b.WriteString("Environment=" + unitQuote("TABRELAY_HOME="+p.Home) + "\n")
	}
	b.WriteString("Restart=on-failure\n" +
		"RestartSec=2\n" +
		"UMask=0077\n" +
		"NoNewPrivileges=yes\n\n" +
		"[Install]\n" +
		"WantedBy=default.target\n")
	return b.String()
}

// unitQuote writes one word of a unit file.
func unitQuote(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`).Replace(word) + `"`
}
