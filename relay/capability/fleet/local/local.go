// Package local is the NATS server of a fleet that is tried on one machine: in this process, at a port of this machine,
// with credentials that let a gateway and a node do what they have to, and nothing else.
package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/road/fault"
)

const (
	serverMemory = 16 << 20 // of JetStream; the server's own default is three quarters of the machine's
	serverDisk   = 256 << 20
	serverStart  = 10 * time.Second
	// replyTime is how long a node may answer a request: a call that waits for the person, for as long as they are
	// asked.
	replyTime = 2 * time.Hour
)

// Server is the server, which runs until Stop.
type Server struct {
	server *server.Server
	URL    string
	Folder string
}

// GatewayKey is the file with the seed of a gateway, and NodeKey that of a node.
func (l *Server) GatewayKey(name string) string {
	return filepath.Join(l.Folder, "gateway-"+name+".nk")
}

// NodeKey is the file with the seed of a node.
func (l *Server) NodeKey(name string) string { return filepath.Join(l.Folder, "node-"+name+".nk") }

// Start starts a server for gateways and nodes of these names, at a port of this machine; 0: a free one. What it keeps
// is in folder.
func Start(folder string, gateways, nodes []string, port int) (*Server, error) {
	l := &Server{Folder: folder}
	if err := diskfile.MakeFolder(folder); err != nil {
		return nil, err
	}
	var users []*server.NkeyUser
	add := func(file string, may *server.Permissions) error {
		key, err := keyIn(file)
		users = append(users, &server.NkeyUser{Nkey: key, Permissions: may})
		return err
	}
	var err error
	for _, name := range gateways {
		err = errors.Join(err, add(l.GatewayKey(name), gatewayPermissions(name)))
	}
	for _, name := range nodes {
		err = errors.Join(err, add(l.NodeKey(name), nodePermissions(name)))
	}
	if err != nil {
		return nil, err
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	l.server, err = server.NewServer(&server.Options{
		ServerName: "tabrelay", Host: "127.0.0.1", Port: port, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: filepath.Join(folder, "server"), SyncAlways: true,
		JetStreamMaxMemory: serverMemory, JetStreamMaxStore: serverDisk,
		MaxPayload: wire.MaxMessage, PingInterval: 10 * time.Second, MaxPingsOut: 2,
		Nkeys: users,
	})
	if err != nil {
		return nil, fmt.Errorf("the NATS server cannot be made: %w", err)
	}
	go l.server.Start()
	if !l.server.ReadyForConnections(serverStart) || l.server.Addr() == nil {
		l.Stop()
		return nil, fault.Hinted(errors.New("the NATS server does not listen on 127.0.0.1:"+strconv.Itoa(port)),
			"another program may have the port: give another one with --port")
	}
	if !l.server.JetStreamEnabled() {
		l.Stop()
		return nil, errors.New("the NATS server cannot keep its directory in " + folder)
	}
	l.URL = "nats://" + l.server.Addr().String()
	return l, nil
}

// Stop stops the server.
func (l *Server) Stop() {
	l.server.Shutdown()
	l.server.WaitForShutdown()
}

// keyIn is the public key of the seed in a file, which is made where there is none.
func keyIn(file string) (public string, err error) {
	text, err := os.ReadFile(file)
	var pair nkeys.KeyPair
	switch {
	case err == nil:
		pair, err = nkeys.FromSeed(text)
	case errors.Is(err, os.ErrNotExist):
		if pair, err = nkeys.CreateUser(); err != nil {
			return "", err
		}
		if text, err = pair.Seed(); err != nil {
			return "", err
		}
		err = diskfile.Write(file, text, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("cannot use the key in %s: %w", file, err)
	}
	return pair.PublicKey()
}

const stream = "KV_" + wire.Bucket

// gatewayPermissions let a gateway ask every node under its own name, and read the directory.
func gatewayPermissions(name string) *server.Permissions {
	return &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{
			wire.RequestSubject("*", name, "*"), "$JS.API.INFO", "$JS.API.STREAM.*." + stream,
			"$JS.API.CONSUMER.*." + stream, "$JS.API.CONSUMER.*." + stream + ".>",
			"$JS.API.DIRECT.GET." + stream + ".>",
			"$JS.ACK." + stream + ".>", "$JS.FC." + stream + ".>",
		}},
		Subscribe: &server.SubjectPermission{Allow: []string{wire.Inbox(name) + ".>"}},
	}
}

// nodePermissions let a node hear its requests, answer them, and write its own entry of the directory.
func nodePermissions(name string) *server.Permissions {
	return &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{
			"$KV." + wire.Bucket + "." + name, "$JS.API.STREAM.INFO." + stream,
		}},
		Subscribe: &server.SubjectPermission{Allow: []string{wire.NodeSubject(name), wire.NodeInbox(name) + ".>"}},
		Response:  &server.ResponsePermission{MaxMsgs: -1, Expires: replyTime},
	}
}
