package fault

// Code identifies a failure, for example RATE_LIMITED: ^[A-Z][A-Z0-9_]{0,63}$.
// What each code means, and every other field of a failure that has it, is in the table; see Lookup.
type Code string

// Thrown by adapters, with the SDK's factories; the relay raises some of them too.
const (
	AuthError       Code = "AUTH_ERROR"
	NotFoundCode    Code = "NOT_FOUND"
	RateLimited     Code = "RATE_LIMITED"
	ValidationError Code = "VALIDATION_ERROR"
	TimeoutCode     Code = "TIMEOUT"
	InternalError   Code = "INTERNAL_ERROR"
)

// The life of one call.
const (
	InstanceRequired Code = "INSTANCE_REQUIRED"
	InputTooLarge    Code = "INPUT_TOO_LARGE"
	OutputTooLarge   Code = "OUTPUT_TOO_LARGE"
	InvalidOutput    Code = "INVALID_OUTPUT"
	Overloaded       Code = "OVERLOADED"
	CircuitOpen      Code = "CIRCUIT_OPEN"
	// a call that its client cancelled has no reply; one that the person cancelled has
	Cancelled Code = "CANCELLED"
)

// Tabs and what runs in them.
const (
	TabNotFound     Code = "TAB_NOT_FOUND"
	TabChanged      Code = "TAB_CHANGED"
	TargetChanged   Code = "TARGET_CHANGED"
	TabUnresponsive Code = "TAB_UNRESPONSIVE"
	TabBusy         Code = "TAB_BUSY"
	TabOwned        Code = "TAB_OWNED"
	AdapterNotReady Code = "ADAPTER_NOT_READY"
	InjectionFailed Code = "INJECTION_FAILED"
	PageNotLoaded   Code = "PAGE_NOT_LOADED"
	ToolGone        Code = "TOOL_GONE"
)

// The link between relay and browser.
const (
	ExtensionNotConnected Code = "EXTENSION_NOT_CONNECTED"
	ExtensionLost         Code = "EXTENSION_LOST"
	BrowserNotRunning     Code = "BROWSER_NOT_RUNNING"
	ExtensionNotInstalled Code = "EXTENSION_NOT_INSTALLED"
	WorkerAsleep          Code = "WORKER_ASLEEP"
	ProfileNotConnected   Code = "PROFILE_NOT_CONNECTED"
	VersionMismatch       Code = "VERSION_MISMATCH"
	PairingFailed         Code = "PAIRING_FAILED"
	PortTaken             Code = "PORT_TAKEN"
)

// Decisions of a person, and configuration.
const (
	PermissionDenied  Code = "PERMISSION_DENIED"
	ApprovalDenied    Code = "APPROVAL_DENIED"
	ApprovalTimeout   Code = "APPROVAL_TIMEOUT"
	PluginNotReviewed Code = "PLUGIN_NOT_REVIEWED"
	ConfigError       Code = "CONFIG_ERROR"
	RegistryError     Code = "REGISTRY_ERROR"
)

// Requests that are wrong before any tool runs: JSON-RPC errors.
const (
	ParseError           Code = "PARSE_ERROR"
	InvalidRequest       Code = "INVALID_REQUEST"
	InvalidParams        Code = "INVALID_PARAMS"
	MethodNotFound       Code = "METHOD_NOT_FOUND"
	UnknownTool          Code = "UNKNOWN_TOOL"
	UnknownPrompt        Code = "UNKNOWN_PROMPT"
	PromptFailed         Code = "PROMPT_FAILED"
	InvalidCursor        Code = "INVALID_CURSOR"
	ResourceNotFound     Code = "RESOURCE_NOT_FOUND"
	ResourceUnreadable   Code = "RESOURCE_UNREADABLE"
	NotInitialized       Code = "NOT_INITIALIZED"
	AlreadyInitialized   Code = "ALREADY_INITIALIZED"
	ShuttingDown         Code = "SHUTTING_DOWN"
	ShutdownNotRequested Code = "SHUTDOWN_NOT_REQUESTED"
	UnsupportedVersion   Code = "UNSUPPORTED_VERSION"
	Unauthorized         Code = "UNAUTHORIZED"

	ClientCapabilityMissing Code = "CLIENT_CAPABILITY_MISSING"
)

// Type is the finer kind of a failure, for example file_error.
type Type string

// The types. Not every one has a code of its own: files, redirects and result paths are kinds of other failures.
const (
	TypeNotFound          Type = "not_found"
	TypeValidation        Type = "validation_error"
	TypeInvalidJSON       Type = "invalid_json"
	TypePermissionDenied  Type = "permission_denied"
	TypeFile              Type = "file_error"
	TypeNetwork           Type = "network_error"
	TypeRedirect          Type = "redirect"
	TypeTimeout           Type = "timeout"
	TypeCLI               Type = "cli_error"
	TypeInternal          Type = "internal_error"
	TypePathNotFound      Type = "path_not_found"
	TypeInvalidArrayPath  Type = "invalid_array_path"
	TypeInvalidPathSyntax Type = "invalid_path_syntax"
	TypeOutputTooLarge    Type = "output_too_large"
)
