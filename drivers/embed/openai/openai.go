package openai

import (
	"fmt"

	"homeagent/drivers/embed/rest"
)

// DefaultURL and DefaultModel are OpenAI's own.
const (
	DefaultURL   = "https://api.openai.com/v1"
	DefaultModel = "text-embedding-3-small"
)

// request is what is sent.
type request struct {
	Model  string   `json:"model"`
	Input  []string `json:"input"`
	Format string   `json:"encoding_format"`
}

// New makes an embedder; zero BaseURL and Model are the defaults. It opens no
// connection.
func New(cfg rest.Config) (*rest.Client, error) {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultURL
		if cfg.Model == "" {
			cfg.Model = DefaultModel
		}
	}
	return rest.New(Dialect(), cfg)
}

// Dialect is how OpenAI is spoken to.
func Dialect() rest.Dialect {
	return rest.Dialect{
		Kind: "openai", Path: "embeddings", Parse: parse,
		Request: func(model string, texts []string) any { return request{model, texts, "float"} },
	}
}

// parse reads an answer into the order of the texts.
func parse(body []byte, n int) ([][]float32, error) {
	var a struct {
		Data []struct {
			Index     *int      `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := rest.Strict(body, &a); err != nil {
		return nil, err
	}
	if len(a.Data) != n {
		return nil, fmt.Errorf("%d vectors for %d texts", len(a.Data), n)
	}
	out := make([][]float32, n)
	for _, d := range a.Data {
		switch {
		case d.Index == nil || *d.Index < 0 || *d.Index >= n:
			return nil, fmt.Errorf("a vector has no place among %d", n)
		case out[*d.Index] != nil:
			return nil, fmt.Errorf("place %d is given twice", *d.Index)
		case len(d.Embedding) == 0:
			return nil, fmt.Errorf("place %d is empty", *d.Index)
		}
		out[*d.Index] = d.Embedding
	}
	return out, nil
}
