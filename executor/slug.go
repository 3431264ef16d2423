package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"dbmatrix/matrix"
)

// slugLength bounds the readable part of a slug: data directories carry it, and
// paths below them grow by the names of databases and partitions.
const slugLength = 60

// Slug returns a name for a cell that is safe as a file name: its key with
// everything but letters, digits, dots and dashes replaced, and a short hash, so
// that two cells never share a name. The cell of no axes is called "cell".
func Slug(key matrix.CellKey) string {
	var b strings.Builder
	for _, r := range string(key) {
		switch {
		case r == ',':
			b.WriteByte('_')
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.' && b.Len() > 0:
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	text := b.String()
	if text == "" {
		text = "cell"
	}
	if len(text) > slugLength {
		text = text[:slugLength]
	}
	return text + "-" + shortHash(string(key))
}

// shortHash returns eight hex digits that tell texts apart.
func shortHash(texts ...string) string {
	h := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(h[:4])
}
