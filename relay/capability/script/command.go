package script

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/capability"
	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// runCommand is `tabrelay run`: relay__run from a shell.
var runCommand = capability.Command{Heading: "Use tools", Make: func(t capability.Terminal) *cobra.Command {
	var c command
	cmd := &cobra.Command{
		Use: "run FILE | - | --kept NAME", Short: "Run a script that calls tools, and print its value",
		Args: cobra.MaximumNArgs(1),
		Long: "Run a script that calls tools, as agents do with relay__run, and print its value: from a file, or " +
			"from stdin (-). Its log and its calls are told on stderr.\n" +
			"The exit code says what became of what it changes: 0 done, 3 not executed, 4 it may be tried again, " +
			"5 unknown, 6 executed,\n" +
			"1 when it could not be begun. --report keeps a file that says how the last run went, however it went.\n" +
			"--keep NAME keeps the script under a name once it has run, with its args, after you have confirmed it: " +
			"--kept NAME\n" +
			"runs it then, without the question about scripts (tabrelay scripts --help).",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case (len(args) == 1) == (c.kept != ""):
				return t.Usage("tabrelay run FILE, or tabrelay run --kept NAME", "say what to run")
			case c.kept != "" && (c.keepAs != "" || c.args != ""):
				return t.Usage("run its file with --keep NAME to keep another one",
					"a kept script runs as it was kept, with its args")
			case c.keepAs != "" && !call.SessionName.MatchString(c.keepAs):
				return t.Usage("", "%q is not a name for a script: 1 to 64 letters, digits, ., _ or -", c.keepAs)
			case (c.keepAs != "" || c.kept != "") && t.IsClient():
				return t.Failed("run its file", "this command is a client's, and kept scripts are the person's")
			}
			return c.run(cmd.Context(), t, append(args, "")[0])
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	cmd.Flags().StringVar(&c.args, "args", "", "the script's args, a JSON object: as it is, or in a file (@FILE)")
	cmd.Flags().StringVar(&c.id, "id", "", "run it once: again with the same id and session, it answers as before")
	cmd.Flags().DurationVar(&c.timeout, "timeout", 0, "how long it may take, for example 5m (default: scripts.timeMs)")
	cmd.Flags().StringVar(&c.report, "report", "", "file that says how the run goes and went, as JSON")
	cmd.Flags().StringVar(&c.keepAs, "keep", "", "name to keep the script under once it has run")
	cmd.Flags().StringVar(&c.kept, "kept", "", "name of a kept script to run")
	_ = cmd.RegisterFlagCompletionFunc("kept", func(cmd *cobra.Command, _ []string, _ string) (
		[]cobra.Completion, cobra.ShellCompDirective) {
		return keptNames(cmd.Context(), t), cobra.ShellCompDirectiveNoFileComp
	})
	return t.WithJSON(cmd)
}}

// command is one `tabrelay run`.
type command struct {
	args, id, report string
	keepAs, kept     string // names
	timeout          time.Duration
}

// States of a run.
const (
	running = "running"
	done    = "done"
	failed  = "failed"
)

// Report says how a run goes, or went.
type Report struct {
	Script  string          `json:"script"` // its file
	ID      string          `json:"id,omitempty"`
	State   string          `json:"state"`
	Began   time.Time       `json:"began"`
	Ended   *time.Time      `json:"ended,omitempty"`
	Exit    *int            `json:"exit,omitempty"`    // the exit code
	Outcome fault.Outcome   `json:"outcome,omitempty"` // of what it changes
	Value   json.RawMessage `json:"value,omitempty"`
	Log     []string        `json:"log,omitempty"`
	Calls   []row           `json:"calls,omitempty"`
	Error   *fault.Error    `json:"error,omitempty"`   // of the script
	Message string          `json:"message,omitempty"` // of a failure
}

func (c *command) run(ctx context.Context, t capability.Terminal, file string) error {
	ask, err := c.read(ctx, t, file)
	if err != nil {
		return err
	}
	r := Report{Script: file, ID: c.id, State: running, Began: time.Now().UTC().Round(0)}
	switch file {
	case "-":
	case "":
		r.Script = "kept:" + c.kept
	default:
		if r.Script, err = filepath.Abs(file); err != nil {
			return err
		}
	}
	if err := c.keep(t, r); err != nil {
		return err
	}
	answer, err := t.Call(ctx, toolName, ask)
	refused := t.Refused(err)
	if refused != nil {
		answer, err = httpapi.Answer{Error: refused, Text: []string{refused.Plain()}}, nil
	}
	if err == nil {
		err = r.take(t, answer)
	}
	r.end(t.Exit(err), err)
	if t.JSON() {
		if problem := t.PrintJSON(r); problem != nil {
			return problem
		}
	} else if err == nil {
		err = r.print(t)
	}
	if problem := cmp.Or(c.keep(t, r), err); problem != nil || c.keepAs == "" {
		return problem
	}
	return c.keepScript(ctx, t, ask.Arguments)
}

// read makes the call of the tool.
func (c *command) read(ctx context.Context, t capability.Terminal, file string) (ask httpapi.Ask, err error) {
	if c.timeout != 0 && c.timeout < time.Millisecond {
		return ask, t.Usage("", "--timeout is at least 1ms")
	}
	if c.args == "-" {
		return ask, t.Usage("put it into a file: --args @FILE", "--args cannot be read from stdin")
	}
	args := arguments{ID: c.id, TimeoutMs: c.timeout.Milliseconds()}
	if c.kept != "" {
		var k Kept
		if err := t.Get(ctx, pathOf(c.kept), &k); err != nil {
			return ask, err
		}
		if args.Script = k.Script; string(k.Args) != "null" {
			args.Args = k.Args
		}
	} else {
		text, err := t.Read(ctx, file)
		if err != nil {
			return ask, t.Failed("", "cannot read the script: %w", err)
		}
		args.Script = string(text)
	}
	if c.args != "" {
		if args.Args, err = t.Arguments(ctx, c.args); err != nil {
			return ask, err
		}
	}
	ask.Plain = true
	ask.Arguments, err = json.Marshal(args)
	return ask, err
}

// take takes over what the script came to, and tells a failure.
func (r *Report) take(t capability.Terminal, answer httpapi.Answer) error {
	var told struct {
		Value json.RawMessage `json:"value"`
		Log   []string        `json:"log"`
		Calls []row           `json:"calls"`
	}
	from := answer.Output
	if answer.Error != nil {
		from = answer.Error.Data
	}
	if len(from) > 0 {
		if err := json.Unmarshal(from, &told); err != nil {
			return t.Failed("", "the relay's answer cannot be read: %w", err)
		}
	}
	r.Outcome, r.Value, r.Log, r.Calls = fault.Executed, told.Value, told.Log, told.Calls
	for _, warning := range answer.Warnings {
		t.Notef("warning: %s\n", warning)
	}
	if answer.Error != nil {
		r.Outcome, r.Error = cmp.Or(answer.Error.Outcome, fault.NotExecuted), answer.Error
		r.Message = answer.Error.Message
		return t.CallFailed(answer)
	}
	return nil
}

// end notes how the command ends.
func (r *Report) end(exit int, err error) {
	ended := time.Now().UTC().Round(0)
	r.Ended, r.Exit, r.State = &ended, &exit, done
	if err != nil {
		r.State = failed
		if r.Error == nil {
			r.Message = err.Error()
		}
	}
}

// print tells the value, and beside it what the script logged and called.
func (r *Report) print(t capability.Terminal) error {
	for _, line := range r.Log { // none of which passes for a line of the relay's, such as the next one
		t.Notef("log: %s\n", line)
	}
	if len(r.Calls) > 0 {
		t.Notef("Calls: %s\n", inWords(r.Calls))
	}
	if string(r.Value) == "null" {
		return nil
	}
	return t.PrintValue(r.Value)
}

// keep writes the report, where one was asked for.
func (c *command) keep(t capability.Terminal, r Report) error {
	if c.report == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = diskfile.Write(c.report, append(text, '\n'), 0o600)
	}
	if err != nil {
		return t.Failed("", "cannot write the report: %w", err)
	}
	return nil
}
