//go:build linux || darwin

package pgtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// superuser is the database user that owns everything.
const superuser = "discreet"

// Postgres is a running server.
type Postgres struct {
	bin, dir string
	who      *syscall.Credential // nil: the present user
	guard    *exec.Cmd
	stdin    io.Closer
	log      *os.File
}

// Memory is a directory in memory with room for a server, empty where there is
// none.
func Memory() string {
	const dir, room = "/dev/shm", 1 << 30
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil || uint64(s.Bavail)*uint64(s.Bsize) < room {
		return ""
	}
	return dir
}

// Start makes a database cluster in a new directory within base, that of temporary
// files if it is empty, and starts its server.
func Start(base string) (*Postgres, error) {
	p := &Postgres{}
	var err error
	if p.bin, err = findBinaries(); err != nil {
		return nil, err
	}
	if p.who, err = unprivileged(); err != nil {
		return nil, err
	}
	if p.dir, err = os.MkdirTemp(base, "pg"); err != nil { // short: it holds a socket
		return nil, err
	}
	if p.who != nil {
		if err := os.Chown(p.dir, int(p.who.Uid), int(p.who.Gid)); err != nil {
			return nil, err
		}
	}
	if out, err := p.command("initdb", "-D", p.data(), "-A", "trust", "-U", superuser, "-E", "UTF8", "--no-locale", "--no-sync").CombinedOutput(); err != nil {
		os.RemoveAll(p.dir)
		return nil, fmt.Errorf("%w: initdb: %v: %s", ErrUnavailable, err, out)
	}
	if err := p.Restart(); err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

func (p *Postgres) data() string { return filepath.Join(p.dir, "data") }

// findBinaries returns the directory of the newest installed server.
func findBinaries() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	slices.SortFunc(found, func(a, b string) int { return version(a) - version(b) })
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", fmt.Errorf("%w: no postgres in /usr/lib/postgresql/*/bin or on the PATH; install the package postgresql", ErrUnavailable)
}

func version(path string) int {
	n, _ := strconv.Atoi(strings.Split(path, "/")[4])
	return n
}

// unprivileged is whom the server runs as.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errU := strconv.ParseUint(u.Uid, 10, 32)
		gid, errG := strconv.ParseUint(u.Gid, 10, 32)
		if errU == nil && errG == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: true}, nil
		}
	}
	return nil, fmt.Errorf("%w: it refuses to run as root, and there is no user postgres or nobody", ErrUnavailable)
}

func (p *Postgres) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(p.bin, name), args...)
	p.dress(c)
	return c
}

func (p *Postgres) dress(c *exec.Cmd) {
	c.Dir = p.dir
	c.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=" + os.Getenv("PATH")}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: p.who, Setpgid: true}
}

// guardScript runs the server and ends it at once when its own input ends, which it does
// when the process that started it is gone.
const guardScript = `"$@" & server=$!; read line; kill -QUIT $server 2>/dev/null; wait $server`

// Restart starts the server, after Kill, and waits until it answers.
func (p *Postgres) Restart() error {
	os.Remove(filepath.Join(p.data(), "postmaster.pid"))
	log, err := os.OpenFile(filepath.Join(p.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	c := exec.Command("/bin/sh", "-c", guardScript, "sh", filepath.Join(p.bin, "postgres"), "-D", p.data(), "-k", p.dir,
		"-c", "listen_addresses=", "-c", "max_connections=400", "-c", "shared_buffers=32MB")
	p.dress(c)
	c.Stdout, c.Stderr = log, log
	if p.stdin, err = c.StdinPipe(); err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("%w: %v", ErrUnavailable, err)
	}
	p.guard, p.log = c, log
	return p.wait()
}

func (p *Postgres) wait() error {
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = p.exec("postgres", "SELECT 1"); err == nil {
			return nil
		}
	}
	text, _ := os.ReadFile(filepath.Join(p.dir, "log"))
	return fmt.Errorf("%w: the server does not answer: %v: %s", ErrUnavailable, err, bytes.TrimSpace(text))
}

// URL is that of a database of the server.
func (p *Postgres) URL(database string) string {
	return fmt.Sprintf("postgres://%s@/%s?host=%s&sslmode=disable", superuser, database, p.dir)
}

func (p *Postgres) exec(database, sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, p.URL(database))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// NewSchema makes an empty schema and returns a URL that leads into it: to a
// ledger it is a database of its own, at a tenth of the time.
func (p *Postgres) NewSchema() (string, error) {
	name := "t" + strings.ToLower(rand.Text()[:12])
	if err := p.exec("postgres", "CREATE SCHEMA "+name); err != nil {
		return "", err
	}
	return p.URL("postgres") + "&search_path=" + name, nil
}

// NewTablespace is NewSchema with the tables' pages in a directory of their own,
// which the server's user is given.
func (p *Postgres) NewTablespace(dir string) (string, error) {
	if p.who != nil {
		if err := os.Chown(dir, int(p.who.Uid), int(p.who.Gid)); err != nil {
			return "", err
		}
	}
	url, err := p.NewSchema()
	if err != nil {
		return "", err
	}
	name := "s" + strings.ToLower(rand.Text()[:12])
	if err := p.exec("postgres", fmt.Sprintf("CREATE TABLESPACE %s LOCATION '%s'", name, dir)); err != nil {
		return "", err
	}
	return url + "&default_tablespace=" + name, nil
}

// Kill ends the server at once, as if its process had crashed: clients lose their
// connections, and Restart recovers from the write-ahead log.
func (p *Postgres) Kill() error {
	text, err := os.ReadFile(filepath.Join(p.data(), "postmaster.pid"))
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil {
		return err
	}
	p.end()
	return nil
}

func (p *Postgres) end() {
	if p.guard == nil {
		return
	}
	p.stdin.Close()
	p.guard.Wait()
	p.log.Close()
	p.guard = nil
}

// Stop ends the server and removes its files.
func (p *Postgres) Stop() {
	p.end()
	os.RemoveAll(p.dir)
}

// Deadlocks is how many the server of the URL has counted in its database. A session tells of
// its own when it ends, so this waits until it is the only one.
func Deadlocks(ctx context.Context, url string) (n int, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	for others := 1; others > 0; {
		err := conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`).Scan(&others)
		if err != nil {
			return 0, err
		}
	}
	err = conn.QueryRow(ctx, `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`).Scan(&n)
	return n, err
}
