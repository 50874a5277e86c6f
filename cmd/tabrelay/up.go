package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/extension"
	"tabrelay/relay"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/launch"
	"tabrelay/relay/program/builtin"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// Waits of up.
const (
	pollInterval = 100 * time.Millisecond // between two requests for the relay's status
	reloadWait   = 5 * time.Second        // for an extension to reload itself with new files
	managedWait  = 30 * time.Second       // for a browser that tabrelay started
	personWait   = 5 * time.Minute        // for a person whose answers cannot be read
	knownWait    = 20 * time.Second       // for a profile that was paired before, until the guide is shown
)

func (a *app) up() *cobra.Command {
	var mode, profile string
	var trusted bool
	cmd := &cobra.Command{
		Use: "up", Short: "Start everything, and make a first call",
		Long: "Start the relay in the background, connect a browser, and make a first call.\n\n" +
			"--browser auto: the browser that was used before; otherwise, with a display, your own Chrome, with a " +
			"guide;\notherwise a Chromium without a window.\n" +
			"--browser managed: a Chromium with a profile of its own.\n--browser none: only the relay.\n\n" +
			"--profile NAME: a Chromium with one more profile, with its own cookies, which agents name as profile. " +
			"up without it\nbrings back all of them; `tabrelay down --profile NAME` closes one.\n\n" +
			"--trusted-input: let the extension use Chrome's debugger, for pages that accept clicks only from a " +
			"person.\nRun up without it to take that back.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			u := &upCommand{app: a, trusted: trusted, profile: profile}
			if cmd.Flags().Changed("profile") {
				if !config.IsBrowserName(profile) {
					return noBrowserName(profile)
				}
				if mode == "none" {
					return usage("--profile starts a browser, and --browser none starts none").
						hinting("pass one of them")
				}
			}
			switch mode {
			case "auto", "managed", "none":
				return u.run(cmd.Context(), mode)
			}
			return usage("--browser is %q", mode).hinting("use auto, managed or none")
		},
	}
	cmd.Flags().StringVar(&mode, "browser", "auto", "which browser: auto, managed, none")
	a.profileFlag(cmd, &profile, "a managed Chromium with a profile of this name, of its own")
	cmd.Flags().BoolVar(&trusted, "trusted-input", false, "let the extension use Chrome's debugger")
	return cmd
}

// profileFlag adds the flag that names a managed browser.
func (a *app) profileFlag(cmd *cobra.Command, profile *string, use string) {
	cmd.Flags().StringVar(profile, "profile", "", use)
	_ = cmd.RegisterFlagCompletionFunc("profile", a.completing(func(context.Context) []string { // the flag is there
		return a.home.Browsers()[1:]
	}))
}

func noBrowserName(name string) error {
	return usage("--profile is %q, which cannot be the name of a profile", name).
		hinting("use 1 to 32 lower-case letters, digits and hyphens, beginning with a letter or digit, such as " +
			"shopping")
}

// upCommand is one run of `tabrelay up`.
type upCommand struct {
	*app
	trusted bool   // it is to have Chrome's debugger
	profile string // the managed browser that it is about; empty: the one without a name, or the person's own
	config  config.Config
	status  httpapi.Status
}

func (u *upCommand) run(ctx context.Context, mode string) (err error) {
	if _, err := extension.Files(); err != nil {
		return err
	}
	starter, err := u.starter()
	if err != nil {
		return err
	}
	if u.config, err = config.Load(u.home); err != nil {
		return err
	}
	if err := u.checkStore(ctx); err != nil {
		return err
	}
	join.EndTemporary(ctx, u.home)
	if err := u.setTrustedInput(ctx); err != nil {
		return err
	}
	if err := u.replaceOtherVersion(ctx); err != nil {
		return err
	}
	u.startService(ctx)
	started := u.progress("Starting the relay")
	state, err := starter.Start(ctx)
	started()
	if err != nil {
		return err
	}
	u.notef("The relay runs: http://%s\n", state.Address)
	if err := u.refresh(ctx); err != nil {
		return err
	}
	u.printRightsChanges()
	if mode == "none" {
		u.notef("The extension is in %s\n", u.status.Extension.Folder)
		u.notef("Next: load it into your browser: chrome://extensions, Developer mode, Load unpacked.\n")
		u.offerPath()
		return nil
	}
	if u.profile != "" {
		err = u.startNamed(ctx)
	} else {
		err = u.bringBack(ctx, mode)
	}
	if err != nil {
		return err
	}
	return u.firstCall(ctx)
}

// bringBack connects the browser that has no name, or the person's own, and those with names that were connected once.
func (u *upCommand) bringBack(ctx context.Context, mode string) error {
	var failed []error
	for _, name := range u.home.Browsers()[1:] {
		if launch.ProfileOf(u.home.Browser(name)) == "" {
			continue // it never connected
		}
		named := *u
		named.profile = name
		if err := named.startNamed(ctx); err != nil {
			failed = append(failed, fmt.Errorf("the browser %s: %w", name, err))
		}
	}
	err := u.connectBrowser(ctx, mode)
	if len(failed) == 0 {
		return err
	}
	return errors.Join(append(failed, err)...)
}

// startNamed starts the managed browser of a name, unless it is connected. Agents tell profiles by their labels, so a
// new one does not get the label of another.
func (u *upCommand) startNamed(ctx context.Context) error {
	known, err := u.knownProfiles(ctx)
	if err != nil {
		return err
	}
	for _, p := range known {
		if p.Label == u.profile && launch.ProfileOf(u.home.Browser(u.profile)) == "" {
			return failed("there is a browser profile %q already (%s), which tabrelay did not start", p.Label, p.ID).
				hinting("choose another name, or name that profile otherwise in its side panel; if it is not used " +
					"any more: tabrelay profiles forget " + p.ID)
		}
	}
	if u.connected() {
		return nil
	}
	return u.startManaged(ctx)
}

func (u *upCommand) knownProfiles(ctx context.Context) ([]call.Profile, error) {
	known, err := store.KnownProfiles(ctx, u.home)
	if err != nil {
		return nil, fmt.Errorf("cannot read which browsers were paired: %w", err)
	}
	return known, nil
}

// printRightsChanges prints what an update or the last start changed in what agents may do, until the person confirms
// it.
func (u *upCommand) printRightsChanges() {
	if s := u.status.Widened; s != "" {
		u.notef("Since the last start, agents may do more: %s. To take that back: tabrelay config undo\n", s)
	}
	if s := u.status.Narrowed; s != "" {
		u.notef("Since an update, your rules allow less: %s. When you have read it: tabrelay permit confirm\n", s)
	}
	if s := u.status.Updated; s != "" {
		u.notef("%s. When you have read it: tabrelay permit confirm\n", s)
	}
}

// setTrustedInput stores the setting trustedInput as --trusted-input says. The extension with the debugger permission
// lets agents do more, so the person confirms it. A running relay is stopped, because it would keep the old setting.
func (u *upCommand) setTrustedInput(ctx context.Context) error {
	const key = "trustedInput"
	if u.config.TrustedInput == u.trusted {
		return nil
	}
	if m := u.config.Managed; m.Fixes(key) {
		if u.trusted {
			return &config.ManagedError{What: key + " is set", Managed: m}
		}
		return nil
	}
	if _, set := os.LookupEnv(config.Twin(key)); set {
		return usage("%s is set in this shell's environment, which takes "+
			"precedence", config.Twin(key)).hinting("unset it")
	}
	if u.trusted {
		change := policy.NewChange("Agents may act in pages as a person does, with Chrome's debugger",
			"tabrelay up --trusted-input", call.Difference{What: key, Before: "false", After: "true"})
		if err := u.confirmHere(ctx, change); err != nil {
			return err
		}
	}
	if err := u.stopForSuccessor(ctx); err != nil {
		return err
	}
	if err := u.home.Create(); err != nil {
		return err
	}
	var err error
	if u.trusted {
		err = config.Set(u.home, []string{key}, json.RawMessage("true"))
	} else {
		err = config.Unset(u.home, []string{key})
	}
	if err != nil {
		return err
	}
	u.config.TrustedInput = u.trusted
	u.notef("%s\n", map[bool]string{
		true: "The extension may use Chrome's debugger: `tabrelay up` takes that back. Chrome switches it off where " +
			"it was loaded before, because it may do more: switch it on again at chrome://extensions.",
		false: "The extension may not use Chrome's debugger any more.",
	}[u.trusted])
	return nil
}

// checkStore refuses to go on with a database that this program is too old for, before the relay that uses it is
// stopped for one that could not start.
func (a *app) checkStore(ctx context.Context) error {
	err := relay.CheckStore(ctx, a.home)
	if state, ok := join.Answering(ctx, a.home); ok && err != nil {
		return failed("the relay of version %s is not replaced by version %s: %w", state.Version, relay.Version,
			err).hinting(fault.HintOf(err))
	}
	return err
}

// replaceOtherVersion stops a relay of another version or build, so that one of this program can take its place. It
// fails while that relay runs calls.
func (u *upCommand) replaceOtherVersion(ctx context.Context) error {
	state, ok := join.Running(ctx, u.home)
	if !ok || state.Version == relay.Version && state.Build == join.Build() {
		return nil
	}
	what := "of version " + state.Version
	if state.Version == relay.Version {
		what = "of another build"
	}
	if err := u.stopForSuccessor(ctx); err != nil {
		return err
	}
	u.notef("The relay %s is replaced with this program, %s.\n", what, relay.Version)
	return nil
}

// stopForSuccessor stops the running relay, for one of this program that is started next. It fails while that runs
// calls.
func (a *app) stopForSuccessor(ctx context.Context) error {
	state, ok := join.Running(ctx, a.home)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	var stopped struct{}
	err := a.post(ctx, "/api/v1/stop", httpapi.StopRequest{Successor: relay.Version}, &stopped)
	if err != nil && !relayGone(err) {
		return err
	}
	return a.awaitEnd(ctx, state)
}

// startService has the system start the relay, if it is set up to start this program at login. Errors are ignored,
// because the relay is started in the background then.
func (u *upCommand) startService(ctx context.Context) {
	s, p, err := u.autostart()
	if err != nil || !u.serves(s) || !s.Starts(p) {
		return
	}
	if _, runs := join.Running(ctx, u.home); runs {
		return
	}
	if err := s.Start(ctx); err != nil {
		u.notef("%s does not start the relay (%v); it is started in the background.\n", s.Name, err)
		return
	}
	_ = u.awaitService(ctx, s) // as above
}

// refresh reads the status of the relay.
func (u *upCommand) refresh(ctx context.Context) (err error) {
	u.status, err = u.relayStatus(ctx)
	if err == nil && !u.status.Running {
		err = failed("the relay ended again").hinting("tabrelay logs shows why")
	}
	return err
}

// connected reports whether a browser that this is about is connected and will not reload its extension: one with older
// files of the extension does so within reloadWait, unless it cannot.
func (u *upCommand) connected() bool {
	return slices.ContainsFunc(u.status.Browsers, func(b hub.Browser) bool {
		return b.Connected && u.isAbout(b.ProfileID) && (b.UpToDate || time.Since(b.Since) > reloadWait)
	})
}

// isAbout reports whether this is about the browser of a profile: the one of the name, or any that has none.
func (u *upCommand) isAbout(profileID string) bool {
	for _, name := range u.home.Browsers()[1:] {
		if launch.ProfileOf(u.home.Browser(name)) == profileID {
			return name == u.profile
		}
	}
	return u.profile == ""
}

// connectBrowser waits for a browser that was paired before, starts one, or guides the person through the installation.
func (u *upCommand) connectBrowser(ctx context.Context, mode string) error {
	if u.connected() {
		return nil
	}
	known, err := u.knownProfiles(ctx)
	if err != nil {
		return err
	}
	known = slices.DeleteFunc(known, func(p call.Profile) bool { return !u.isAbout(p.ID) })
	_, managedBefore := os.Stat(filepath.Join(u.home.Browser(""), "profile"))
	switch {
	case mode == "auto" && managedBefore != nil && len(known) == 0 && len(u.home.Browsers()) > 1:
		return nil // there are only those with names
	case mode == "managed", managedBefore == nil, len(known) == 0 && !launch.HasDisplay():
		return u.startManaged(ctx)
	case len(known) > 0:
		u.notef("Start your browser, with the profile %q that was paired before …\n", known[0].Label)
		if err := u.awaitBrowser(ctx, knownWait, nil, always); err == nil || ctx.Err() != nil {
			return err
		}
		u.notef("It did not connect. Perhaps the extension was removed; this is how to install it:\n")
	}
	return u.guide(ctx)
}

// startManaged starts a browser with a profile of its own, with the name that this is about.
func (u *upCommand) startManaged(ctx context.Context) error {
	path, err := launch.Find(u.config.Browser.Path)
	if err != nil {
		return err
	}
	if err := refuseBranded(ctx, path, u.config.Browser.Path); err != nil {
		return err
	}
	managed := launch.Launch{
		Path: path, Folder: u.home.Browser(u.profile), Name: u.profile, Extension: u.status.Extension.Folder,
		Headless: u.config.Browser.Headless || !launch.HasDisplay(),
		Root:     os.Geteuid() == 0, Args: u.config.Browser.Args,
	}
	if launch.Sandboxed(path) && strings.Contains(managed.Extension, "/.") {
		return failed("%s cannot read folders whose names begin with a dot, such as %s", path, managed.Extension).
			hinting("set TABRELAY_HOME to a folder without a dot in its path, or browser.path to another Chromium")
	}
	if _, err := managed.Start(); err != nil {
		return err
	}
	u.notef("Started %s; waiting for its extension …\n", path)
	err = u.awaitBrowser(ctx, managedWait, nil, func() bool { _, runs := launch.Running(managed.Folder); return runs })
	if err != nil && ctx.Err() == nil {
		words := managed.OutputEnd()
		if words != "" {
			words = "\nit wrote last: " + strings.ReplaceAll(words, "\n", "\n  ")
		}
		hint := "everything it wrote is in " + managed.Output() + "; tabrelay doctor looks at the rest"
		if strings.Contains(words, "zygote") || strings.Contains(words, "No usable sandbox") {
			hint = "the system does not let Chromium make its sandbox. In a container, docs/container.md says what " +
				"to allow;\non Debian and Ubuntu install chromium-sandbox, or allow user namespaces for it\n" + hint
		}
		return failed("%w%s", err, words).hinting(hint)
	}
	return err
}

// refuseBranded is the error for a configured browser that ignores --load-extension.
func refuseBranded(ctx context.Context, path, configured string) error {
	if configured == "" {
		return nil
	}
	version, err := launch.Version(ctx, path)
	if err != nil {
		return err
	}
	if strings.HasPrefix(version, "Google Chrome ") && !strings.Contains(version, "for Testing") {
		return failed("browser.path is %s, which does not load extensions from the command line", version).
			hinting("set it to a Chromium or Chrome for Testing, or install the extension into your Chrome: tabrelay " +
				"up --browser auto")
	}
	return nil
}

// awaitBrowser waits until a browser is connected or a key arrives. alive reports whether the browser still runs.
func (u *upCommand) awaitBrowser(
	ctx context.Context, timeout time.Duration, key <-chan struct{}, alive func() bool,
) error {
	deadline := time.After(timeout)
	gone := false // at the last look
	for {
		if err := u.refresh(ctx); err != nil || u.connected() {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return failed("no browser connected within %s", timeout)
		case <-key:
			return nil
		case <-time.After(pollInterval):
		}
		switch {
		case alive():
			gone = false
		case gone:
			return failed("the browser ended before it connected")
		default: // a process has no command line for a moment, while the script that starts it becomes the browser
			gone = true
		}
	}
}

func always() bool { return true }

// guide leads a person through the installation. Each step waits for Enter; a connected extension ends it at any step.
func (u *upCommand) guide(ctx context.Context) error {
	steps := launch.Guide(u.status.Extension.Folder, "")
	u.notef("\nThe extension goes into your own browser once; %d steps.\n", len(steps))
	enter := u.enterKeys(ctx)
	wait := personWait
	if enter != nil {
		wait = 24 * time.Hour // the person can press Ctrl+C
	}
	for i, step := range steps {
		u.notef("\n%d. %s\n%s\n", i+1, step.Title, indent(step.Text))
		if enter == nil || i == len(steps)-1 {
			continue
		}
		u.notef("\n   Press Enter when that is done. ")
		if err := u.awaitBrowser(ctx, wait, enter, always); err != nil {
			return err
		}
		if u.connected() {
			u.notef("\n")
		}
	}
	if !u.connected() {
		u.notef("\nWaiting for the extension to connect …\n")
	}
	return u.awaitBrowser(ctx, wait, nil, always)
}

func indent(text string) string { return "   " + strings.ReplaceAll(text, "\n", "\n   ") }

// enterKeys receives for each line that the person types; nil without a terminal.
func (u *upCommand) enterKeys(ctx context.Context) <-chan struct{} {
	if !u.interactive() {
		return nil
	}
	typed := make(chan struct{})
	go func() { // ends with the process: nothing interrupts a read of the terminal
		scanner := bufio.NewScanner(u.in)
		for scanner.Scan() {
			select {
			case typed <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return typed
}

// firstCall runs a tool in the demo page.
func (u *upCommand) firstCall(ctx context.Context) error {
	if err := u.refresh(ctx); err != nil { // those with names may have connected before
		return err
	}
	var profile string // where the call is made; empty: where the relay thinks best
	for _, b := range u.status.Browsers {
		if b.Connected {
			u.notef("Connected: %s\n", b.Label)
		}
		if b.Connected && u.profile != "" && u.isAbout(b.ProfileID) {
			profile = b.ProfileID
		}
	}
	if u.status.Demo == "" {
		u.notef("The demo site is off, so no first call was made.\n")
		return u.printNextSteps()
	}
	if err := u.openDemo(ctx, profile); err != nil {
		return err
	}
	u.notef("First call: demo__hello\n")
	var ask httpapi.Ask
	if profile != "" {
		ask.Arguments = json.RawMessage(fmt.Sprintf(`{"profile":%q}`, profile)) // an id: letters and digits
	}
	var answer httpapi.Answer
	if err := u.post(ctx, "/api/v1/tools/demo__hello/call", ask, &answer); err != nil {
		return err
	}
	if err := u.printAnswer(answer); err != nil {
		return err
	}
	return u.printNextSteps()
}

// openDemo opens the demo site, in front of the person who asked for it, unless a tab of the profile shows it, or of
// any where none is named.
func (u *upCommand) openDemo(ctx context.Context, profile string) error {
	for _, t := range u.status.Tabs {
		if strings.HasPrefix(t.URL, u.status.Demo) && (profile == "" || t.ProfileID == profile) {
			return nil
		}
	}
	t := builtin.NewTab{URL: u.status.Demo, Active: true}
	for _, b := range u.status.Browsers {
		if b.Connected && (profile == "" || b.ProfileID == profile) {
			t.Profile = b.ProfileID
			break
		}
	}
	var opened builtin.OpenedTab
	if err := u.post(ctx, "/api/v1/tabs", t, &opened); err != nil {
		return fmt.Errorf("cannot open the demo site: %w", err)
	}
	return nil
}

// offerPath says how the program gets into PATH, when it is not there.
func (u *upCommand) offerPath() {
	if hint := pathHint(); hint != "" {
		u.notef("tabrelay is not in your PATH, so commands are shown as they can be pasted here. "+
			"To call it by its name: %s\n", hint)
	}
}

func (u *upCommand) printNextSteps() error {
	defer u.offerPath()
	u.notef("\nNext: tabrelay connect claude-code   (or claude-desktop, cursor, vscode, …)\n")
	u.notef("      then open a web application you are signed in to, and ask your agent to use it.\n")
	if d := u.status.Default; d.ReadOnly != call.Ask || d.Other != call.Ask {
		u.notef("      What agents may do (tabrelay permit list): %s.\n", defaultText(d))
		return nil
	}
	u.notef("      Agents ask you first, in the side panel: click tabrelay's icon.\n")
	return nil
}
