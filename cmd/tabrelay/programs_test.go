//go:build unix

package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"tabrelay/extension"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/state/config"
)

// The programs that a session needs besides tabrelay.

// chrome is a browser with the extension and a tab on the demo site. It reads pairing.json as the extension does, says
// so in the file of its first argument once the relay knows its tab, and reconnects until it is ended. Its profile is
// called CHROME_LABEL, or Chrome 1. Its tools give
// their arguments and their number back: what was done twice shows. Two are special: get_page returns 210 000
// characters, and raising the counter "stuck" returns only when its first call has been given up. A call whose
// arguments say "held" says so in the file with .held at the end of its name, and is answered once there is one with
// .go.
func chrome() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	home, err := config.ResolveHome()
	must(err)
	done := 0
	answer := func(c *hubtest.Call) {
		c.Started()
		if c.Tool == "get_page" {
			c.Progress(1, "half way")
			text := strings.Repeat("The quick brown fox. ", 10_000)
			c.Return(json.RawMessage(`{"title":"Fox","text":"` + text + `"}`))
			return
		}
		done++
		if strings.Contains(string(c.Arguments), "held") {
			go func() {
				must(os.WriteFile(os.Args[1]+".held", []byte("held\n"), 0o600))
				awaitFile(os.Args[1] + ".go")
				c.Return(json.RawMessage(`{"greeting":"Hello after a while","page":"demo","url":""}`))
			}()
			return
		}
		if strings.Contains(string(c.Arguments), `"stuck"`) {
			raised := json.RawMessage(fmt.Sprintf(`{"name":"stuck","value":%d,"asked":%[1]d}`, done))
			if done > 1 {
				c.Return(raised)
				return
			}
			go func() {
				<-c.Cancelled()
				c.Return(raised) // too late for the caller, but the truth
			}()
			return
		}
		c.Return(json.RawMessage(fmt.Sprintf(`{"greeting":"Hello","page":"demo","url":%q,"done":%d}`, c.Tool, done)))
	}
	profile := wire.NewID()
	for ctx.Err() == nil {
		b, err := connectBrowser(ctx, home, profile, answer)
		if err != nil {
			continue
		}
		for known, err := knows(home, profile); err == nil && !known; known, err = knows(home, profile) {
		}
		must(os.WriteFile(os.Args[1], []byte("connected\n"), 0o600))
		select {
		case <-b.Gone():
		case <-ctx.Done():
			b.Close()
			for known, err := knows(home, profile); err == nil && known; known, err = knows(home, profile) {
			}
		}
	}
}

// awaitFile returns when a file is there.
func awaitFile(name string) {
	for {
		if _, err := os.Stat(name); err == nil {
			return
		}
		runtime.Gosched()
	}
}

// knows reports whether the relay has heard of the tabs of a profile that is connected.
func knows(home config.Home, profile string) (bool, error) {
	res, err := join.HTTP(home).Get("http://127.0.0.1/api/v1/tabs")
	if err != nil {
		return false, err
	}
	defer res.Body.Close() // only read from
	text, err := io.ReadAll(res.Body)
	return strings.Contains(string(text), profile), err
}

func connectBrowser(ctx context.Context, home config.Home, profile string,
	answer func(*hubtest.Call)) (*hubtest.Browser, error) {
	text, err := os.ReadFile(filepath.Join(home.Extension(), "pairing.json"))
	if err != nil {
		return nil, err
	}
	var pairing struct{ Address, Secret string }
	if err := json.Unmarshal(text, &pairing); err != nil {
		return nil, err
	}
	var status httpapi.Status
	res, err := join.HTTP(home).Get("http://127.0.0.1/api/v1/status")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() // only read from
	if err := json.NewDecoder(res.Body).Decode(&status); err != nil || res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d: %w", res.StatusCode, err)
	}
	return hubtest.Connect(ctx, hubtest.Options{
		Address: pairing.Address, Secret: pairing.Secret, ExtensionID: extension.ID, Bundle: extension.BundleHash(),
		Label: cmp.Or(os.Getenv("CHROME_LABEL"), "Chrome 1"), ProfileID: profile,
		Tabs: []wire.Tab{{ID: 1, WindowID: 1, URL: status.Demo, Title: "demo", Active: true, Focused: true,
			Status: "complete"}}, Answer: answer,
		Command: func(c *wire.Command) *wire.Reply { // a tab that is opened is the one there is
			return &wire.Reply{ID: c.ID, OK: true,
				Result: json.RawMessage(`{"tabId":1,"windowId":1,"status":"complete"}`)}
		},
	})
}

// agent runs `tabrelay mcp` and talks to it: each argument is a tool to call, or kill to end the relay with a signal
// that it cannot catch, down to stop it, vacant to see that none runs, kill-tree to end every process of its own
// tree, a command of the shell after "$ ", or a tool to begin to call after "begin ", whose answer end waits for. The
// program that it runs is that of TABRELAY_PROGRAM, else tabrelay. With occupy, as the first of them, no relay can
// start until vacate, which waits for the tools to be announced. It prints what each call answered.
func runAgent() {
	var lock *join.InstanceLock
	if os.Args[1] == "occupy" {
		must(resolved().Create())
		var err error
		lock, err = join.AcquireLock(context.Background(), resolved())
		must(err)
	}
	proxy := exec.Command(cmp.Or(os.Getenv("TABRELAY_PROGRAM"), "tabrelay"), "mcp", "--client", "ann")
	proxy.Stderr = os.Stderr
	in, err := proxy.StdinPipe()
	must(err)
	outPipe, err := proxy.StdoutPipe()
	must(err)
	must(proxy.Start())
	out := bufio.NewScanner(outPipe)
	out.Buffer(nil, 16<<20)
	begin := func(id int, method, params string) {
		_, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		must(err)
	}
	end := func() string {
		for out.Scan() {
			if strings.Contains(out.Text(), `"id":`) { // and is no notification
				return out.Text()
			}
		}
		must(errors.New("the proxy says nothing more"))
		return ""
	}
	ask := func(id int, method, params string) string {
		begin(id, method, params)
		return end()
	}
	hello := ask(0, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"ann",`+
		`"version":"1"}}`)
	_, err = fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	must(err)
	for i, word := range os.Args[1:] {
		if command, ok := strings.CutPrefix(word, "$ "); ok {
			shell := exec.Command("sh", "-c", command)
			text, err := shell.CombinedOutput()
			fmt.Printf("%s(%v)\n", text, cmp.Or(err, error(nil)))
			continue
		}
		if tool, ok := strings.CutPrefix(word, "begin "); ok {
			begin(i+1, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, tool))
			continue
		}
		switch word {
		case "end":
			fmt.Println(end())
		case "occupy":
			fmt.Println(hello)
		case "vacate":
			must(lock.Release())
			for out.Scan() && !strings.Contains(out.Text(), "notifications/tools/list_changed") {
			}
			fmt.Println(out.Text())
		case "kill":
			state, err := join.ReadState(resolved())
			must(err)
			must(syscall.Kill(state.PID, syscall.SIGKILL))
			fmt.Println("killed the relay")
		case "down":
			must(exec.Command("tabrelay", "down").Run())
			fmt.Println("stopped the relay")
		case "vacant":
			if !join.LockFree(resolved()) {
				must(fmt.Errorf("a relay runs"))
			}
			fmt.Println("no relay runs")
		case "kill-tree":
			killTree(proxy.Process.Pid)
			fmt.Println("killed the tree")
		default:
			fmt.Println(ask(i+1, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, word)))
		}
	}
	_ = in.Close()   // the proxy may have been killed
	_ = proxy.Wait() // as above
}

// packages answers every request with the file of its first argument, or with that of the path in this folder, and
// names itself to npm in the file of its second.
func packages() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	must(os.WriteFile(os.Args[2], []byte("registry=http://"+listener.Addr().String()+"\n"), 0o600))
	must(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		file := os.Args[1]
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			file = filepath.Join(file, path.Base(req.URL.Path))
		}
		http.ServeFile(w, req, file)
	})))
}

func resolved() config.Home {
	home, err := config.ResolveHome()
	must(err)
	return home
}

// killTree ends a process, its children and theirs, as clients do when they close.
func killTree(pid int) {
	children, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range children {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if parent, err := strconv.Atoi(fields[1]); err == nil && parent == pid {
			child, err := strconv.Atoi(strings.Split(file, "/")[2])
			must(err)
			killTree(child)
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended meanwhile
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
