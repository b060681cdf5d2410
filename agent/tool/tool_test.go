package tool_test

import (
	"encoding/json"
	"testing"

	"homeagent/agent/tool"
)

func TestCallAlwaysMarshals(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"object", `{"a": 1}`, `{"id":"1","name":"n","args":{"a":1}}`},
		{"none", ``, `{"id":"1","name":"n","args":null}`},
		{"cut off", `{"a": `, `{"id":"1","name":"n","args":"{\"a\": "}`},
		{"words", `on`, `{"id":"1","name":"n","args":"on"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var args json.RawMessage
			if tt.args != "" {
				args = json.RawMessage(tt.args)
			}
			got, err := json.Marshal([]tool.Call{{ID: "1", Name: "n", Args: args}})
			if err != nil || string(got) != "["+tt.want+"]" {
				t.Fatalf("got %s, %v", got, err)
			}
		})
	}
}
