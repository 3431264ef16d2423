package server

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// leftBehind starts a process that carries a token, as if its runner and its
// guardian were gone.
func leftBehind(t *testing.T, token string) ProcessID {
	t.Helper()
	cmd := exec.Command("/bin/sleep", "60")
	cmd.Env = []string{tokenVariable + token}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reaped := make(chan struct{})
	go func() {
		cmd.Wait() // its parent is this test
		close(reaped)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-reaped
	})
	// Until the program has replaced the test's own, the environment is
	// that of the test.
	id := nameOf(t, cmd.Process.Pid)
	for range 500 {
		if b, _ := os.ReadFile("/proc/" + strconv.Itoa(id.PID) + "/comm"); string(b) == "sleep\n" {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return id
}

func TestOrphans(t *testing.T) {
	root := t.TempDir()
	l := layoutIn(t, root, "a", "")
	made(t, l)
	o, err := l.Owner()
	if err != nil {
		t.Fatal(err)
	}
	id, otherID := leftBehind(t, o.Token), leftBehind(t, NewToken())
	found, err := Orphans(root, root+"/not-there")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].ID != id || found[0].Dir != l.Dir || found[0].Command != "/bin/sleep 60" {
		t.Fatalf("found %+v, want process %d only", found, id.PID)
	}
	if err := found[0].End(context.Background()); err != nil {
		t.Fatal(err)
	}
	if took, ok := gone(id, 5*time.Second); !ok {
		t.Errorf("it still runs after %s", took)
	}
	if !otherID.runs() {
		t.Error("a process of another was ended")
	}
	if err := found[0].End(context.Background()); err != nil {
		t.Errorf("ending it twice: got %v", err)
	}
	// A pid that has come again belongs to another process.
	stale := found[0]
	stale.ID.PID = otherID.PID
	if err := stale.End(context.Background()); err != nil {
		t.Error(err)
	}
	if !otherID.runs() {
		t.Error("a process was ended for its pid alone")
	}
}
