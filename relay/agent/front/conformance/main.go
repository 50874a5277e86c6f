// Conformance serves the tools, prompts and resources that the official conformance suite of MCP asks a server for
// (github.com/modelcontextprotocol/conformance), through package front as the relay has it. What lies behind the front
// in the relay is replaced by fixtures; nothing of MCP is.
//
//	go run ./relay/agent/front/conformance [-listen 127.0.0.1:0]
//
// It prints the URL it serves.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/front"
	"tabrelay/relay/road/call"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "host and port")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *listen, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, listen string, out io.Writer) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	x := newFixture()
	f := front.New(front.Options{
		Name: "tabrelay-conformance", Version: "1.0.0", Instructions: "Fixtures of the conformance suite.",
		Caller: x, Tools: x.tools, Resources: x, Prompts: &x.prompts, Completer: x, Tasks: &x.memory,
		Log: zerolog.New(os.Stderr).Level(zerolog.WarnLevel),
	})
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		who := call.Session{ID: "suite", Client: "suite", Via: "http"}
		f.Handler().ServeHTTP(w, r.WithContext(front.WithSession(r.Context(), who)))
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = f.Shutdown(ctx)
		_ = server.Close()
	}()
	fmt.Fprintf(out, "http://%s/mcp\n", l.Addr())
	if err = server.Serve(l); err == http.ErrServerClosed {
		return nil
	}
	return err
}
