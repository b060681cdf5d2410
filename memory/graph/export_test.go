package graph

// LimitPages lets the file grow by a few pages more only.
func (g *Graph) LimitPages() error {
	var pages int
	if err := g.write.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		return err
	}
	_, err := g.write.Exec("PRAGMA max_page_count = " + itoa(pages+8))
	return err
}

// SpoilIndex empties the index and claims that other rules cut its terms.
func (g *Graph) SpoilIndex() error {
	_, err := g.write.Exec("DELETE FROM postings; DELETE FROM terms; UPDATE meta SET value = '0' WHERE key = 'token_version'")
	return err
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}
