package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// doc is a line of docs.jsonl.
type doc struct {
	ID   string `json:"id"`
	Conv string `json:"conv"`
	Text string `json:"text"`
	Date string `json:"date"`
}

// query is a line of queries.jsonl, with its facets.
type query struct {
	ID   string `json:"id"`
	Conv string `json:"conv"`
	Text string `json:"text"`
	Cat  string `json:"cat"`

	facets map[string]map[string]bool // documents by facet
}

// dataset is one folder.
type dataset struct {
	name    string
	convs   []string // in the order of the file
	docs    map[string][]doc
	queries map[string][]*query
}

// findSets returns dir, or those of its sub-folders, that hold a data set.
func findSets(dir string) ([]string, error) {
	var sets []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	candidates := []string{dir}
	for _, e := range entries {
		candidates = append(candidates, filepath.Join(dir, e.Name()))
	}
	for _, c := range candidates {
		if _, err := os.Stat(filepath.Join(c, "docs.jsonl")); err == nil {
			sets = append(sets, c)
		}
	}
	return sets, nil
}

// readSet reads a folder.
func readSet(dir string) (*dataset, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &dataset{name: filepath.Base(abs), docs: map[string][]doc{}, queries: map[string][]*query{}}
	err = eachLine(filepath.Join(dir, "docs.jsonl"), func(line []byte) error {
		var d doc
		if err := json.Unmarshal(line, &d); err != nil {
			return err
		}
		if d.ID == "" || d.Text == "" {
			return errors.New("a document without id or text")
		}
		if !slices.Contains(s.convs, d.Conv) {
			s.convs = append(s.convs, d.Conv)
		}
		s.docs[d.Conv] = append(s.docs[d.Conv], d)
		return nil
	})
	if err != nil {
		return nil, err
	}
	facets := map[string]map[string]map[string]bool{}
	err = eachLine(filepath.Join(dir, "qrels.tsv"), func(line []byte) error {
		f := bytes.Split(line, []byte("\t"))
		if len(f) != 3 {
			return errors.New("not three columns")
		}
		q, facet, d := string(f[0]), string(f[1]), string(f[2])
		if facets[q] == nil {
			facets[q] = map[string]map[string]bool{}
		}
		if facets[q][facet] == nil {
			facets[q][facet] = map[string]bool{}
		}
		facets[q][facet][d] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = eachLine(filepath.Join(dir, "queries.jsonl"), func(line []byte) error {
		q := &query{}
		if err := json.Unmarshal(line, q); err != nil {
			return err
		}
		if q.facets = facets[q.ID]; len(q.facets) > 0 && q.Cat != "adversarial" {
			s.queries[q.Conv] = append(s.queries[q.Conv], q)
		}
		return nil
	})
	return s, err
}

// eachLine calls f for each line that is not empty.
func eachLine(path string, f func([]byte) error) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no data set: %w", err)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewScanner(file)
	in.Buffer(nil, 16<<20)
	for n := 1; in.Scan(); n++ {
		line := bytes.TrimSpace(in.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := f(line); err != nil {
			return fmt.Errorf("%s, line %d: %w", path, n, err)
		}
	}
	return in.Err()
}

// dateForms are the forms in which a date may be written.
var dateForms = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02",
	"3:04 pm on 2 January, 2006", "2006年1月2日 15:04", "2006年1月2日"}

// when reads a document's date. Undated documents follow one another by the minute.
func (d doc) when(place int) time.Time {
	for _, f := range dateForms {
		if t, err := time.Parse(f, d.Date); err == nil {
			return t
		}
	}
	return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(place) * time.Minute)
}
