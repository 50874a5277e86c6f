package main

import (
	"fmt"
	"strings"

	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/situation"
)

const introduction = `# Errors

<!-- Generated from the table in relay/road/fault by "go generate ./relay/road/fault". Do not edit. -->

When a tool fails, the agent reads a text like this one:

    %s

The first line says what failed; lines that start with ` + "`Next: `" + ` say what to do about it (after a
timeout, ` + "`Suggestion: `" + ` is the tool's own advice); the block at the end has the same facts for programs.
When tabrelay tried more than once, a second text says how often: ` + "`{\"attempts\":3}`" + `.

An error that a plugin threw has only the plugin's own words, without ` + "`outcome`" + ` in the first text and
without a next step. A second text says what became of the action, and has the plugin's hint and data, if any:

    %s

Where steps of the call had been done before it failed, the last text has them, as the answer of
[an act](browser-acting.md#how-it-is-written) would.

The whole error object, with the correlation id, is in ` + "`_meta[\"tabrelay/error\"]`" + ` of the result.

## The fields

| field | meaning |
| --- | --- |
| ` + "`code`" + ` | what failed. Plugins may throw codes of their own; those of tabrelay are below |
| ` + "`category`" + ` | %s |
| ` + "`retryable`" + ` | whether the same call may succeed later |
| ` + "`retryAfterMs`" + ` | how long to wait before that, in milliseconds; at most a day |
| ` + "`outcome`" + ` | whether the action happened: ` + "`not_executed`" + ` it did not; ` +
	"`executed`" + ` the tool ran to its end and returned or threw, so that a part of the action ` +
	`may have happened; ` + "`unknown`" + ` it started, or may have, and its end was not seen: ` +
	`look before repeating it |
| ` + "`attempts`" + ` | how often tabrelay tried |
| ` + "`correlationId`" + ` | finds the call in the log and in the console of the page |
| ` + "`reason`" + ` | of a timeout: ` + "`fixed`" + ` the time was over; ` + "`idle`" + ` no progress came in time; ` +
	"`max_exceeded`" + ` the longest time a call may take was over |
| ` + "`source`" + ` | which part failed: CONFIG, AUTH, UPSTREAM (the web app), TRANSPORT (the link), ` +
	`TIMEOUT, INTERNAL (tabrelay or a plugin has a bug), ` +
	`PROTOCOL (the request was wrong) |
| ` + "`class`" + ` | what tabrelay may do about it: transient (try again where that is safe), ` +
	`protocol, tool, fatal (the link cannot work until something changes) |
| ` + "`type`" + `, ` + "`rpcCode`" + ` | a finer kind, and a number, for clients that know them |

`

const factoriesIntroduction = `## Thrown by plugins

A plugin throws a ` + "`ToolError`" + `;
whatever else it throws becomes ` + "`INTERNAL_ERROR`" + `, with its message kept. The factories set:

| factory | code | category | retryable |
| --- | --- | --- | --- |
`

// page is the reference page for people.
func page() string {
	lost := fault.New(fault.ExtensionLost, "The link was lost after the call was sent")
	lost.Attempts, lost.CorrelationID = 1, "5f1d7a84c0b3e9926a4f8d1c7e05b3a1"
	thrown := fault.Error{Code: fault.RateLimited, FromPage: true, Outcome: fault.NotExecuted}
	var b strings.Builder
	fmt.Fprintf(&b, introduction, strings.ReplaceAll(lost.Text()[0], "\n", "\n    "), thrown.Text()[1],
		"`"+strings.Join(categories, "`, `")+"`")
	situations(&b)
	b.WriteString(factoriesIntroduction)
	for _, f := range factories {
		fmt.Fprintf(&b, "| `ToolError.%s` | `%s` | %s | %s |\n", f.Name, f.Code, f.Category, yes(f.Retryable))
	}
	for _, g := range fault.Groups() {
		fmt.Fprintf(&b, "\n## %s\n", g.Title)
		for _, row := range g.Rows {
			entry(&b, row)
		}
	}
	return strings.ReplaceAll(b.String(), "    \n", "\n")
}

const situationsIntroduction = `## What goes wrong

Every situation that is known, what an agent gets, and what to do then. A failure in a tool result has
` + "`isError`" + `; its number is ` + "`rpcCode`" + `. A JSON-RPC error has the number as its
` + "`code`" + `, and the whole error object as its ` + "`data`" + `.

| when | cause | next step | code | number | retryable |
| --- | --- | --- | --- | --- | --- |
`

func situations(b *strings.Builder) {
	b.WriteString(situationsIntroduction)
	for _, s := range situation.All() {
		fmt.Fprintf(b, "| %s | %s | %s | [`%s`](#%s) | %s | %s |\n",
			s.When, s.Cause, s.NextStep(), s.Code, strings.ToLower(string(s.Code)), where(s), s.Again)
	}
	b.WriteString("\n")
}

// where is what a client sees as a number, and in which place.
func where(s situation.Situation) string {
	legacy, modern := s.Number(false), s.Number(true)
	switch {
	case s.Layer == situation.Unsaid:
		return "no reply"
	case s.Layer == situation.InHTTP:
		return "HTTP 401"
	case s.Layer == situation.InResult:
		return fmt.Sprintf("tool result, %d", legacy)
	case legacy == modern:
		return fmt.Sprintf("JSON-RPC %d", legacy)
	}
	return fmt.Sprintf("JSON-RPC %d, from 2026-07-28 on %d", legacy, modern)
}

func entry(b *strings.Builder, r fault.Row) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n\nNext: %s\n\n", r.Code, r.Situation, r.Hint)
	b.WriteString("| category | retryable | outcome | source | class | type | number |\n| --- | --- | --- | --- | " +
		"--- | " +
		"--- | --- |\n")
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n",
		r.Category, yes(r.Retryable), r.Outcome, r.Source, r.Class, r.Type, number(r))
}

// number is what a client sees as error.code, or as rpcCode where the failure is a tool's result.
func number(r fault.Row) string {
	switch {
	case r.Legacy == 0:
		return fmt.Sprint(r.Source.Number())
	case r.Legacy == r.Modern:
		return fmt.Sprintf("JSON-RPC error %d", r.Legacy)
	}
	return fmt.Sprintf("JSON-RPC error %d, from 2026-07-28 on %d", r.Legacy, r.Modern)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
