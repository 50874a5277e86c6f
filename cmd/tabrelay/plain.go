package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Exit codes of --plain and of scripts: what became of a call that failed.
const (
	exitNotExecuted = 3
	exitRetryable   = 4 // whatever the outcome: doing it again does no harm
	exitUnknown     = 5
	exitExecuted    = 6
)

// exitOf is the exit code for a failure.
func exitOf(f *fault.Error) int {
	switch {
	case f.Retryable:
		return exitRetryable
	case f.Outcome == fault.Unknown:
		return exitUnknown
	case f.Outcome == fault.Executed:
		return exitExecuted
	}
	return exitNotExecuted // the relay refuses what it says nothing else of
}

// printPlain prints what an agent reads of an answer, and nothing around it.
func (a *app) printPlain(answer httpapi.Answer) error {
	if answer.Error != nil {
		a.failPlainly(strings.Join(answer.Text, "\n"))
		return silent(exitOf(answer.Error))
	}
	if answer.Content == nil {
		return a.printValue(answer.Output)
	}
	text, pictures, ok := shown(answer.Content)
	if !ok {
		return a.printContent(answer.Content)
	}
	return a.printShown(text, pictures, "--save FILE keeps it")
}

// refusedPlainly is a request that the relay refused, as a call that failed.
func (a *app) refusedPlainly(refused *fault.Error) error {
	a.failPlainly(refused.Plain())
	return silent(exitOf(refused))
}

// failPlainly writes a failure as it is: a model needs no wrapped lines.
func (a *app) failPlainly(text string) { _, _ = fmt.Fprintln(a.err, visible(text)) }

// printValue prints a text as it is, and any other value as JSON in one line.
func (a *app) printValue(value json.RawMessage) error {
	var text string
	if json.Unmarshal(value, &text) == nil {
		_, err := fmt.Fprintln(a.out, visible(text))
		return err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, value); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.out, a.forTerminal(line.String()))
	return err
}

// printContent prints what is more than text and pictures: a line of JSON for each item.
func (a *app) printContent(content []call.Content) error {
	for _, item := range content {
		if err := a.printValue(item); err != nil {
			return err
		}
	}
	return nil
}

// visible is a text without what a terminal obeys or nobody sees.
func visible(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = fault.Visible(strings.ReplaceAll(line, "\t", "    "))
	}
	return strings.Join(lines, "\n")
}
