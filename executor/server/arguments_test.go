package server

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestMaskedArguments(t *testing.T) {
	got := strings.Join(MaskArguments([]string{"dbmatrix", "run", "--var", "db_password=hush", "--var=api_key=hush", "--var", "rows=5", "--cell", "a=1", "password=x"}), " ")
	if strings.Contains(got, "hush") || !strings.Contains(got, "rows=5") || !strings.HasSuffix(got, "--cell a=1 password=x") {
		t.Errorf("got %s", got)
	}
}

// Who holds a lock is told to every user of the host.
func TestHolderTextHasNoSecret(t *testing.T) {
	args := os.Args
	defer func() { os.Args = args }()
	os.Args = []string{"dbmatrix", "run", "--var", "db_password=hush"}
	if text := holderText(time.Now()); strings.Contains(text, "hush") || !isHolderText([]byte(text)) {
		t.Errorf("the holder is %q", text)
	}
}
