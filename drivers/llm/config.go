package llm

import (
	"fmt"
	"net/url"
	"strings"
)

// Config names one model. The zero values of BaseURL and Model are the kind's own.
type Config struct {
	// Kind is "deepseek", "openai", or "ollama" (by its OpenAI-style interface).
	Kind string
	// BaseURL is the part before /chat/completions, with or without a slash at the end.
	BaseURL string
	Model   string
	// Thinking asks DeepSeek to reason first. Other servers are not told.
	Thinking bool
	// Key is the API key itself, "" for servers that want none.
	Key string
}

// preset holds what a kind means when the configuration is silent.
var presets = map[string]Config{
	"deepseek": {BaseURL: "https://api.deepseek.com", Model: "deepseek-flash"},
	"openai":   {BaseURL: "https://api.openai.com/v1", Model: "gpt-5-mini"},
	"ollama":   {BaseURL: "http://127.0.0.1:11434/v1"},
}

// fill completes a configuration and checks it.
func (c Config) fill() (Config, error) {
	p, ok := presets[c.Kind]
	if !ok {
		return c, fmt.Errorf("llm: kind %q is not known; use deepseek, openai or ollama", c.Kind)
	}
	if c.BaseURL == "" {
		c.BaseURL = p.BaseURL
	}
	if c.Model == "" {
		c.Model = p.Model
	}
	if c.Model == "" {
		return c, fmt.Errorf("llm: %s needs the name of a model", c.Kind)
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return c, fmt.Errorf("llm: base_url %q is no web address; it looks like https://api.deepseek.com", c.BaseURL)
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	if strings.ContainsAny(c.Key, "\r\n") {
		return c, fmt.Errorf("llm: the key for %s holds a line break; set it again", c.Kind)
	}
	return c, nil
}
