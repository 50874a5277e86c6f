package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"tabrelay/relay"
	"tabrelay/relay/fault"
	"tabrelay/relay/policy"
)

// Whatever lets agents do more, a person confirms: in tabrelay's side panel when one is open, else here, at the terminal
// that controls this process. stdin says nothing about that: a program can make it anything.

// errUnconfirmed is that a person did not confirm a change.
var errUnconfirmed = errors.New("nothing was changed: it was not confirmed")

// errNobody is that nobody could be asked.
var errNobody = errors.New("nothing was changed: this lets agents do more")

// unconfirmed is the relay's answer that a person has to confirm a change first.
type unconfirmed struct{ relay.Unconfirmed }

func (u *unconfirmed) Error() string { return u.Unconfirmed.Error.Message }

// Hint is the next step.
func (u *unconfirmed) Hint() string { return u.Unconfirmed.Error.Hint }

// controlling is the terminal that controls this process, for questions that only a person may answer.
type controlling struct{ in, out *os.File }

// openControlling opens it. Its error says that there is none.
func openControlling() (*controlling, error) {
	in, out, err := openConsole()
	if err != nil {
		return nil, err
	}
	c := &controlling{in, out}
	if !isTerminal(in) {
		c.close()
		return nil, fmt.Errorf("%s is no terminal", in.Name())
	}
	return c, nil
}

func (c *controlling) close() {
	_ = c.in.Close() // only read from
	if c.out != c.in {
		_ = c.out.Close() // what it shows is there
	}
}

// hasTerminal reports whether a person could confirm something here.
func hasTerminal() bool {
	c, err := openControlling()
	if err != nil {
		return false
	}
	c.close()
	return true
}

// printf shows something to the person, whatever stdout and stderr are.
func (c *controlling) printf(format string, args ...any) { fmt.Fprintf(c.out, format, args...) }

// line waits for a line that the person types. No line is an empty one.
func (c *controlling) line(ctx context.Context) string {
	typed := make(chan string, 1)
	go func() { // until the process ends: a read of a terminal cannot be called back
		line, _ := bufio.NewReader(c.in).ReadString('\n') // the end of what can be typed is no answer
		typed <- strings.TrimSpace(line)
	}()
	select {
	case line := <-typed:
		return line
	case <-ctx.Done():
		return ""
	}
}

// confirmHere lets the person confirm a change at the controlling terminal. nil: they did.
func (a *app) confirmHere(ctx context.Context, c *policy.Change) error {
	if c == nil {
		return nil
	}
	t, err := openControlling()
	if err != nil {
		next := "open tabrelay's side panel and run it again"
		if c.Beside {
			next = "answer in tabrelay's side panel"
		}
		if c.Command != "" {
			next += ", or run in a terminal of your own: " + c.Command
		} else {
			next += ", or run it in a terminal of your own"
		}
		return failed("%w (%s), and there is no terminal to confirm it at", errNobody, fault.Sanitize(c.String())).hinting(next)
	}
	defer t.close()
	t.printf("%s\nType %s to allow this: ", fit(t.out, strings.Join(c.Lines(), "\n")), policy.Word)
	if !strings.EqualFold(t.line(ctx), policy.Word) {
		return failed("%w", errUnconfirmed).hinting("run it again and type " + policy.Word)
	}
	return nil
}
