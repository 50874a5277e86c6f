package worker

import (
	"context"
	"encoding/json"
)

// stdiobus is the dialect of the workers of stdiobus: four requests, and no word of the program's own.
type stdiobus struct{ agent string }

// Its methods. They have the names of those of the Agent Client Protocol, and other parameters.
const (
	busNew    = "session/new"
	busPrompt = "session/prompt"
	busClose  = "session/close"
	busCancel = "session/cancel"
)

type busSession struct {
	SessionID string `json:"sessionId"`
}

func (b stdiobus) open(ctx context.Context, p *program, _ string, _ Tools) (string, error) {
	answer, err := p.conn.request(ctx, busNew, map[string]string{"agentId": b.agent})
	if err != nil {
		return "", err
	}
	var made busSession
	if json.Unmarshal(answer, &made) != nil || made.SessionID == "" {
		return "", badReply{"there is no sessionId in it"}
	}
	return made.SessionID, nil
}

func (stdiobus) sees() bool { return false }

func (stdiobus) prompt(ctx context.Context, s *Session, _ *turn, one Turn) (Reply, error) {
	answer, err := s.program.conn.request(ctx, busPrompt, map[string]string{"sessionId": s.id, "input": one.Text})
	if err != nil {
		return Reply{}, err
	}
	var said struct {
		Text       *string `json:"text"`
		StopReason string  `json:"stopReason"`
		RequestID  string  `json:"requestId"`
		Usage      *struct {
			Input  int `json:"inputTokens"`
			Output int `json:"outputTokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return Reply{}, badReply{"its members have the wrong types"}
	}
	if said.Text == nil || said.StopReason == "" {
		return Reply{}, badReply{"there is no text, or no stopReason, in it"}
	}
	reply := Reply{Text: *said.Text, StopReason: said.StopReason, RequestID: said.RequestID}
	if said.Usage != nil {
		reply.Usage = &Usage{Input: said.Usage.Input, Output: said.Usage.Output}
	}
	return reply, nil
}

// cancel asks the program to end a turn. Whether it does is seen by the turn's own answer.
func (stdiobus) cancel(s *Session) {
	ctx, stop := context.WithTimeout(context.Background(), lateTime)
	defer stop()
	_, _ = s.program.conn.request(ctx, busCancel, busSession{s.id})
}

func (stdiobus) end(ctx context.Context, s *Session) {
	_, _ = s.program.conn.request(ctx, busClose, busSession{s.id}) // it is over for us in any case
}
