package server

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"dbmatrix/matrix"
)

// programOf returns the path of a server's program.
func programOf(f Flavour, s matrix.Server) (string, error) {
	return firstProgram(f.programs(s))
}

// firstProgram returns the first of the paths at which a program is.
func firstProgram(tried []string) (string, error) {
	for _, path := range tried {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	if len(tried) == 0 {
		return "", errors.New("the server block names neither mysqld, bindir nor basedir")
	}
	return "", fmt.Errorf("there is no server program at %s", strings.Join(tried, " or "))
}

// serverEnv returns the environment of a server: that of the settings, what a
// program needs of ours, and the token by which its processes are known. Nothing
// that could change its options gets in.
func serverEnv(s *matrix.Settings, token string) []string {
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}
	if tz, ok := os.LookupEnv("TZ"); ok {
		env = append(env, "TZ="+tz)
	}
	for _, v := range s.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	return append(env, "DBMATRIX_TOKEN="+token)
}
