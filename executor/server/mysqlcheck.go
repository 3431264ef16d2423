package server

import (
	"fmt"
	"regexp"
	"strings"

	"dbmatrix/matrix"
)

// checkCommand implements Flavour. MySQL 8.0.16 and later have an option for it;
// all others judge their options before they print --help.
func (f *family) checkCommand(b matrix.Build, program, file string) []string {
	args := []string{program, "--defaults-file=" + file}
	if f.can.has(judgesConfig, b.Version) {
		return append(args, "--validate-config", "--log-error-verbosity=2")
	}
	return append(args, "--verbose", "--help")
}

// complaintLine matches what a server says against its options, on its standard
// error.
var complaintLine = regexp.MustCompile(`\[(ERROR|Warning)\]|: (unknown|ambiguous) (variable|option)`)

// complaints implements Flavour. The exit code alone does not tell: MariaDB
// refuses a wrong value with an [ERROR] line and ends with 0. Nor do the messages
// alone: some values are changed without a word, which the list of variables
// shows that --help ends with.
func (f *family) complaints(o checkOutput) []Complaint {
	all := mysqlMessages(o)
	shown := helpVariables(o.printed)
	for _, option := range o.options {
		got, ok := shown[option.Name]
		want, have := sizeOf(asText(option)), sizeOf(got)
		if !ok || want == nil || have == nil || want.Cmp(have) == 0 {
			continue
		}
		all = append(all, Complaint{Option: option.Name, Message: fmt.Sprintf("%s would be %s, not %s", option.Name, got, asText(option))})
	}
	return all
}

// mysqlMessages reads what a server said while it judged its options.
func mysqlMessages(o checkOutput) []Complaint {
	var all []Complaint
	fatal := false
	for line := range strings.Lines(o.messages) {
		m := complaintLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		c := Complaint{Fatal: m[1] != "Warning", Message: strings.TrimSpace(stamp.ReplaceAllString(line, ""))}
		fatal = fatal || c.Fatal
		all = append(all, c)
	}
	if o.code != 0 && !fatal {
		all = append(all, Complaint{Fatal: true, Message: fmt.Sprintf("it ended with exit code %d: %s", o.code, strings.Join(tail(logLines([]byte(o.messages)), tailLines), " / "))})
	}
	return all
}

// helpVariables reads the list of variables and values that --verbose --help
// ends with, after a line of dashes.
func helpVariables(text string) map[string]string {
	values := map[string]string{}
	listed := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "-----") {
			listed = true
			continue
		}
		name, value, ok := strings.Cut(line, " ")
		if listed && ok && name != "" {
			values[strings.ReplaceAll(name, "-", "_")] = strings.TrimSpace(value)
		}
	}
	return values
}
