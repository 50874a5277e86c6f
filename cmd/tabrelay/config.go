package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/policy"
)

func (a *app) config() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Apply what waits of config.json, or take back what the last start brought", Args: cobra.NoArgs,
		Long: "What is written into config.json while the relay runs is in effect at once where it forbids more, and waits for you\n" +
			"where it lets agents do more. What is there when the relay starts is in effect; what lets agents do more than at the\n" +
			"start before is shown in the side panel, and can be taken back.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.configApply(), a.configUndo())
	return cmd
}

func (a *app) configApply() *cobra.Command {
	return &cobra.Command{
		Use: "apply", Short: "Put into effect what waits of config.json", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.answerConfig(cmd.Context(), policy.ChangeConfig, "allow", "What config.json says is in effect.\n")
		},
	}
}

func (a *app) configUndo() *cobra.Command {
	return &cobra.Command{
		Use: "undo", Short: "Go back to what agents could do before the last start", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.answerConfig(cmd.Context(), policy.ChangeStart, "deny",
				"Agents may do what they could before the last start; config.json stays as it is.\n")
		},
	}
}

func (a *app) answerConfig(ctx context.Context, kind, answer, done string) error {
	var waiting relay.Approvals
	if err := a.get(ctx, "/api/v1/approvals", &waiting); err != nil {
		return err
	}
	shown := slices.ContainsFunc(waiting.Changes, func(c policy.PendingChange) bool { return c.Kind == kind })
	if !shown && (kind == policy.ChangeStart || waiting.ConfigWaits == "") {
		a.notef("Nothing of the configuration waits for you.\n")
		return nil
	}
	if err := a.post(ctx, "/api/v1/approvals/"+kind, relay.Verdict{Answer: answer}, &waiting); err != nil {
		return err
	}
	a.notef("%s", done)
	return nil
}
