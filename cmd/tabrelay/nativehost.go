package main

import (
	"context"
	"io"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"tabrelay/extension"
	"tabrelay/relay"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/program/nativehost"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
)

func (a *app) nativeHost() *cobra.Command {
	var dirs []string
	cmd := &cobra.Command{
		Use: "native-host", Short: "Let an extension from a store find the relay of this home folder",
		Long: "Register this program with browsers as a native-messaging host: an extension from a store finds the " +
			"relay by it,\nand starts it when you say so. A relay of ~/.tabrelay does that by itself when it starts, " +
			"for Chrome, Chromium,\nEdge and Brave (setting nativeHost).",
	}
	add := &cobra.Command{
		Use: "add", Short: "Register it with your browsers, instead of another home folder's",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.addNativeHost(cmd.Context(), dirs) },
	}
	remove := &cobra.Command{
		Use: "remove", Short: "Take it out of your browsers",
		RunE: func(*cobra.Command, []string) error { return a.removeNativeHost(dirs) },
	}
	list := a.withJSON(&cobra.Command{
		Use: "list", Short: "Show where it is registered",
		RunE: func(*cobra.Command, []string) error { return a.listNativeHosts(dirs) },
	})
	for _, one := range []*cobra.Command{add, remove, list} {
		one.Flags().StringArrayVar(&dirs, "user-data-dir", nil,
			"the folder where a browser keeps its profiles, instead of those known (may be repeated)")
		cmd.AddCommand(one)
	}
	return cmd
}

// nativePlaces are the places of the browsers with these folders, or of those that are known.
func (a *app) nativePlaces(dirs []string) (places []nativehost.Place, err error) {
	if len(dirs) == 0 {
		return nativehost.Places(a.home), nil
	}
	if runtime.GOOS == "windows" {
		return nil, usage("on Windows, browsers find hosts in the registry and not in --user-data-dir").
			hinting("leave it out")
	}
	for _, dir := range dirs {
		path, err := filepath.Abs(dir)
		if err != nil {
			return nil, usage("--user-data-dir: %w", err)
		}
		places = append(places, nativehost.In(path))
	}
	return places, nil
}

// ownHost is the host of this home folder.
func (a *app) ownHost() (h nativehost.Host, err error) {
	cfg, err := config.Load(a.home)
	if err != nil {
		return h, err
	}
	executable, err := join.Executable()
	return nativehost.Host{Home: a.home, Executable: executable, Extensions: cfg.Extensions(extension.ID)}, err
}

func (a *app) addNativeHost(ctx context.Context, dirs []string) error {
	places, err := a.nativePlaces(dirs)
	if err != nil {
		return err
	}
	if len(places) == 0 {
		return failed("no browser has kept a profile here yet").
			hinting("start your browser once, or name its folder with --user-data-dir")
	}
	if err := a.home.Create(); err != nil {
		return err
	}
	host, err := a.ownHost()
	if err != nil {
		return err
	}
	change := policy.NewChange("Browsers find the relay without a pairing string", "tabrelay native-host add",
		call.Difference{What: "browsers whose tabrelay extension may connect", Before: "those that are paired",
			After: "also " + browsersOf(places)})
	if err := a.confirmHere(ctx, change); err != nil {
		return err
	}
	changed, err := host.Register(places, true)
	for _, place := range changed {
		a.notef("%s: registered in %s\n", place.Browser, place.File)
	}
	if err == nil && len(changed) == 0 {
		a.notef("It is registered already.\n")
	}
	return err
}

func browsersOf(places []nativehost.Place) (text string) {
	for i, place := range places {
		if i > 0 {
			text += ", "
		}
		text += place.Browser
	}
	return text
}

func (a *app) removeNativeHost(dirs []string) error {
	places, err := a.nativePlaces(dirs)
	if err != nil {
		return err
	}
	gone, err := nativehost.Host{Home: a.home}.Unregister(places)
	for _, place := range gone {
		a.notef("%s: taken out of %s\n", place.Browser, place.File)
	}
	if err == nil && len(gone) == 0 {
		a.notef("It is not registered.\n")
	}
	return err
}

func (a *app) listNativeHosts(dirs []string) error {
	places, err := a.nativePlaces(dirs)
	if err != nil {
		return err
	}
	type row struct {
		Browser string `json:"browser"`
		File    string `json:"file"`
	}
	rows, table := []row{}, [][]string{{"BROWSER", "FILE"}}
	for _, place := range (nativehost.Host{Home: a.home}).Registered(places) {
		rows, table = append(rows, row{place.Browser, place.File}), append(table, []string{place.Browser, place.File})
	}
	if a.json {
		return a.printJSON(map[string]any{"registered": rows})
	}
	if len(rows) == 0 {
		a.notef("It is not registered.\n")
		return nil
	}
	return a.table(table...)
}

// serveNative answers an extension whose browser has started this program.
func (a *app) serveNative(ctx context.Context, origin string, in io.Reader, out io.Writer) error {
	if a.interactive() {
		return usage("browsers start tabrelay with the address of an extension, and a person does not").
			hinting("tabrelay native-host --help")
	}
	var err error
	if a.home, err = config.ResolveHome(); err != nil {
		return err
	}
	return nativehost.Serve(in, out, func(asked nativehost.Request) nativehost.Answer {
		answer, err := a.answerNative(ctx, origin, asked)
		if err != nil {
			message, hint := explain(err)
			answer.Problem = &nativehost.Problem{Message: fault.Sanitize(message), Hint: hint}
		}
		return answer
	})
}

// answerNative says where the relay is. Only an extension that was allowed to connect learns the secret.
func (a *app) answerNative(ctx context.Context, origin string, asked nativehost.Request) (
	answer nativehost.Answer, err error,
) {
	answer.Version = relay.Version
	cfg, err := config.Load(a.home)
	if err != nil {
		return answer, err
	}
	if err := nativehost.Allowed(origin, cfg.Extensions(extension.ID)); err != nil {
		return answer, failed("%w", err).hinting("the setting extensionIds allows it")
	}
	switch asked.Type {
	case nativehost.Find:
	case nativehost.Start:
		starter, err := a.starter()
		if err != nil {
			return answer, err
		}
		if _, err := starter.Start(ctx); err != nil {
			return answer, err
		}
	default:
		return answer, failed("there is no request %q", asked.Type)
	}
	if !a.home.Exists() {
		return answer, nil
	}
	secrets, err := config.OpenSecrets(a.home)
	if err != nil {
		return answer, err
	}
	answer.Address, answer.Secret = cfg.Listen, secrets.Pairing()
	if state, runs := join.Answering(ctx, a.home); runs {
		answer.Address, answer.Running = state.Address, true
	}
	return answer, nil
}
