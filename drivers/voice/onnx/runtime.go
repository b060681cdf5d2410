package onnx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	ort "github.com/yalue/onnxruntime_go"

	"homeagent/drivers/voice/speech"
)

// one is the process's runtime. The binding keeps one environment for the
// process; this only makes that visible and safe.
var one struct {
	sync.Mutex
	rt *Runtime
}

// Runtime is the loaded ONNX Runtime.
type Runtime struct {
	path    string
	threads int
}

// Library finds the runtime's shared library in a models folder:
// onnxruntime/libonnxruntime.so*, the last by name where there are several.
func Library(modelsDir string) (string, error) {
	pattern := filepath.Join(modelsDir, "onnxruntime", "libonnxruntime.so*")
	found, err := filepath.Glob(pattern)
	if err != nil {
		return "", fmt.Errorf("find ONNX Runtime: %w", err)
	}
	found = slices.DeleteFunc(found, func(s string) bool { return filepath.Ext(s) == ".part" })
	if len(found) == 0 {
		return "", missing("ONNX Runtime (" + pattern + ")")
	}
	return found[len(found)-1], nil
}

// Open loads the shared library. threads is how many cores one model may
// use, 1 to 8. The runtime stays for the process's life. A second Open with
// another path or thread count is an error.
func Open(library string, threads int) (*Runtime, error) {
	if threads < 1 || threads > 8 {
		return nil, fmt.Errorf("onnx runtime: %d threads are outside 1 to 8", threads)
	}
	one.Lock()
	defer one.Unlock()
	if r := one.rt; r != nil {
		if r.path != library || r.threads != threads {
			return nil, fmt.Errorf("onnx runtime: %s is loaded already", r.path)
		}
		return r, nil
	}
	if err := present(library); err != nil {
		return nil, err
	}
	// The library reports its use to its makers, from the moment it is loaded,
	// unless its environment forbids it; its own call comes too late for that
	// and is made all the same.
	if err := os.Setenv("ORT_DISABLE_TELEMETRY", "1"); err != nil {
		return nil, fmt.Errorf("load ONNX Runtime: %w", err)
	}
	ort.SetSharedLibraryPath(library)
	if err := ort.InitializeEnvironment(ort.WithLogLevelFatal()); err != nil {
		return nil, fmt.Errorf("load ONNX Runtime: %w", err)
	}
	if err := ort.DisableTelemetry(); err != nil {
		return nil, fmt.Errorf("load ONNX Runtime: %w", err)
	}
	one.rt = &Runtime{path: library, threads: threads}
	return one.rt, nil
}

// Version is the loaded library's version.
func (r *Runtime) Version() string { return ort.GetVersion() }

// missing says what is not installed and which command brings it.
func missing(what string) error {
	return fmt.Errorf("%s: %w; run tools/setup (请运行 tools/setup)", what, speech.ErrMissing)
}

func present(file string) error {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return missing(file)
	} else if err != nil {
		return err
	}
	return nil
}

// session loads a model whose inputs and outputs have these names. They are
// given, not asked of the file, because asking loads it a second time.
func (r *Runtime) session(file string, in, out []string, threads int) (*ort.DynamicAdvancedSession, error) {
	if err := present(file); err != nil {
		return nil, err
	}
	o, err := ort.NewSessionOptions()
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", filepath.Base(file), err)
	}
	defer o.Destroy()
	err = errors.Join(
		o.SetIntraOpNumThreads(min(threads, r.threads)),
		o.SetInterOpNumThreads(1),
		// Without the arena every tensor is mapped and unmapped: 8 times the CPU.
		o.SetCpuMemArena(true),
		o.SetMemPattern(false),
		// Waiting threads would burn the other cores of a small board.
		o.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"),
	)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", filepath.Base(file), err)
	}
	s, err := ort.NewDynamicAdvancedSession(file, in, out, o)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", filepath.Base(file), err)
	}
	return s, nil
}
