package program

import "strings"

// script returns a command as a script for a shell, with the variables that are
// added to its environment. The values of secrets are left out.
func (h hider) script(dir string, env, command []string) string {
	var b strings.Builder
	b.WriteString("cd " + Quote([]string{dir}) + "\n")
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if secret(name, value) {
			b.WriteString("# export " + name + "=... (a secret)\n")
			continue
		}
		b.WriteString("export " + name + "=" + Quote([]string{h.Replace(value)}) + "\n")
	}
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = h.Replace(word)
	}
	b.WriteString(Quote(words) + "\n")
	return b.String()
}

// Quote returns a command as a shell would take it.
func Quote(command []string) string {
	quoted := make([]string, len(command))
	for i, word := range command {
		quoted[i] = word
		if word == "" || strings.ContainsFunc(word, special) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// special reports whether a shell might do something with the character.
func special(r rune) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@%"
	return !strings.ContainsRune(plain, r)
}
