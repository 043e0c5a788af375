package e2e

import (
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// nodeFolder is where the scripts that use clients of Node.js stand, and the lock
// file that pins these clients.
const nodeFolder = "testdata/node"

// installNodeClients installs the clients as pinned, once for each lock file, in
// the user's cache directory, and returns where they are.
func installNodeClients(t *testing.T) string {
	t.Helper()
	lock, err := os.ReadFile(filepath.Join(nodeFolder, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir() // whoever has no home installs more often
	}
	dir := filepath.Join(cache, "tiergrid-e2e", fmt.Sprintf("node-%x", sha256.Sum256(lock))[:21])
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	fresh := dir + fmt.Sprintf(".%d", os.Getpid())
	defer os.RemoveAll(fresh)
	if err := os.MkdirAll(fresh, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		copyFile(t, filepath.Join(nodeFolder, name), filepath.Join(fresh, name))
	}
	mustRunTool(t, "", "npm", "ci", "--prefix", fresh, "--ignore-scripts", "--no-audit", "--no-fund")
	if err := os.Rename(fresh, dir); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	return dir
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestNodeClients runs what Node.js programs use, with nothing configured but the
// address and the user.
func TestNodeClients(t *testing.T) {
	t.Parallel()
	modules := filepath.Join(installNodeClients(t), "node_modules")
	for _, script := range []string{"ioredis.js", "noderedis.js"} {
		for name, s := range map[string]*server{"open": startServer(t), "guarded": guardedServer(t)} {
			t.Run(name+" "+script, func(t *testing.T) {
				t.Parallel()
				host, port, _ := net.SplitHostPort(s.resp)
				args := []string{"NODE_PATH=" + modules, "node", filepath.Join(nodeFolder, script), host, port}
				if name == "guarded" {
					args = append(args, "app", "app")
				}
				if got := mustRunTool(t, "", "env", args...); got != "ok\n" {
					t.Errorf("it says %q", got)
				}
			})
		}
	}
}
