// Package codes has the failures of delegated agents: their codes, what each means, and when it happens.
package codes

import "tabrelay/relay/road/fault"

// Delegated agents: sessions, providers, workers.
const (
	AgentNotFound       fault.Code = "AGENT_NOT_FOUND"
	AgentFailed         fault.Code = "AGENT_FAILED"
	SessionNotFound     fault.Code = "SESSION_NOT_FOUND"
	SessionCapacity     fault.Code = "SESSION_CAPACITY"
	SessionBusy         fault.Code = "SESSION_BUSY"
	ExecutorNotStarted  fault.Code = "EXECUTOR_NOT_STARTED"
	WorkerStartFailed   fault.Code = "WORKER_START_FAILED"
	WorkerBadReply      fault.Code = "WORKER_BAD_REPLY"
	WorkerFailed        fault.Code = "WORKER_FAILED"
	WorkerTimeout       fault.Code = "WORKER_TIMEOUT"
	ProviderAuth        fault.Code = "PROVIDER_AUTH"
	ProviderBadRequest  fault.Code = "PROVIDER_BAD_REQUEST"
	ProviderError       fault.Code = "PROVIDER_ERROR"
	ProviderUnreachable fault.Code = "PROVIDER_UNREACHABLE"
	ProviderUnknown     fault.Code = "PROVIDER_UNKNOWN"
	BudgetExceeded      fault.Code = "BUDGET_EXCEEDED"
)

// Group is their table.
var Group = fault.Group{Title: "Delegated agents", Rows: []fault.Row{
	{Code: AgentNotFound, Category: fault.NotFound, Source: fault.SourceUpstream,
		Class: fault.Tool, Type: fault.TypeNotFound, Outcome: fault.NotExecuted,
		Situation: "No delegated agent has that id.",
		Hint:      "Call agents_discover and use one of its ids."},
	{Code: AgentFailed, Category: fault.Internal, Source: fault.SourceUpstream,
		Class: fault.Tool, Type: fault.TypeInternal, Outcome: fault.Executed,
		Situation: "A delegated agent ended with a failure.",
		Hint:      "Check what it has done so far before delegating the task again."},
	{Code: SessionNotFound, Category: fault.NotFound, Source: fault.SourceUpstream,
		Class: fault.Tool, Type: fault.TypeNotFound, Outcome: fault.NotExecuted,
		Situation: "No session has that id: it was closed, or it expired.",
		Hint:      "Create a new session with sessions_create."},
	{Code: SessionCapacity, Category: fault.NotFound, Source: fault.SourceUpstream,
		Class: fault.Tool, Type: fault.TypeNotFound, Outcome: fault.NotExecuted,
		Situation: "No more sessions can be open at once.",
		Hint:      "Close a session that is no longer needed, then create the new one."},
	{Code: SessionBusy, Category: fault.Validation, Source: fault.SourceUpstream,
		Class: fault.Tool, Type: fault.TypeValidation, Retryable: true, Outcome: fault.NotExecuted,
		Situation: "The session is still answering an earlier prompt.",
		Hint:      "Wait for that answer or cancel it, then repeat the call."},
	{Code: ExecutorNotStarted, Category: fault.Internal, Source: fault.SourceInternal,
		Class: fault.Tool, Type: fault.TypeInternal, Outcome: fault.NotExecuted,
		Situation: "An agent was prompted in a session that it has not opened.",
		Hint:      "Create a new session with sessions_create."},
	{Code: WorkerStartFailed, Category: fault.Internal, Source: fault.SourceTransport,
		Class: fault.Tool, Type: fault.TypeCLI, Outcome: fault.NotExecuted,
		Situation: "A worker program did not start. It does not recover by itself.",
		Hint:      "Ask the person to check the worker's command in the configuration."},
	{Code: WorkerBadReply, Category: fault.Internal, Source: fault.SourceUpstream,
		Class: fault.Tool, Type: fault.TypeCLI, Outcome: fault.Unknown,
		Situation: "A worker program answered with something that is not a valid reply.",
		Hint:      "Check what it has done before repeating the task; the relay's log has its answer."},
	{Code: WorkerFailed, Category: fault.Internal, Source: fault.SourceUpstream,
		Class: fault.Tool, Type: fault.TypeCLI, Outcome: fault.Executed,
		Situation: "A worker program reported a failure, or ended.",
		Hint:      "Check what it has done before repeating the task."},
	{Code: WorkerTimeout, Category: fault.Timeout, Source: fault.SourceTransport,
		Class: fault.Transient, Type: fault.TypeTimeout, Retryable: true, Outcome: fault.Unknown,
		Situation: "A worker program did not answer in time.",
		Hint:      "Check what it has done before repeating the task, or allow it more time."},
	{Code: ProviderAuth, Category: fault.Auth, Source: fault.SourceAuth,
		Class: fault.Tool, Type: fault.TypePermissionDenied, Outcome: fault.NotExecuted,
		Situation: "A model provider refused the key.",
		Hint:      "Ask the person to check the provider's key in the configuration."},
	{Code: ProviderBadRequest, Category: fault.Validation, Source: fault.SourceUpstream,
		Class: fault.Tool, Type: fault.TypeValidation, Outcome: fault.NotExecuted,
		Situation: "A model provider rejected the request as wrong.",
		Hint:      "Correct what the message names: the model, a parameter or the length of the prompt."},
	{Code: ProviderError, Category: fault.Internal, Source: fault.SourceUpstream,
		Class: fault.Transient, Type: fault.TypeNetwork, Retryable: true, Outcome: fault.NotExecuted,
		Situation: "A model provider failed or is overloaded.",
		Hint:      "Wait as long as retryAfterMs says, then repeat the call."},
	{Code: ProviderUnreachable, Category: fault.Internal, Source: fault.SourceTransport,
		Class: fault.Transient, Type: fault.TypeNetwork, Retryable: true, Outcome: fault.Unknown,
		Situation: "A model provider could not be reached.",
		Hint:      "Repeat the call; if it fails again, ask the person to check the network."},
	{Code: ProviderUnknown, Category: fault.Internal, Source: fault.SourceUpstream,
		Class: fault.Tool, Type: fault.TypeInternal, Outcome: fault.Unknown,
		Situation: "A model provider failed in a way that fits nothing else.",
		Hint:      "Read the message; do not repeat the call unchanged."},
	{Code: BudgetExceeded, Category: fault.RateLimit, Source: fault.SourceConfig,
		Class: fault.Tool, Type: fault.TypeValidation, Outcome: fault.NotExecuted,
		Situation: "What an errand, or all errands of a day, may take is used up.",
		Hint: "Delegate a smaller errand or allow it more in its budget; the person sets the most with `delegation` " +
			"in config.json."},
}}
