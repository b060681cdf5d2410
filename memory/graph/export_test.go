package graph

import (
	"strconv"
	"time"
)

// ImpatientOptions wait only for the given time when another program holds the file.
func ImpatientOptions(wait time.Duration) Options { return Options{busy: wait} }

// LimitPages lets the file grow by so many pages more only.
func (g *Graph) LimitPages(room int) error {
	var pages int
	if err := g.write.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		return err
	}
	_, err := g.write.Exec("PRAGMA max_page_count = " + strconv.Itoa(pages+room))
	return err
}

// SpoilIndex empties the index and claims that other rules cut its terms.
func (g *Graph) SpoilIndex() error {
	_, err := g.write.Exec("DELETE FROM postings; DELETE FROM terms; UPDATE meta SET value = '0' WHERE key = 'token_version'")
	return err
}

// LargeOptions take every file for a large one.
func LargeOptions() Options { return Options{checkUpTo: 1} }

// KeepLog keeps everything from now on in the log.
func (g *Graph) KeepLog() error {
	_, err := g.write.Exec("PRAGMA wal_autocheckpoint = 0")
	return err
}
