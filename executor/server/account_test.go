package server

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"dbmatrix/matrix"
)

// nobody returns an account that is not that of the tests, which only root may
// act as.
func nobody(t *testing.T) *account {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root changes users")
	}
	a, err := accountFor(&matrix.Server{Name: "s", User: "nobody"}, mariadb())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAccountReach(t *testing.T) {
	a := nobody(t)
	root, err := os.MkdirTemp("", "reach")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	closed := filepath.Join(root, "closed")
	inside := filepath.Join(closed, "inside")
	if err := os.MkdirAll(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := a.reach(filepath.Join(root, "not", "there", "yet")); err != nil {
		t.Errorf("an open directory: got %v", err)
	}
	for _, dir := range []string{closed, inside, filepath.Join(inside, "new")} {
		err := a.reach(dir)
		if err == nil || !strings.Contains(err.Error(), closed+" is closed to it") || !strings.Contains(err.Error(), "chmod o+x "+closed) {
			t.Errorf("%s: got %v", dir, err)
		}
	}
}

// A link that leads nowhere is no closed directory.
func TestAccountReachDangling(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/no/such/place", link); err != nil {
		t.Fatal(err)
	}
	a := &account{name: "nobody"}
	if err := a.reach(filepath.Join(link, "data")); err == nil || !strings.Contains(err.Error(), link+" is a symbolic link to /no/such/place") {
		t.Errorf("got %v", err)
	}
}

func TestAccountFor(t *testing.T) {
	if os.Geteuid() != 0 {
		me, err := user.Current()
		if err != nil {
			t.Fatal(err)
		}
		if a, err := accountFor(&matrix.Server{User: me.Username}, mariadb()); a != nil || err != nil {
			t.Errorf("oneself: got %v, %v", a, err)
		}
		if _, err := accountFor(&matrix.Server{User: "root"}, mariadb()); err == nil {
			t.Error("another user was taken")
		}
		return
	}
	if u, err := firstUser([]string{"no-such-user-here", "nobody"}); err != nil || u.Username != "nobody" {
		t.Errorf("the second of two users: got %v, %v", u, err)
	}
	tests := []struct{ user, want string }{
		{"no-such-user-here", `useradd --system --no-create-home no-such-user-here`},
		{"root", "cannot run as root"},
	}
	for _, tt := range tests {
		if _, err := accountFor(&matrix.Server{Name: "s", User: tt.user}, mariadb()); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.user, err, tt.want)
		}
	}
}
