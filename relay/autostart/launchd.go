package autostart

import (
	"encoding/xml"
	"path/filepath"
	"strconv"
	"strings"
)

const label = "dev.tabrelay.relay"

func launchd(env Environment) System {
	file := filepath.Join(env.Home, "Library", "LaunchAgents", label+".plist")
	domain := "gui/" + strconv.Itoa(env.UID)
	return System{
		Name: "launchd", File: file, text: agentText,
		// bootstrap refuses an agent that is loaded; bootout fails when none is, and then there is nothing to do.
		start: [][]string{{"/bin/sh", "-c", "launchctl bootout " + domain + "/" + label +
			" 2>/dev/null; exec launchctl bootstrap " + domain + ` "$0"`, file}},
		stop:   [][]string{{"launchctl", "bootout", domain + "/" + label}},
		status: []string{"launchctl", "print", domain + "/" + label},
	}
}

// agentText is the property list.
func agentText(p Program) string {
	var b strings.Builder
	text := func(s string) string {
		var escaped strings.Builder
		_ = xml.EscapeText(&escaped, []byte(s)) // a Builder never fails
		return "<string>" + escaped.String() + "</string>"
	}
	b.WriteString(xml.Header +
		`<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` +
		"\n" +
		`<plist version="1.0">` + "\n<dict>\n" +
		"  <key>Label</key>\n  " + text(label) + "\n" +
		"  <key>ProgramArguments</key>\n  <array>\n    " + text(p.Executable) + "\n    " + text("serve") +
		"\n  </array>\n")
	if p.Home != "" {
		b.WriteString("  <key>EnvironmentVariables</key>\n  <dict>\n    <key>TABRELAY_HOME</key>\n    " + text(p.Home) +
			"\n  </dict>\n")
	}
	b.WriteString("  <key>RunAtLoad</key>\n  <true/>\n" +
		"  <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n" +
		"  <key>Umask</key>\n  <integer>63</integer>\n" + // 0077
		"</dict>\n</plist>\n")
	return b.String()
}
