package builtin

import (
	"context"
	"encoding/json"

	"tabrelay/relay/call"
	"tabrelay/relay/doctor"
	"tabrelay/relay/fault"
	"tabrelay/relay/plugin"
	"tabrelay/relay/registry"
)

func (s *Sources) doctorTool() registry.Tool {
	return registry.Tool{
		Name: "relay__doctor", Unqueued: true,
		Spec: plugin.Tool{
			Name: "doctor", DisplayName: "Doctor",
			Description: "Looks for what is wrong with the relay, its browsers, plugins and clients. Each finding " +
				"has a cause and a next step, most of them for the person.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
			OutputSchema: json.RawMessage(
				`{"type":"object","required":["sound","findings"],"properties":{"sound":{"type":"boolean","description":"Nothing is a problem."},
				"findings":{"type":"array","items":{"type":"object","required":["id","severity","what"],"properties":{"id":{"type":"string"},"severity":{"enum":["ok","warning","problem"]},
				"what":{"type":"string"},"why":{"type":"string"},"next":{"type":"string"}}}}}}`),
			Annotations: plugin.Annotations{ReadOnlyHint: &yes, OpenWorldHint: &no},
		},
		Run: answering(s.examine),
	}
}

// Diagnosis is what the doctor found.
type Diagnosis struct {
	Sound    bool             `json:"sound"`
	Findings []doctor.Finding `json:"findings"`
}

func (s *Sources) examine(ctx context.Context, _ call.Call, _ struct{}) (Diagnosis, *fault.Error) {
	found := s.Findings(ctx)
	d := Diagnosis{Sound: doctor.Sound(found), Findings: []doctor.Finding{}}
	for _, f := range found {
		for _, text := range []*string{&f.What, &f.Why, &f.Next} {
			*text = fault.Plain(s.Catalog.Public(*text))
		}
		d.Findings = append(d.Findings, f)
	}
	return d, nil
}
