package executor

import (
	"strings"
	"testing"

	"dbmatrix/matrix"

	"github.com/google/go-cmp/cmp"
)

func TestMaskedEnvironment(t *testing.T) {
	h := newHarness(t)
	defer h.close()
	definition := oneServer + `
phase "p" {
  env = { API_TOKEN = "hush", CLIENTS = "4" }
  ` + do("work") + `
}`
	e := &executor{plan: h.plan(definition)}
	env := []string{"API_TOKEN=hush", "CLIENTS=4", "DBMATRIX_TOKEN=abc"}
	masked := maskEnv(env)
	if diff := cmp.Diff([]string{"API_TOKEN=" + matrix.Masked("API_TOKEN", "hush"), "CLIENTS=4", "DBMATRIX_TOKEN=abc"}, masked); diff != "" {
		t.Errorf("masked (-want +got):\n%s", diff)
	}
	if strings.Contains(strings.Join(masked, " "), "hush") {
		t.Error("the secret is there")
	}
	back, lost := e.unmaskEnv(masked)
	if diff := cmp.Diff(env, back); diff != "" || len(lost) > 0 {
		t.Errorf("unmasked (-want +got):\n%s; lost %q", diff, lost)
	}
	back, lost = e.unmaskEnv(maskEnv([]string{"API_TOKEN=other", "CLIENTS=9"}))
	if diff := cmp.Diff([]string{"CLIENTS=9"}, back); diff != "" || len(lost) != 1 || lost[0] != "API_TOKEN" {
		t.Errorf("of another definition (-want +got):\n%s; lost %q", diff, lost)
	}
}

// What is set up with a secret is undone with it, and the record does not have it.
func TestSetupWithASecret(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.run(t.Context(), oneServer+`
phase "p" {
  env      = { API_TOKEN = "hush" }
  setup    = [["true", "up"]]
  teardown = [["true", "down"]]
  `+do("work")+`
}`)
		if diff := cmp.Diff([]string{"copy template to run", "command true up API_TOKEN=hush", "start one", "work 1", "stop", "command true down API_TOKEN=hush", "remove run"}, h.log); diff != "" {
			t.Errorf("done (-want +got):\n%s", diff)
		}
	})
}

// What only one phase sets up is undone after it.
func TestSetupOfAPhaseEndsWithIt(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.run(t.Context(), oneServer+phase("one", `setup = [["true", "up"]]`, `teardown = [["true", "down"]]`, do("first"))+phase("two", do("second")))
		h.check([]string{"copy template to run", "command true up", "start one", "first 1", "command true down", "second 1", "stop", "remove run"},
			[]string{"ok one=ok two=ok"})
	})
}
