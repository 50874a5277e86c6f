// Command tabrelay lets agents use the web applications a person is already signed in to. This package reads flags,
// speaks to the terminal and chooses exit codes; what the commands do is in package relay and those below it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tabrelay/relay"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/lib/suggest"
	"tabrelay/relay/program/nativehost"
	"tabrelay/relay/state/config"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the whole program, except that it returns where a program exits.
func run(args []string, in io.Reader, out, errOut io.Writer) int {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as with nohup
		ends = append(ends, syscall.SIGHUP) // the terminal was closed
	}
	ctx, stop := endedBy(context.Background(), ends...)
	defer stop()
	a := &app{terminal: terminal{in: in, out: out, err: errOut}, began: time.Now()}
	if origin, ok := nativehost.Asked(args); ok {
		return a.report(a.serveNative(ctx, origin, in, out))
	}
	root := a.commands()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if s := stoppedIn(ctx); s != nil && errors.Is(err, context.Canceled) {
		err = s.failure("before this was done")
	}
	return a.report(a.home.Unwritable(err))
}

// app is the state that commands share.
type app struct {
	terminal
	home     config.Home
	began    time.Time // when the program started
	attached []attached

	startsRelay bool         // the command starts a relay where none runs
	relay       *http.Client // for requests to the relay of this home folder
	isClient    bool         // they carry the token of a client
}

// commands is the tree of commands.
func (a *app) commands() *cobra.Command {
	root := &cobra.Command{
		Use:           "tabrelay",
		Short:         "Let agents use the web applications you are signed in to",
		Version:       relay.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) (err error) {
			if a.home, err = config.ResolveHome(); err != nil {
				return usage("%w", err)
			}
			a.relay = join.HTTP(a.home)
			if err := a.asClient(cmd); err != nil {
				return err
			}
			if cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == cobra.ShellCompNoDescRequestCmd {
				a.hideSwitchedOff()
			}
			return nil
		},
	}
	root.SetVersionTemplate("tabrelay {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 && cmd.ValidateArgs(args) != nil {
			return noCommand(cmd, args[0]) // the unknown flag is probably one of that command
		}
		if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
			err = fmt.Errorf("--%s is %q; it must be %s", wrong.GetFlag().Name, wrong.GetValue(),
				expected(wrong.GetFlag().Value.Type()))
		}
		return usage("%w%s", err, nearestFlag(cmd, err)).hinting(cmd.CommandPath() + " --help")
	})
	group(root, "Run", a.up(), a.serve(), a.down(), a.status(), a.doctor(), a.logs(), a.events(), a.service(),
		a.nativeHost(),
		a.uninstall())
	group(root, "Connect agents", a.mcp(), a.connect(), a.disconnect(), a.skill(), a.clients(), a.pair())
	group(root, "Decide", a.permit(), a.pause(), a.resume(), a.config(), a.policy(), a.audit())
	group(root, "Use tools", a.tools(), a.call(), a.sessions(), a.tabs(), a.profiles(), a.deadLetters())
	group(root, "Write plugins", a.plugin())
	group(root, "Measure", a.bench())
	a.attach(root)
	root.SetHelpCommand(helpCommand())
	root.SetCompletionCommandGroupID("Run")
	root.InitDefaultCompletionCmd() // before its arguments are checked
	wrapHelp(root)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if home, err := config.ResolveHome(); err == nil { // --help comes before anything else
			a.home = home
			a.hideSwitchedOff()
		}
		help(cmd, args)
	})
	checkArguments(root)
	a.complete(root)
	return root
}

// helpCommand is `tabrelay help`.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Show what a command does, as --help does", GroupID: "Run",
		Args: cobra.ArbitraryArgs, ValidArgsFunction: commandNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noCommand(cmd.Root(), strings.Join(args, " "))
			}
			return found.Help()
		},
	}
}

func noCommand(parent *cobra.Command, name string) error {
	var known []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	return usage("there is no command %q%s", name, suggest.DidYouMean(name, known)).
		hinting(parent.CommandPath() + " --help lists the commands")
}

// expected says what the value of a flag looks like.
func expected(kind string) string {
	switch kind {
	case "duration":
		return "a number with its unit, such as 30s, 5m or 12h"
	case "bool":
		return "true or false"
	case "int":
		return "a whole number"
	}
	return "a " + kind
}

// nearestFlag is the end of an error that names a flag which does not exist: the one that was probably meant.
func nearestFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if nearest := suggest.Nearest(unknown.GetSpecifiedName(), known); nearest != "" {
		return "; did you mean --" + nearest + "?"
	}
	return ""
}

// group adds commands under one heading of the help.
func group(root *cobra.Command, title string, commands ...*cobra.Command) {
	if !root.ContainsGroup(title) {
		root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	}
	for _, c := range commands {
		c.GroupID = title
		isCommand[c.Name()] = true
		root.AddCommand(c)
	}
}

// checkArguments makes wrong arguments a usage error with a hint. A command without a check of its own takes none.
func checkArguments(cmd *cobra.Command) {
	if !cmd.Runnable() { // it only has subcommands
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	check := cmd.Args
	if check == nil {
		check = cobra.NoArgs
	}
	cmd.Args = func(c *cobra.Command, args []string) error {
		if check(c, args) != nil {
			return wrongArguments(c, args)
		}
		return nil
	}
	for _, sub := range cmd.Commands() {
		checkArguments(sub)
	}
}

func wrongArguments(c *cobra.Command, args []string) error {
	switch {
	case c.HasSubCommands():
		return noCommand(c, args[0])
	case len(args) == 0:
		return usage("an argument is missing: %s", c.UseLine()).hinting(c.CommandPath() + " --help")
	default:
		return usage("wrong number of arguments: %s", c.UseLine()).hinting(c.CommandPath() + " --help")
	}
}
