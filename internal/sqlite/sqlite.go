package sqlite

import (
	"database/sql"
	"net/url"
	"path/filepath"
	"strings"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Open opens the file at the path, which is there already, for reading and writing, with
// parameters of the driver: _pragma, _txlock. A value of the file may have so many bytes, or as
// many as SQLite admits where that is 0. It connects at the first use.
func Open(path string, parameters url.Values, longest int) (*sql.DB, error) {
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(path))
	c, err := driver.NewConnector("file:" + escaped + "?mode=rw&" + parameters.Encode())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(keeping{c, func(c *sql.Conn) error {
		if longest == 0 {
			return nil
		}
		_, err := driver.Limit(c, sqlite3.SQLITE_LIMIT_LENGTH, longest)
		return err
	}}), nil
}
