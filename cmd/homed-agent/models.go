package main

import (
	"os"
	"path/filepath"
)

// modelsDir is the first usual folder that holds speech models; where there is
// none, the one that tools/setup would fill, so that errors name it.
func modelsDir(configured string) string {
	if configured != "" {
		return configured
	}
	if dir := os.Getenv("HOMEAGENT_MODELS"); dir != "" {
		return dir
	}
	const installed = "/usr/share/homeagent/models"
	if _, err := os.Stat(installed); err == nil {
		return installed
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return installed
	}
	return filepath.Join(cache, "homeagent", "models")
}
