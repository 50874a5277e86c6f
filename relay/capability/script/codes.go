package script

import (
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/situation"
)

// Failures of scripts.
const (
	scriptFailed fault.Code = "SCRIPT_FAILED"
	scriptLimit  fault.Code = "SCRIPT_LIMIT"
)

var codes = fault.Group{Title: "Scripts", Rows: []fault.Row{
	{Code: scriptFailed, Category: fault.Validation, Source: fault.SourceUpstream, Class: fault.Tool,
		Type: fault.TypeValidation, Outcome: fault.NotExecuted,
		Situation: "A script of relay__run is no program, or threw an error that it did not catch. The outcome is " +
			"that of its calls that change something: unknown if one of them is, executed if one was executed.",
		Hint: "Correct the script at the place that the message names."},
	{Code: scriptLimit, Category: fault.Validation, Source: fault.SourceUpstream, Class: fault.Tool,
		Type: fault.TypeValidation, Outcome: fault.NotExecuted,
		Situation: "A script of relay__run needs more time, memory, calls or room for its answer than a script has, " +
			"or its process ended. The outcome is as of SCRIPT_FAILED.",
		Hint: "Do less in one script: fewer records, less in memory, a shorter answer."},
}}

var situations = []situation.Situation{
	{ID: "script-fails", Code: scriptFailed, Layer: situation.InResult, Again: situation.No,
		When:  "a script is no program, or throws an error that it does not catch",
		Cause: "The agent wrote it wrongly, or one of its calls failed in a way that it did not expect."},
	{ID: "script-needs-too-much", Code: scriptLimit, Layer: situation.InResult, Again: situation.No,
		When:  "a script computes for too long, needs too much memory, makes too many calls or returns too much",
		Cause: "It does too much at once, or has an endless loop."},
}
