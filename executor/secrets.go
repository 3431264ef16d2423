package executor

import (
	"strings"

	"dbmatrix/matrix"
)

// ownPrefix begins the names of the variables that dbmatrix sets itself. None of
// them is a secret: DBMATRIX_TOKEN tells processes apart.
const ownPrefix = "DBMATRIX_"

// maskEnv returns an environment, "NAME=value", as it may be stored.
func maskEnv(env []string) []string {
	masked := make([]string, len(env))
	for i, variable := range env {
		masked[i] = variable
		if name, value, ok := strings.Cut(variable, "="); ok && !strings.HasPrefix(name, ownPrefix) {
			masked[i] = name + "=" + matrix.Masked(name, value)
		}
	}
	return masked
}

// unmaskEnv returns a stored environment with the secrets that the definition still
// has, and the names of those that it has no more, which are left out.
func (e *executor) unmaskEnv(masked []string) (env, lost []string) {
	known := map[string]string{} // "NAME=masked" to "NAME=value"
	for _, c := range e.plan.Cells {
		for _, p := range c.Phases {
			for _, v := range p.Settings.Env {
				known[v.Name+"="+matrix.Masked(v.Name, v.Value)] = v.Name + "=" + v.Value
			}
		}
	}
	for _, variable := range masked {
		name, value, _ := strings.Cut(variable, "=")
		open, ok := known[variable]
		switch {
		case ok:
			env = append(env, open)
		case strings.HasPrefix(name, ownPrefix) || matrix.Masked(name, "") == "" || !strings.HasPrefix(value, "sha256:"):
			env = append(env, variable)
		default:
			lost = append(lost, name)
		}
	}
	return env, lost
}
