package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Answer is what POST /chat gives in one piece.
type Answer struct {
	// ID is the input's; Text the final answer.
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Chat sends a message, such as {"text": …}, and waits for its whole answer. The
// error of a turn that failed holds the event's data; where the stream ends
// before the answer, the Answer has what came of it, the input's ID first.
func (c *Client) Chat(ctx context.Context, message any) (a Answer, err error) {
	s, err := c.Stream(ctx, http.MethodPost, "chat", message)
	if err != nil {
		return a, err
	}
	defer s.Close()
	for {
		ev, err := s.Next()
		if err != nil {
			return a, err
		}
		switch ev.Name {
		case "accepted", "final":
			if err := json.Unmarshal(ev.Data, &a); err != nil || ev.Name == "final" {
				return a, err
			}
		case "error":
			return a, fmt.Errorf("%s", ev.Data)
		}
	}
}
