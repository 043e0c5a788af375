package e2e

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// insideVariable names the test that runs in namespaces of its own.
const insideVariable = "TIERGRID_E2E_INSIDE"

// inNamespaces runs a test in new namespaces of the kernel, as their root, in a
// process of its own: there it may change the network or mount a file system, and
// nothing of that is seen outside. It returns true in there. Outside it waits for
// the result and returns false.
func inNamespaces(t *testing.T, kinds uintptr) bool {
	t.Helper()
	if os.Getenv(insideVariable) == t.Name() {
		return true
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), insideVariable+"="+t.Name(), "TIERGRID_BIN="+binary)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: kinds, Pdeathsig: syscall.SIGKILL}
	if uid := os.Getuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("in namespaces of its own: %v\n%s", err, out)
	}
	return false
}
