package sqlfile

import "context"

// Scrub has what is deleted from now on overwritten with zeros, until Close,
// and moves the write-ahead log, which holds pages as they were, into the file.
// Called before and after a deletion it leaves nothing of what was deleted.
// Where somebody reads meanwhile the log goes later, at the latest with Close.
func (f *File) Scrub(ctx context.Context) error {
	conn, err := f.Write.Conn(ctx)
	if err != nil {
		return f.Plain(err)
	}
	defer conn.Close()
	for _, pragma := range []string{"PRAGMA secure_delete = ON", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := conn.ExecContext(ctx, pragma); err != nil {
			return f.Plain(err)
		}
	}
	return nil
}
