package main

import (
	"strings"

	"dbmatrix/executor/server"
	"dbmatrix/matrix"
)

// implicit returns what tells the language what a server runs with beside its
// settings: the options that dbmatrix sets itself, and the contents of the
// plugins that are loaded. An upgrade of either makes other results.
func implicit(prober *server.Prober) func(*matrix.Settings) []matrix.Input {
	plugins := map[string]string{} // hashes by server and plugin options
	return func(s *matrix.Settings) []matrix.Input {
		var inputs []matrix.Input
		defaults, err := server.Defaults(s)
		if err != nil {
			return nil // a flavour that cannot run; the build's own faults say so
		}
		for _, o := range defaults {
			inputs = append(inputs, matrix.Input{Name: "dbmatrix." + o.Name, Value: o.Value.String()})
		}
		key := pluginKey(s)
		sum, ok := plugins[key]
		if !ok {
			if sum, err = prober.Plugins(*s.Server, s.Options); err != nil {
				sum = "unreadable"
			}
			plugins[key] = sum
		}
		if sum != "" {
			inputs = append(inputs, matrix.Input{Name: server.PluginsInput, Value: sum})
		}
		return inputs
	}
}

// pluginKey names what the plugins of a server are found by.
func pluginKey(s *matrix.Settings) string {
	key := s.Server.Name
	for _, o := range s.Options {
		if strings.Contains(o.Name, "plugin") || strings.Contains(o.Name, "preload") {
			key += "\x00" + o.Name + "=" + o.Value.String()
		}
	}
	return key
}
