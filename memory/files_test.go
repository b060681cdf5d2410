package memory_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	_ "github.com/mattn/go-sqlite3"
)

// version changes a SQLite file as another program's version would have left it.
func version(path string, schema int, statement string) (err error) {
	db, err := sql.Open("sqlite3", (&url.URL{Scheme: "file", Opaque: path}).String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if schema > 0 {
		statement = fmt.Sprint("PRAGMA user_version = ", schema)
	}
	_, err = db.Exec(statement)
	return err
}
