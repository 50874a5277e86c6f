package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/agent/client"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

const sessionsPath = "/api/v1/sessions"

// commandSession is the session of this command: the one that the environment names, or else that of the terminal;
// empty where there is neither.
func commandSession() (string, error) {
	name := os.Getenv(config.SessionVariable)
	switch {
	case name == "":
		return terminalSession(), nil
	case !call.SessionName.MatchString(name):
		return "", usage("%s is %q; it must be a name of 1 to 64 letters, digits, ., _ or -", config.SessionVariable,
			name)
	}
	return name, nil
}

// sessionHeader is the header of a call: its session, and what comes back.
func sessionHeader(accept string) (http.Header, error) {
	header := http.Header{"Accept": {accept}}
	session, err := commandSession()
	if session != "" {
		header.Set(httpapi.SessionHeader, session)
	}
	return header, err
}

func (a *app) sessions() *cobra.Command {
	cmd := a.withJSON(&cobra.Command{
		Use: "sessions", Short: "List the sessions that commands share",
		Long: "List the sessions that commands share. In one session, calls go on in the tab of the one before, and " +
			"keep that tab;\n" +
			"references such as e12 and what you allow \"for this session\" hold from one command to the next. A " +
			"command's session is\n" +
			"the one that TABRELAY_SESSION names, or else that of its terminal: every command of a shell has it. " +
			"Without either, each\n" +
			"command is on its own. A session ends when it is closed, and after an hour without a command.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var list httpapi.ShellSessions
			if err := a.get(cmd.Context(), sessionsPath, &list); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			if len(list.Sessions) == 0 {
				a.notef("No command has a session. It begins with its first `tabrelay call`.\n")
				return nil
			}
			own, err := commandSession()
			if err != nil {
				return err
			}
			return a.table(sessionRows(list.Sessions, own)...)
		},
	})
	cmd.AddCommand(a.closeSession())
	return cmd
}

func sessionRows(list []client.Shell, own string) [][]string {
	rows := [][]string{{"SESSION", "OF", "SINCE", "ENDS"}}
	for _, s := range list {
		of, ends := "", "a command runs"
		if s.Process != 0 {
			of = "the terminal of process " + strconv.Itoa(s.Process)
		}
		if s.Name == own {
			of += map[bool]string{true: "this one", false: ", this one"}[of == ""]
		}
		if s.Ends != nil {
			ends = s.Ends.Local().Format(time.TimeOnly)
		}
		rows = append(rows, []string{s.Name, of, s.Since.Local().Format(time.TimeOnly), ends})
	}
	return rows
}

func (a *app) closeSession() *cobra.Command {
	return &cobra.Command{
		Use: "close [NAME]", Short: "Close a session", Args: cobra.MaximumNArgs(1),
		Long: "Close a session, without NAME the one of this command. Its calls end, its tabs are nobody's, and what " +
			"you allowed for it is over.",
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := commandSession()
			if len(args) > 0 {
				name, err = args[0], nil
			}
			if err != nil {
				return err
			}
			if name == "" {
				return usage("this command has no session: there is no terminal, and %s is not set",
					config.SessionVariable).hinting("tabrelay sessions lists them")
			}
			path := fmt.Sprintf("%s/%s", sessionsPath, url.PathEscape(name))
			if err := a.request(cmd.Context(), http.MethodDelete, path, nil, &struct{}{}); err != nil {
				return err
			}
			a.printf("The session %s is closed.\n", name)
			return nil
		},
	}
}
