package buildroot

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// externalPath finds what follows the variable that names the external tree, up
// to whatever ends a path in a defconfig, a make file or a Config.in.
var externalPath = regexp.MustCompile(`\$(?:\(BR2_EXTERNAL_HOMEAGENT_PATH\)|\{BR2_EXTERNAL_HOMEAGENT_PATH\}|BR2_EXTERNAL_HOMEAGENT_PATH)([A-Za-z0-9_./*+-]*)`)

// Paths checks that every path below the external tree's variable exists. One
// with a * must match something.
func Paths(root fs.FS) ([]Problem, error) {
	var out []Problem
	err := fs.WalkDir(root, "buildroot", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		lines, err := readLines(root, file)
		if err != nil {
			return err
		}
		for _, l := range lines {
			for _, m := range externalPath.FindAllStringSubmatch(l.text, -1) {
				name := path.Join("buildroot", m[1])
				found, err := fs.Glob(root, name)
				if err != nil || len(found) == 0 {
					out = append(out, Problem{file, l.no, name + " does not exist"})
				}
			}
		}
		return nil
	})
	return sorted(out), err
}

// assignment is a simple one of a package's make file.
var assignment = regexp.MustCompile(`^([A-Z0-9_]+)\s*[:?]?=\s*(.*)$`)

// reference is a use of a make variable.
var reference = regexp.MustCompile(`\$\(([A-Z0-9_]+)\)`)

// makeVars are a make file's simple variables, references among them put in.
func makeVars(root fs.FS, file string) (map[string]string, error) {
	lines, err := readLines(root, file)
	if err != nil {
		return nil, err
	}
	vars := map[string]string{}
	for _, l := range lines {
		if m := assignment.FindStringSubmatch(l.text); m != nil {
			vars[m[1]] = m[2]
		}
	}
	for range 4 { // a version in a source in a site: more is not nested here
		for k, v := range vars {
			vars[k] = reference.ReplaceAllStringFunc(v, func(ref string) string {
				if put, ok := vars[ref[2:len(ref)-1]]; ok {
					return put
				}
				return ref
			})
		}
	}
	return vars, nil
}

var sum = regexp.MustCompile(`^sha256  [0-9a-f]{64}  \S+$`)

// Hashes checks that each package's .hash file is well-formed and has the source
// that is fetched, what is fetched besides it, and the licence files.
func Hashes(root fs.FS) ([]Problem, error) {
	folders, err := fs.Glob(root, "buildroot/package/*")
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, folder := range folders {
		name := path.Base(folder)
		mk := path.Join(folder, name+".mk")
		vars, err := makeVars(root, mk)
		if err != nil {
			return nil, err
		}
		has, bad, err := readHashes(root, path.Join(folder, name+".hash"))
		if err != nil {
			return nil, err
		}
		out = append(out, bad...)
		for _, want := range hashed(strings.ToUpper(strings.ReplaceAll(name, "-", "_")), name, vars) {
			if !has[want] {
				out = append(out, Problem{mk, 0, fmt.Sprintf("%s is not in %s.hash", want, name)})
			}
		}
	}
	return sorted(out), nil
}

// hashed are the files that a package's .hash must have.
func hashed(prefix, name string, vars map[string]string) []string {
	out := strings.Fields(vars[prefix+"_LICENSE_FILES"])
	out = append(out, strings.Fields(vars[prefix+"_EXTRA_DOWNLOADS"])...)
	if vars[prefix+"_SITE_METHOD"] == "local" {
		return out
	}
	source := vars[prefix+"_SOURCE"]
	if source == "" {
		source = name + "-" + vars[prefix+"_VERSION"] + ".tar.gz"
	}
	return append(out, source)
}

// readHashes reads a .hash file; a missing one has nothing.
func readHashes(root fs.FS, file string) (map[string]bool, []Problem, error) {
	has := map[string]bool{}
	if _, err := fs.Stat(root, file); err != nil {
		return has, nil, nil // a package of our own source has none
	}
	lines, err := readLines(root, file)
	if err != nil {
		return nil, nil, err
	}
	var bad []Problem
	for _, l := range lines {
		if isComment(l.text) {
			continue
		}
		if !sum.MatchString(l.text) {
			bad = append(bad, Problem{file, l.no, "want `sha256  64 hexadecimal digits  file`"})
			continue
		}
		has[strings.Fields(l.text)[2]] = true
	}
	return has, bad, nil
}
