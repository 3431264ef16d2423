package server

import (
	"errors"
	"fmt"
	"strings"
)

// lineLimit is the longest line of an option file. The servers' reader takes a
// line in a buffer of 4096 bytes and would read the rest as a line of its own.
const lineLimit = 4000

// cnfLine returns one line of an option file of the MySQL family.
func cnfLine(name, value string) (string, error) {
	v, err := cnfQuote(value)
	if err != nil {
		return "", err
	}
	line := name + " = " + v
	if len(line) > lineLimit {
		return "", fmt.Errorf("its line has %d bytes, and the server reads %d", len(line), lineLimit)
	}
	return line, nil
}

// cnfQuote writes a value so that the servers' own reader gives it back
// unchanged. Bare, a value ends at #, loses blanks at its ends and quotes around
// it, and has its backslashes interpreted; so whatever is not plain stands in
// double quotes.
func cnfQuote(value string) (string, error) {
	plain := value == "" || value[0] != ' ' && value[len(value)-1] != ' '
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '#' || c == '\\' || c == '"' || c == '\'' || c == '\t' || c == '\n' || c == '\r':
			plain = false
		case c < ' ' || c == 0x7f:
			return "", errors.New("its value holds a control character, which an option file cannot carry")
		}
	}
	if plain {
		return value, nil
	}
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(value)
	return `"` + quoted + `"`, nil
}
