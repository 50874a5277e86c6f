package main

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/diode"
	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/state/config"
)

// maxLogLines is how many log lines are buffered for the reader of stderr; a client need not read it at all.
const maxLogLines = 256

// toolsetUsage is what --toolset means, of every command that has it.
var toolsetUsage = "tools to list: " + strings.Join(relay.Toolsets(config.Default()), ", ") +
	", or names of plugins with commas between\n" +
	"(default: the browser's own, those of the sites that are open, and the gateway for all others)"

func (a *app) mcp() *cobra.Command {
	var toolset, client string
	var remote remoteFlags
	var noHome error
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Speak MCP over stdin and stdout; starts the relay if none runs",
		Long: "Speak MCP over stdin and stdout; starts the relay if none runs.\n\n" +
			"When no relay can be reached (its configuration cannot be read, its port is taken, the token is not " +
			"known) " +
			"the client\n" +
			"is still answered, in minimal mode: no tools, and instructions that say why and what to do. " +
			config.ForceMinimal + "=1\n" +
			"forces that mode.",
		// A client shows what an MCP server replies, not what a process prints when it ends: so no error ends this one.
		PersistentPreRunE: func(*cobra.Command, []string) error {
			a.home, noHome = config.ResolveHome()
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := a.mcpOutput()
			if err != nil {
				return err
			}
			setCalled()
			quiet := diode.NewWriter(a.err, maxLogLines, 0, func(int) {})
			log := zerolog.New(quiet).Level(zerolog.WarnLevel).With().Timestamp().Logger()
			proxy := join.Proxy{
				Home: a.home, Version: relay.Version, Client: client, Token: os.Getenv(tokenVariable),
				Toolset: toolset,
				Start:   a.startRelay, Disabled: noHome, ParentExited: join.ParentExited(),
				In: a.in, Out: &join.MessageWriter{To: out, Log: log}, Log: log,
			}
			if remote.relay != "" {
				proxy.Remote, proxy.Disabled = remote.parse(proxy.Token)
			}
			if config.Minimal() {
				proxy.Disabled = join.ErrForcedMinimal
			}
			return proxy.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&toolset, "toolset", "", toolsetUsage)
	cmd.Flags().StringVar(&client, "client", "",
		"name of the client, for logs and permissions; its token in TABRELAY_TOKEN takes precedence")
	remote.register(cmd)
	return cmd
}

// remoteFlags say where a relay on another machine is.
type remoteFlags struct{ relay, tokenFile, ca string }

func (f *remoteFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.relay, "relay", "", "a relay on another machine, which is then used and none started: "+
		"https://HOST:PORT,\nor through SSH http://127.0.0.1:PORT or unix:///PATH; its token comes from "+
		"TABRELAY_TOKEN or --token-file")
	cmd.Flags().StringVar(&f.tokenFile, "token-file", "", "file with the token for --relay, which nobody else can read")
	cmd.Flags().StringVar(&f.ca, "ca", "", "file with the certificates to trust for --relay, in PEM; by default those "+
		"that the system trusts")
}

// parse reads them. token is that of the environment.
func (f *remoteFlags) parse(token string) (*join.Remote, error) {
	if f.tokenFile != "" {
		var err error
		if token, err = join.ReadToken(f.tokenFile); err != nil {
			return nil, err
		}
	}
	return join.ParseRemote(f.relay, f.ca, token)
}

// mcpOutput is where MCP is written. Nothing else of the process can write there.
func (a *app) mcpOutput() (io.Writer, error) {
	if file, ok := a.out.(*os.File); !ok || file != os.Stdout {
		return a.out, nil
	}
	out, err := join.ClaimStdout()
	if err != nil {
		return nil, err
	}
	return join.NewPacedWriter(out), nil
}

// startRelay starts the relay for a proxy. The configuration is read here first, so that no process is started for one
// that cannot be read.
func (a *app) startRelay(ctx context.Context) (join.State, error) {
	starter, err := a.starter()
	if err != nil {
		return join.State{}, err
	}
	if _, err := config.Load(a.home); err != nil {
		return join.State{}, err
	}
	return starter.Start(ctx)
}
