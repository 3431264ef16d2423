package server

import (
	"strings"

	"dbmatrix/matrix"
)

// columnFamilyParts returns the options of a column family that a value sets: as
// parts, or as a text "a=1;b={c=2;d=3}".
func columnFamilyParts(v matrix.OptionValue) []matrix.OptionPart {
	if v.Kind == matrix.OptionComposite {
		return flattenParts("", v.Parts)
	}
	return flattenParts("", splitParts(v.Text))
}

// splitParts splits a text of RocksDB options at the semicolons outside braces.
func splitParts(text string) []matrix.OptionPart {
	var parts []matrix.OptionPart
	depth, from := 0, 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) {
			switch text[i] {
			case '{':
				depth++
			case '}':
				depth--
			}
			if text[i] != ';' || depth > 0 {
				continue
			}
		}
		if key, value, ok := strings.Cut(text[from:i], "="); ok {
			parts = append(parts, matrix.OptionPart{Key: strings.TrimSpace(key), Value: strings.TrimSpace(value)})
		}
		from = i + 1
	}
	return parts
}

// flattenParts names the options inside braces by the path that leads to them.
func flattenParts(prefix string, parts []matrix.OptionPart) []matrix.OptionPart {
	var flat []matrix.OptionPart
	for _, p := range parts {
		if inner, ok := strings.CutPrefix(p.Value, "{"); ok {
			flat = append(flat, flattenParts(prefix+p.Key+".", splitParts(strings.TrimSuffix(inner, "}")))...)
			continue
		}
		flat = append(flat, matrix.OptionPart{Key: prefix + p.Key, Value: p.Value})
	}
	return flat
}

// columnFamilyValue returns the value in force of an option of a column family.
func columnFamilyValue(inForce map[string]string, key string) (string, bool) {
	v, ok := inForce[strings.ToLower(key)]
	return v, ok
}

// sameColumnFamilyValue compares a value that was asked with one in force.
func sameColumnFamilyValue(asked, got string) bool {
	return strings.EqualFold(asked, got)
}
