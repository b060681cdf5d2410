package ollama

import (
	"errors"

	"homeagent/drivers/embed/rest"
)

// DefaultURL is where Ollama listens on the same computer.
const DefaultURL = "http://127.0.0.1:11434"

// request is what is sent.
type request struct {
	Model    string   `json:"model"`
	Input    []string `json:"input"`
	Truncate bool     `json:"truncate"`
}

// New makes an embedder; the zero BaseURL is DefaultURL. It opens no connection.
func New(cfg rest.Config) (*rest.Client, error) {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultURL
	}
	return rest.New(Dialect(), cfg)
}

// Dialect is how Ollama is spoken to.
func Dialect() rest.Dialect {
	return rest.Dialect{
		Kind: "ollama", Path: "api/embed", Parse: parse,
		Request: func(model string, texts []string) any { return request{model, texts, true} },
	}
}

// parse reads an answer.
func parse(body []byte, _ int) ([][]float32, error) {
	var a struct {
		Embeddings [][]float32 `json:"embeddings"`
		Error      string      `json:"error"`
	}
	if err := rest.Strict(body, &a); err != nil {
		return nil, err
	}
	if a.Error != "" {
		return nil, errors.New(a.Error)
	}
	return a.Embeddings, nil
}
