package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/capability"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// attach adds the commands of capabilities. Those of one that is switched off say so.
func (a *app) attach(root *cobra.Command) {
	for name, one := range relay.Commands() {
		cmd := one.Make(a.forCapabilities())
		a.onlyWith(name, cmd)
		a.attached = append(a.attached, attached{name, cmd})
		if one.Under == "" {
			group(root, one.Heading, cmd)
		} else if parent, _, err := root.Find(strings.Fields(one.Under)); err == nil {
			parent.AddCommand(cmd)
		}
	}
}

// attached is a command of a capability.
type attached struct {
	capability string
	*cobra.Command
}

// forCapabilities is what commands of capabilities may ask.
func (a *app) forCapabilities() capability.Terminal {
	return capability.Terminal{
		Version: relay.Version,
		Home:    func() config.Home { return a.home }, Printf: a.printf, Notef: a.notef, Table: a.table,
		PrintJSON: a.printJSON, WithJSON: a.withJSON, JSON: func() bool { return a.json },
		IsClient: func() bool { return a.isClient },
		Get:      a.get, Request: a.request, NoteEffect: a.noteEffect, ShellWord: shellWord,
		Reload: func(ctx context.Context) error { return a.reloadPlugins(ctx) },
		Stream: func(ctx context.Context, method, path string, body any, accept string) (io.ReadCloser, error) {
			res, err := a.send(ctx, method, path, body, accept)
			if err != nil {
				return nil, err
			}
			return res.Body, nil
		},
		Call: func(ctx context.Context, tool string, ask httpapi.Ask) (httpapi.Answer, error) {
			return a.runCall(ctx, callPath(tool), ask)
		},
		CallFailed: a.printPlain, Exit: exitCode, PrintValue: a.printValue, Read: a.read,
		Arguments: func(ctx context.Context, text string) (json.RawMessage, error) {
			return a.arguments(ctx, text, 0)
		},
		Entered: a.entered,
		Refused: func(err error) *fault.Error {
			if refused, ok := errors.AsType[*refusedFault](err); ok {
				return refused.fault
			}
			return nil
		},
		Failed: func(next, format string, args ...any) error { return failed(format, args...).hinting(next) },
		Usage:  func(next, format string, args ...any) error { return usage(format, args...).hinting(next) },
		Completing: func(lists ...func(context.Context) []string) cobra.CompletionFunc {
			all := make([]words, len(lists))
			for i := range lists {
				all[i] = lists[i]
			}
			return a.completing(all...)
		},
	}
}

// onlyWith has a command, and those below it, fail where a capability is switched off.
func (a *app) onlyWith(name string, cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if a.switchedOff(name) {
				key := "capabilities." + name
				return usage("%s is switched off: %s is false", name, key).
					hinting("tabrelay config set " + key + " true, then tabrelay down and tabrelay up")
			}
			return run(cmd, args)
		}
	}
	for _, sub := range cmd.Commands() {
		a.onlyWith(name, sub)
	}
}

// switchedOff reports whether the configuration switches a capability off. One that cannot be read says so elsewhere.
func (a *app) switchedOff(name string) bool {
	c, err := config.Load(a.home)
	return err == nil && !c.Has(name)
}

// hideSwitchedOff takes the commands of capabilities that are switched off out of help and completion.
func (a *app) hideSwitchedOff() {
	for _, one := range a.attached {
		one.Hidden = one.Hidden || a.switchedOff(one.capability)
	}
}
