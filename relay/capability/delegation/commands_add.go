package delegation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// preset is a program that is known to speak the Agent Client Protocol.
type preset struct {
	name, title string
	command     []string
	install     string // the command that installs it
	signIn      string // how a person signs in to it, where it does not say that itself
}

var presets = []preset{
	{"claude", "Claude Code", []string{"claude-agent-acp"},
		"npm install -g @agentclientprotocol/claude-agent-acp", ""},
	{"codex", "Codex", []string{"codex-acp"},
		"npm install -g @agentclientprotocol/codex-acp",
		"codex login, or, where codex is not installed: npx @openai/codex login"},
	{"gemini", "Gemini CLI", []string{"gemini", "--acp"},
		"npm install -g @google/gemini-cli",
		"gemini, then choose how to sign in; or give it a key: " +
			`tabrelay config set workers.gemini.secrets '{"GEMINI_API_KEY": {"file": "/absolute/path"}}'`},
	{"opencode", "OpenCode", []string{"opencode", "acp"},
		"npm install -g opencode-ai",
		"opencode auth login"},
}

func findPreset(name string) (preset, bool) {
	i := slices.IndexFunc(presets, func(p preset) bool { return p.name == name })
	if i < 0 {
		return preset{}, false
	}
	return presets[i], true
}

func presetNames() (names []string) {
	for _, p := range presets {
		names = append(names, p.name)
	}
	return names
}

func (a commands) add() *cobra.Command {
	return &cobra.Command{
		ValidArgsFunction: a.Completing(func(context.Context) []string { return presetNames() }),

		Use:   "add NAME [-- COMMAND [ARGUMENT…]]",
		Short: "Add a program as an agent, and test it",
		Long: "Add a program as an agent that clients can delegate to: find it, write it into config.json once you " +
			"have\nconfirmed that, and test it. NAME is one of " + strings.Join(presetNames(), ", ") + ". With " +
			"COMMAND it is a name of your\nown for another program that speaks the Agent Client Protocol.",
		Example: "  tabrelay agents add claude\n  tabrelay agents add goose -- goose acp",
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); len(args) == 1 && dash < 0 || dash == 1 && len(args) > 1 {
				return nil
			}
			return a.Usage("tabrelay agents add claude, or tabrelay agents add NAME -- COMMAND",
				"it takes one name, and a command after --")
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, known := findPreset(args[0])
			switch {
			case len(args) > 1:
				p = preset{name: args[0], title: args[0], command: args[1:]}
			case !known:
				return a.Usage("it knows "+strings.Join(presetNames(), ", ")+"; another program is added with its "+
					"command: tabrelay agents add "+args[0]+" -- COMMAND",
					"tabrelay does not know how to start %q%s", args[0], didYouMean(args[0], presetNames()))
			}
			return a.addAgent(cmd.Context(), p)
		},
	}
}

// addAgent writes a program into config.json, has the person confirm it, and tests it.
func (a commands) addAgent(ctx context.Context, p preset) error {
	if err := a.Get(ctx, statusPath, &httpapi.Status{}); err != nil { // it can be tested only where a relay runs
		return err
	}
	command, err := a.find(p)
	if err != nil {
		return err
	}
	if twin := config.Twin("workers"); os.Getenv(twin) != "" {
		return a.Usage("unset it, or add the program there",
			"%s is set in this shell's environment, and wins over config.json", twin)
	}
	waits, err := a.waitingConfig(ctx)
	if err != nil {
		return err
	}
	if waits != "" {
		return a.Failed("apply them with tabrelay config apply, or take them out of config.json; then run it again",
			"other changes of config.json wait for you (%s)", waits)
	}
	cfg, err := config.Load(a.Home())
	if err != nil {
		return err
	}
	before, there := agentconfig.Section.Of(cfg).Workers[p.name]
	if there && before.Command == command && slices.Equal(before.Args, p.command[1:]) {
		a.Notef("%s is in config.json already.\n", p.name)
	} else {
		a.Notef("%s\n", a.plan(p, command, a.Home().Config(), there))
	}
	if err := a.writeWorker(ctx, p, command, cfg); err != nil {
		return err
	}
	a.Notef("%s is added. Testing it:\n", p.name)
	return a.testAgent(ctx, p.name)
}

// find is the absolute path of a program.
func (a commands) find(p preset) (string, error) {
	path, err := exec.LookPath(p.command[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err == nil {
		return path, nil
	}
	next := "install it, or give its path"
	if p.install != "" {
		next = "install it: " + p.install + "\nthen run: tabrelay agents add " + p.name
	}
	return "", a.Failed(next, "%s cannot be added: there is no program %s in PATH", p.title, p.command[0])
}

// plan is what a person should know before they confirm it.
func (a commands) plan(p preset, command, file string, replaces bool) string {
	does := "adds"
	if replaces {
		does = "replaces"
	}
	words := []string{a.ShellWord(command)}
	for _, word := range p.command[1:] {
		words = append(words, a.ShellWord(word))
	}
	return fmt.Sprintf("This %s the agent %s in %s. It runs: %s\n\n"+
		"Clients that may delegate can give it errands. It then runs as you: with your files, your network and its "+
		"own sign-in, none of which tabrelay limits. What it asks permission for, you are asked. Your browser it "+
		"reaches only through tabrelay, where it may do no more than the client that delegates to it.\n",
		does, p.name, file, strings.Join(words, " "))
}

// writeWorker writes the program into config.json and has it put into effect. Without the person's yes, config.json
// becomes again what it was.
func (a commands) writeWorker(ctx context.Context, p preset, command string, cfg config.Config) error {
	before, there := agentconfig.Section.Of(cfg).Workers[p.name]
	undo := []config.Edit{{Path: []string{"workers", p.name}}}
	if there {
		undo = workerEdits(p.name, before.Command, before.Args)
	}
	if err := config.Apply(a.Home(), workerEdits(p.name, command, p.command[1:])...); err != nil {
		return err
	}
	err := a.applyConfig(ctx)
	if err == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // also when the person stopped it
	if failure := config.Apply(a.Home(), undo...); failure != nil {
		return errors.Join(err, failure)
	}
	return errors.Join(err, a.Reload(ctx))
}

// workerEdits write the command of a worker and leave its other members as they are.
func workerEdits(name, command string, args []string) []config.Edit {
	var list json.RawMessage // none
	if len(args) > 0 {
		list = rawjson.MustEncode(args)
	}
	return []config.Edit{
		{Path: []string{"workers", name, "command"}, Value: rawjson.MustEncode(command)},
		{Path: []string{"workers", name, "args"}, Value: list},
	}
}

// waitingConfig is what of config.json waits for the person; empty: nothing.
func (a commands) waitingConfig(ctx context.Context) (string, error) {
	if err := a.Reload(ctx); err != nil {
		return "", err
	}
	var s httpapi.Status
	err := a.Get(ctx, statusPath, &s)
	return s.Unapplied, err
}

// applyConfig has the relay read config.json, and the person confirm what it lets agents do more.
func (a commands) applyConfig(ctx context.Context) error {
	waits, err := a.waitingConfig(ctx)
	if err != nil || waits == "" {
		return err
	}
	var left httpapi.Approvals
	return a.Request(ctx, http.MethodPost, "/api/v1/approvals/config", httpapi.Verdict{Answer: "allow"}, &left)
}

func (a commands) remove() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Take an agent out of config.json, and end what it is doing",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			cfg, err := config.Load(a.Home())
			if err != nil {
				return err
			}
			agents := agentconfig.Section.Of(cfg)
			_, program := agents.Workers[name]
			_, model := agents.Agents[name]
			section := "agents"
			switch {
			case program:
				section = "workers"
			case model:
			case name == agentconfig.AssistantAgent && slices.Contains(agents.AgentIDs(), name):
				return a.Failed("tabrelay config unset providers takes all of them out",
					"%s is there because providers are configured", name)
			default:
				return a.Failed("tabrelay agents list shows the agents",
					"there is no agent %q in config.json%s", name, didYouMean(name, agents.AgentIDs()))
			}
			edits := []config.Edit{{Path: []string{section, name}}}
			if agents.Limits.DefaultAgent == name {
				edits = append(edits, config.Edit{Path: []string{"delegation", "defaultAgent"}})
			}
			if err := config.Apply(a.Home(), edits...); err != nil {
				return err
			}
			a.Notef("%s is not an agent any more.\n", name)
			if len(edits) > 1 {
				a.Notef("It was delegation.defaultAgent; now the default is the first agent in config.json.\n")
			}
			return a.NoteEffect(cmd.Context(), section)
		},
	}
}

func (a commands) test() *cobra.Command {
	return a.WithJSON(&cobra.Command{
		Use: "test NAME", Short: "Send an agent a short test prompt and show its answer", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.testAgent(cmd.Context(), args[0]) },
	})
}

func (a commands) testAgent(ctx context.Context, name string) error {
	var test AgentTest
	err := a.Request(ctx, http.MethodPost, agentsPath+"/"+url.PathEscape(name)+"/test", nil, &test)
	switch {
	case err != nil:
		return a.testFailure(name, err)
	case a.JSON():
		return a.PrintJSON(test)
	}
	by := ""
	if test.Provider != "" {
		by = strings.TrimSpace(test.Provider+" "+test.Model) + ", "
	}
	a.Notef("%s answered: %s%d ms, %d tokens read, %d written\n", name, by, test.Ms, test.InputTokens,
		test.OutputTokens)
	a.Printf("%s\n", fault.Sanitize(test.Text))
	return nil
}

// testFailure adds to why an agent did not answer what its program wrote, and what is known of how to sign in to it.
func (a commands) testFailure(name string, err error) error {
	why := a.Refused(err)
	if why == nil {
		return err
	}
	var data struct{ Stderr string }
	if json.Unmarshal(why.Data, &data) == nil && data.Stderr != "" {
		a.Notef("What the program wrote:\n")
		for line := range strings.Lines(strings.TrimSpace(data.Stderr)) {
			a.Notef("  %s\n", fault.Sanitize(strings.TrimRight(line, "\n")))
		}
	}
	next := strings.Replace(why.Hint, "Ask the person to sign in to", "sign in to", 1)
	if p, known := findPreset(name); known && p.signIn != "" && next != why.Hint {
		next = "sign in to " + p.title + " in a terminal: " + p.signIn
	}
	if next != why.Hint {
		next += "\nthen run: tabrelay agents test " + name
	}
	return a.Failed(next, "%s", why.Message)
}
