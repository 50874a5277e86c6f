package main

import (
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay"
)

func (a *app) pair() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "pair", Short: "Print a one-time string that pairs an extension from a store", Args: cobra.NoArgs,
		Long: "Print a string that pairs an extension which was not loaded from tabrelay's own folder, for example one from a store.\n" +
			"Paste it into the extension's side panel. It is good for five minutes and one use; a new one replaces it.\n" +
			"An extension that `tabrelay up` has prepared needs none.",
		RunE: func(cmd *cobra.Command, _ []string) error {
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
	return cmd
}
