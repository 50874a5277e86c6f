package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/launch"
	"tabrelay/relay/program/connect"
	"tabrelay/relay/program/nativehost"
	"tabrelay/relay/state/config"
)

func (a *app) uninstall() *cobra.Command {
	var keep, yes bool
	cmd := &cobra.Command{
		Use: "uninstall", Short: "Stop, disconnect every client, and remove the home folder",
		Long: "Stop the relay, disconnect every client, and remove the home folder. What will be removed is listed " +
			"first, and you are asked.\n" +
			"Entries of clients, and a service, that belong to another home folder stay.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := a.removal(cmd.Context(), keep)
			if err != nil {
				return err
			}
			return r.run(cmd.Context(), yes)
		},
	}
	cmd.Flags().BoolVar(&keep, "keep-data", false, "leave the home folder")
	cmd.Flags().BoolVar(&yes, "yes", false, "remove without asking")
	return cmd
}

// removal is what an uninstallation does.
type removal struct {
	*app
	steps []removalStep
	stays []string // what is not removed although it could be taken for tabrelay's
}

type removalStep struct {
	what string // as the person reads it before they agree
	do   func(context.Context) error
}

func (r *removal) add(do func(context.Context) error, what string, args ...any) {
	r.steps = append(r.steps, removalStep{fmt.Sprintf(what, args...), do})
}

func (r *removal) leave(what string, args ...any) {
	r.stays = append(r.stays, fmt.Sprintf(what, args...))
}

// removal looks what there is to remove.
func (a *app) removal(ctx context.Context, keep bool) (*removal, error) {
	r := &removal{app: a}
	r.addService()
	r.addProcesses(ctx)
	if err := r.addClients(keep); err != nil {
		return nil, err
	}
	r.addNativeHost()
	if keep {
		return r, nil
	}
	r.addExtension()
	return r, r.addHome()
}

// addService comes first, because the system would start the relay again.
func (r *removal) addService() {
	s, _, err := r.autostart()
	switch {
	case err != nil || !s.Installed():
	case !r.serves(s):
		r.leave("%s, which starts the relay of another home folder", s.File)
	default:
		r.add(func(ctx context.Context) error {
			if err := r.uninstallService(ctx); err != nil {
				r.notef("%s: %v\n", s.Name, err)
			}
			return nil
		}, "the service %s", s.File)
	}
}

func (r *removal) addProcesses(ctx context.Context) {
	join.EndTemporary(ctx, r.home)
	state, runs := join.Answering(ctx, r.home)
	managed := slices.ContainsFunc(r.home.Browsers(), func(name string) bool {
		_, runs := launch.Running(r.home.Browser(name))
		return runs
	})
	what := ""
	switch {
	case runs && managed:
		what = fmt.Sprintf("the relay (process %d) and the browsers that tabrelay started, which are stopped",
			state.PID)
	case runs:
		what = fmt.Sprintf("the relay (process %d), which is stopped", state.PID)
	case managed:
		what = "the browsers that tabrelay started, which are stopped"
	default:
		return
	}
	r.add(r.stopAll, "%s", what)
}

// addClients adds the entries of clients that are for this home folder, and copies of their files that hold a token of
// it.
func (r *removal) addClients(keep bool) error {
	env, err := connect.Here()
	if err != nil {
		return err
	}
	for _, client := range connect.Clients {
		entry, found, err := client.Entry(env)
		switch {
		case err != nil:
			r.leave("%s: %v", client.Title, err)
		case found && connect.Own(entry, r.home):
			r.add(func(ctx context.Context) error { return r.disconnectClient(ctx, client, env, keep) },
				"the entry of %s in %s", client.Title, client.File(env))
		case found:
			r.leave("the entry of %s, which is for the relay of %s", client.Title, connect.HomeOf(entry))
		}
		if client.HasSkill(env) {
			r.add(func(context.Context) error { return client.RemoveSkill(env) }, "the skill of %s in %s", client.Title,
				client.SkillFile(env))
		}
		copied, found := client.Backup(env)
		switch {
		case !found:
		case copied.Token && (!copied.Entry || connect.Own(connect.Server{Home: copied.Home}, r.home)):
			r.add(func(context.Context) error { return os.Remove(copied.File) },
				"the copy %s, which holds a token", copied.File)
		default:
			r.leave("%s, a copy of the file of %s as it was before", copied.File, client.Title)
		}
	}
	return nil
}

// disconnectClient takes out an entry. A token that outlives this is revoked.
func (r *removal) disconnectClient(ctx context.Context, client connect.Client, env connect.Environment,
	keep bool) error {
	tokens, err := r.tokens()
	if err != nil {
		return err
	}
	c := &connection{r.app, connect.Connection{Client: client, Env: env, Home: r.home, Tokens: tokens}}
	if keep {
		return c.removeEntry(ctx)
	}
	change, err := client.Disconnect(env)
	if err == nil {
		c.noteDisconnected(change)
	}
	return err
}

// addNativeHost adds what lets browsers start this program.
func (r *removal) addNativeHost() {
	host, places := nativehost.Host{Home: r.home}, nativehost.Places(r.home)
	for _, place := range host.Registered(places) {
		r.add(func(context.Context) error {
			_, err := host.Unregister(places)
			return err
		}, "%s, by which %s finds tabrelay", place.File, place.Browser)
	}
}

// addExtension adds the extension's folder where the person has put it outside the home folder.
func (r *removal) addExtension() {
	cfg, err := config.Load(r.home)
	if err != nil || cfg.ExtensionDir == "" {
		return
	}
	var paired struct{ Secret string }
	text, err := os.ReadFile(filepath.Join(cfg.ExtensionDir, "pairing.json"))
	if err != nil || json.Unmarshal(text, &paired) != nil {
		return
	}
	if secrets, err := r.knownSecrets(); err == nil && secrets != nil && secrets.Pairing() == paired.Secret {
		r.add(func(context.Context) error { return os.RemoveAll(cfg.ExtensionDir) }, "the extension in %s",
			cfg.ExtensionDir)
	}
}

func (r *removal) addHome() error {
	foreign, err := r.home.Foreign()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return failed("cannot look into %s: %w", r.home, err)
	}
	for _, name := range foreign {
		r.leave("%s, which tabrelay did not create", filepath.Join(string(r.home), name))
	}
	r.add(func(ctx context.Context) error {
		if err := r.home.Remove(ctx); err != nil {
			return failed("cannot remove %s: %w", r.home, err)
		}
		if len(foreign) == 0 {
			r.notef("%s is removed.\n", r.home)
		}
		return nil
	}, "the home folder %s: settings, tokens, plugins, rules, the audit log", r.home)
	return nil
}

// run does it once the person has agreed. Without a terminal, only --yes does.
func (r *removal) run(ctx context.Context, yes bool) error {
	if len(r.steps) == 0 {
		r.notef("There is nothing to remove.\n")
		return nil
	}
	r.notef("This will be removed:\n")
	for _, step := range r.steps {
		r.notef("  %s\n", step.what)
	}
	if len(r.stays) > 0 {
		r.notef("This stays:\n")
		for _, what := range r.stays {
			r.notef("  %s\n", what)
		}
	}
	if !yes && !r.askYesNo(ctx, "Remove it?") {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return failed("nothing was removed").hinting("--yes removes it without asking")
	}
	for _, step := range r.steps {
		if err := step.do(ctx); err != nil {
			return err
		}
	}
	join.EndTemporary(ctx, r.home) // which disconnected clients
	r.notef("Next: open chrome://extensions and press “Remove” on the card of tabrelay; then delete the program " +
		"itself.\n")
	return nil
}
