package situation

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"tabrelay/relay/road/fault"
)

// reference is the contract in short, written down apart from the table so that a slip in one shows:
// situation | code | type | category | source | class | retryable | layer | number up to 2025-11-25, from 2026-07-28.
// For a tool's result the number is rpcCode.
const reference = `
malformed-json | PARSE_ERROR | invalid_json | validation | PROTOCOL | protocol | no | JSON-RPC error | -32700 -32700
batch-array | INVALID_REQUEST | validation_error | validation | PROTOCOL | protocol | no | JSON-RPC error | -32600 -32600
missing-method | INVALID_REQUEST | validation_error | validation | PROTOCOL | protocol | no | JSON-RPC error | -32600 -32600
before-initialize | NOT_INITIALIZED | validation_error | validation | PROTOCOL | protocol | no | JSON-RPC error | -32000 -31001
second-initialize | ALREADY_INITIALIZED | validation_error | validation | PROTOCOL | protocol | no | JSON-RPC error | -32600 -32600
work-while-stopping | SHUTTING_DOWN | internal_error | internal | TRANSPORT | transient | yes | JSON-RPC error | -32003 -31003
exit-before-shutdown | SHUTDOWN_NOT_REQUESTED | validation_error | validation | PROTOCOL | protocol | no | JSON-RPC error | -32005 -32600
unknown-method | METHOD_NOT_FOUND | not_found | not_found | PROTOCOL | protocol | no | JSON-RPC error | -32601 -32601
method-in-minimal-mode | METHOD_NOT_FOUND | not_found | not_found | PROTOCOL | protocol | no | JSON-RPC error | -32601 -32601
unknown-tool | UNKNOWN_TOOL | not_found | validation | PROTOCOL | protocol | no | JSON-RPC error | -32602 -32602
unknown-prompt | UNKNOWN_PROMPT | not_found | validation | PROTOCOL | protocol | no | JSON-RPC error | -32602 -32602
bad-cursor | INVALID_CURSOR | validation_error | validation | PROTOCOL | protocol | no | JSON-RPC error | -32602 -32602
unknown-resource | RESOURCE_NOT_FOUND | not_found | not_found | UPSTREAM | tool | no | JSON-RPC error | -32002 -32602
unsupported-version | UNSUPPORTED_VERSION | validation_error | validation | PROTOCOL | fatal | no | JSON-RPC error | -32602 -32022
wrong-token | UNAUTHORIZED | permission_denied | auth | AUTH | fatal | no | HTTP status | -32003 -32003
arguments-do-not-fit | VALIDATION_ERROR | validation_error | validation | PROTOCOL | tool | no | tool result | -32000 -32000
rule-forbids | PERMISSION_DENIED | permission_denied | auth | CONFIG | tool | no | tool result | -32004 -32004
not-connected | EXTENSION_NOT_CONNECTED | network_error | internal | TRANSPORT | transient | yes | tool result | -32000 -32000
link-lost | EXTENSION_LOST | network_error | internal | TRANSPORT | transient | when the tool is read-only or idempotent | tool result | -32000 -32000
tab-missing | TAB_NOT_FOUND | not_found | not_found | UPSTREAM | tool | no | tool result | -32002 -32002
tab-navigated | TAB_CHANGED | not_found | not_found | UPSTREAM | tool | no | tool result | -32002 -32002
target-changed | TARGET_CHANGED | not_found | not_found | UPSTREAM | tool | no | tool result | -32002 -32002
adapter-not-ready | ADAPTER_NOT_READY | network_error | internal | TRANSPORT | transient | yes | tool result | -32000 -32000
page-not-loaded | PAGE_NOT_LOADED | network_error | internal | UPSTREAM | tool | yes | tool result | -32002 -32002
page-tool-gone | TOOL_GONE | not_found | not_found | UPSTREAM | tool | no | tool result | -32002 -32002
page-signed-out | AUTH_ERROR | permission_denied | auth | AUTH | tool | no | tool result | -32003 -32003
deadline-fixed | TIMEOUT | timeout | timeout | TIMEOUT | transient | when the tool is read-only or idempotent | tool result | -32001 -32001
deadline-idle | TIMEOUT | timeout | timeout | TIMEOUT | transient | when the tool is read-only or idempotent | tool result | -32001 -32001
deadline-maximum | TIMEOUT | timeout | timeout | TIMEOUT | transient | when the tool is read-only or idempotent | tool result | -32001 -32001
relay-overloaded | OVERLOADED | network_error | rate_limit | TRANSPORT | transient | yes | tool result | -32000 -32000
not-configured | CONFIG_ERROR | internal_error | validation | CONFIG | tool | no | tool result | -32004 -32004
arguments-too-large | INPUT_TOO_LARGE | validation_error | validation | UPSTREAM | tool | no | tool result | -32002 -32002
output-too-large | OUTPUT_TOO_LARGE | output_too_large | validation | UPSTREAM | tool | no | tool result | -32002 -32002
output-not-valid | INVALID_OUTPUT | internal_error | internal | INTERNAL | tool | no | tool result | -32603 -32603
tool-unusable | REGISTRY_ERROR | internal_error | internal | INTERNAL | tool | no | tool result | -32603 -32603
breaker-open | CIRCUIT_OPEN | network_error | internal | TRANSPORT | transient | yes | tool result | -32000 -32000
relay-bug | INTERNAL_ERROR | internal_error | internal | INTERNAL | tool | no | tool result | -32603 -32603
browser-closed | BROWSER_NOT_RUNNING | network_error | internal | TRANSPORT | transient | yes | tool result | -32000 -32000
never-connected | EXTENSION_NOT_INSTALLED | network_error | internal | TRANSPORT | transient | yes | tool result | -32000 -32000
worker-asleep | WORKER_ASLEEP | network_error | internal | TRANSPORT | transient | yes | tool result | -32000 -32000
profile-not-connected | PROFILE_NOT_CONNECTED | network_error | internal | TRANSPORT | transient | yes | tool result | -32000 -32000
versions-differ | VERSION_MISMATCH | validation_error | internal | TRANSPORT | fatal | no | tool result | -32000 -32000
wrong-pairing | PAIRING_FAILED | permission_denied | auth | TRANSPORT | fatal | no | tool result | -32000 -32000
port-taken | PORT_TAKEN | network_error | internal | CONFIG | transient | no | tool result | -32004 -32004
tab-of-another-agent | TAB_OWNED | permission_denied | auth | CONFIG | tool | yes | tool result | -32004 -32004
person-said-no | APPROVAL_DENIED | permission_denied | auth | CONFIG | tool | no | tool result | -32004 -32004
person-did-not-answer | APPROVAL_TIMEOUT | permission_denied | auth | CONFIG | tool | yes | tool result | -32004 -32004
plugin-not-reviewed | PLUGIN_NOT_REVIEWED | permission_denied | auth | CONFIG | tool | no | tool result | -32004 -32004
instance-needed | INSTANCE_REQUIRED | validation_error | validation | PROTOCOL | tool | no | tool result | -32000 -32000
`

func TestSituationsAreTheContract(t *testing.T) {
	for line := range strings.Lines(strings.TrimSpace(reference)) {
		id, _, _ := strings.Cut(line, " | ")
		s, ok := Find(id)
		if !ok {
			t.Errorf("there is no situation %s", id)
			continue
		}
		row, _ := fault.Lookup(s.Code)
		got := fmt.Sprintf("%s | %s | %s | %s | %s | %s | %s | %s | %d %d", id, s.Code, row.Type, row.Category,
			s.Source(),
			row.Class, s.Again, s.Layer, s.Number(false), s.Number(true))
		if want := strings.TrimSpace(line); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestSituationsAreComplete(t *testing.T) {
	form := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen, used := map[string]bool{}, map[fault.Code]bool{}
	for _, s := range All() {
		if !form.MatchString(s.ID) || seen[s.ID] {
			t.Errorf("the id %q is not one, or is there twice", s.ID)
		}
		seen[s.ID], used[s.Code] = true, true
		row, ok := fault.Lookup(s.Code)
		if !ok {
			t.Errorf("%s: the code %s is not in the table", s.ID, s.Code)
		}
		if s.When == "" || s.Cause == "" || s.NextStep() == "" || s.Again == "" || s.Layer == "" {
			t.Errorf("%s: something is not said: %+v", s.ID, s)
		}
		if strings.ContainsAny(s.When+s.Cause+s.NextStep(), "|\n") {
			t.Errorf("%s: a text would break the table of the documentation", s.ID)
		}
		if s.Layer == InProtocol && (row.Legacy == 0 || row.Modern == 0) {
			t.Errorf("%s: a protocol error without a number", s.ID)
		}
		if modern := s.Number(true); s.Layer == InProtocol && modern >= -32019 && modern <= -32000 {
			t.Errorf("%s: the number %d is not to be used from 2026-07-28 on", s.ID, modern)
		}
	}
	for _, row := range fault.Table() {
		if !used[row.Code] {
			t.Errorf("%s: no situation leads to it; add one to table.go", row.Code)
		}
	}
}
