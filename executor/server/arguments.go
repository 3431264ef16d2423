package server

import (
	"strings"

	"dbmatrix/matrix"
)

// MaskArguments returns a command line of dbmatrix as it may be stored: values of
// variables of the experiment may be secrets.
func MaskArguments(args []string) []string {
	masked := make([]string, len(args))
	for i, arg := range args {
		head := ""
		switch {
		case i > 0 && args[i-1] == "--var":
		case strings.HasPrefix(arg, "--var="):
			head, arg = "--var=", strings.TrimPrefix(arg, "--var=")
		default:
			masked[i] = arg
			continue
		}
		name, value, ok := strings.Cut(arg, "=")
		if ok {
			arg = name + "=" + matrix.Masked(name, value)
		}
		masked[i] = head + arg
	}
	return masked
}
