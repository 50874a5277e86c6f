package main

import (
	"os"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/diode"
	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/join"
)

// shimLines is how many log lines may wait for whoever reads stderr; a client need not read it at all.
const shimLines = 256

func (a *app) mcp() *cobra.Command {
	var toolset, client string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Speak MCP over stdin and stdout; starts the relay if none runs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			os.Stdout = os.Stderr // only the shim writes to the real one, and only MCP
			starter, err := a.starter()
			if err != nil {
				return err
			}
			quiet := diode.NewWriter(a.err, shimLines, 0, func(int) {})
			shim := join.Shim{
				Home: a.home, Version: relay.Version, Client: client, Token: os.Getenv("TABRELAY_TOKEN"), Toolset: toolset, Start: starter.Start,
				In: a.in, Out: a.out, Log: zerolog.New(quiet).Level(zerolog.WarnLevel).With().Timestamp().Logger(),
			}
			return shim.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&toolset, "toolset", "all", "which tools to offer: all, gateway, agents, or names of plugins with commas between")
	cmd.Flags().StringVar(&client, "client", "", "name of the client, for logs and permissions; its token in TABRELAY_TOKEN counts more")
	return cmd
}
