package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/join"
)

func (a *app) pair() *cobra.Command {
	var asJSON, rotate bool
	cmd := &cobra.Command{
		Use: "pair", Short: "Print a one-time string that pairs an extension from a store", Args: cobra.NoArgs,
		Long: "Print a string that pairs an extension which was not loaded from tabrelay's own folder, for example one from a store.\n" +
			"Paste it into the extension's side panel. It is good for five minutes and one use; a new one replaces it.\n" +
			"An extension that `tabrelay up` has prepared needs none.\n\n" +
			"--rotate replaces the secret that relay and extensions share: connections made with the old one end, the extension in\n" +
			"tabrelay's own folder connects again by itself, and every other one needs a new string.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if rotate {
				return a.rotatePairing(cmd.Context(), asJSON)
			}
			var p relay.Pairing
			if err := a.post(cmd.Context(), "/api/v1/pairing", struct{}{}, &p); err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(p)
			}
			a.printf("%s\n", p.Text)
			a.notef("Paste it into the side panel of the extension by %s. It works once.\n", p.Until.Local().Format(time.TimeOnly))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&rotate, "rotate", false, "replace the pairing secret")
	return cmd
}

func (a *app) rotatePairing(ctx context.Context, asJSON bool) error {
	done := relay.Rotated{Folder: string(a.home.Extension())}
	if _, ok := join.Running(ctx, a.home); ok {
		if err := a.post(ctx, "/api/v1/pairing/rotate", struct{}{}, &done); err != nil {
			return err
		}
	} else {
		secrets, err := a.secrets()
		if err != nil {
			return err
		}
		change := relay.RotateChange()
		if err := a.confirmHere(ctx, change); err != nil {
			return err
		}
		offline, err := a.openOffline(ctx)
		if err != nil {
			return fmt.Errorf("%w: %w", errUnrecorded, err)
		}
		offline.Confirmed(change)
		if err := errors.Join(offline.RotatePairing(secrets), offline.Close()); err != nil {
			return err
		}
	}
	if asJSON {
		return a.printJSON(done)
	}
	a.notef("The pairing secret is another one. The extension in %s has it; other extensions need a new string: tabrelay pair\n", done.Folder)
	return nil
}
