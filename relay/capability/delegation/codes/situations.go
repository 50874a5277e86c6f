package codes

import (
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/situation"
)

// Situations are when they happen.
var Situations = []situation.Situation{
	{ID: "agent-unknown", Code: AgentNotFound, Layer: situation.InResult, Again: situation.No,
		When: "no delegated agent has the id", Cause: "It is misspelt, or no longer configured."},
	{ID: "agent-failed", Code: AgentFailed, Layer: situation.InResult, Again: situation.No,
		When:  "a delegated agent ends with a failure",
		Cause: "What it was told cannot be done, or it met an error it could not pass."},
	{ID: "session-unknown", Code: SessionNotFound, Layer: situation.InResult, Again: situation.No,
		When: "no session has the id", Cause: "It was closed, or it expired."},
	{ID: "sessions-full", Code: SessionCapacity, Layer: situation.InResult, Again: situation.No,
		When: "no more sessions can be open", Cause: "Earlier ones were not closed."},
	{ID: "session-busy", Code: SessionBusy, Layer: situation.InResult, Again: situation.Yes,
		When: "the session is still answering", Cause: "One prompt at a time."},
	{ID: "delegation-off", Code: ExecutorNotStarted, Layer: situation.InResult, Again: situation.No,
		When: "an agent is prompted in a session that it has not opened", Cause: "A bug in the relay."},
	{ID: "worker-does-not-start", Code: WorkerStartFailed, Layer: situation.InResult, Again: situation.No,
		When: "a worker program does not start", Cause: "Its command is wrong, or it is not installed."},
	{ID: "worker-bad-reply", Code: WorkerBadReply, Layer: situation.InResult, Again: situation.No,
		When:  "a worker answers with something that is not a reply",
		Cause: "It speaks another protocol, or its own wrongly."},
	{ID: "worker-failed", Code: WorkerFailed, Layer: situation.InResult, Again: situation.No,
		When: "a worker reports a failure, or ends",
		Cause: "What it was told cannot be done, it crashed, or it was ended because it wrote other things than " +
			"messages to its output."},
	{ID: "worker-slow", Code: WorkerTimeout, Layer: situation.InResult, Again: situation.Yes,
		When: "a worker does not answer in time", Cause: "The task is large, or it hangs."},
	{ID: "provider-refuses-key", Code: ProviderAuth, Layer: situation.InResult, Again: situation.No,
		When: "a model provider answers 401 or 403", Cause: "The key is wrong, or may not use this model."},
	{ID: "provider-refuses-request", Code: ProviderBadRequest, Layer: situation.InResult, Again: situation.No,
		When: "a model provider answers 400", Cause: "The model's name, a parameter or the length of the prompt is " +
			"wrong."},
	{ID: "provider-rate-limit", Code: fault.RateLimited, Layer: situation.InResult, Again: situation.Yes,
		When: "a model provider answers 429", Cause: "Too many requests, or the quota is used up."},
	{ID: "provider-down", Code: ProviderError, Layer: situation.InResult, Again: situation.Yes,
		When: "a model provider answers 5xx", Cause: "It failed or is overloaded."},
	{ID: "provider-unreachable", Code: ProviderUnreachable, Layer: situation.InResult, Again: situation.Yes,
		When: "a model provider cannot be reached", Cause: "The network, a proxy or its address."},
	{ID: "provider-slow", Code: fault.TimeoutCode, Layer: situation.InResult, Again: situation.Yes,
		When: "a model provider does not answer in time", Cause: "A long answer, or an overloaded provider."},
	{ID: "provider-odd", Code: ProviderUnknown, Layer: situation.InResult, Again: situation.No,
		When: "a model provider fails in a way that fits nothing else", Cause: "Its message says more."},
	{ID: "errand-used-its-calls", Code: BudgetExceeded, Layer: situation.InResult, Again: situation.No,
		When:  "a delegated agent calls more tools than its errand may",
		Cause: "The errand is too large, or the agent goes round in circles."},
	{ID: "day-used-its-money", Code: BudgetExceeded, Layer: situation.InResult, Again: situation.No,
		When:  "the errands of a day have cost as much as they may",
		Cause: "`delegation.costPerDayUsd` in config.json."},
}
