// Validate says whether the MCP registry would take a server.json. Go counts this module among the registry's, whose
// name its own begins with, and so lets it use what is internal there.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/registry/internal/validators"
	apiv0 "github.com/modelcontextprotocol/registry/pkg/api/v0"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	var server apiv0.ServerJSON
	if err := json.Unmarshal(text, &server); err != nil {
		fail(err)
	}
	result := validators.ValidateServerJSON(&server, validators.ValidationAll)
	for _, issue := range result.Issues {
		fmt.Fprintf(os.Stderr, "%s: %s: %s\n", issue.Severity, issue.Path, issue.Message)
	}
	if !result.Valid || len(result.Issues) > 0 {
		fail(fmt.Errorf("%s is not valid", os.Args[1]))
	}
	fmt.Printf("%s: the registry takes it\n", os.Args[1])
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}
