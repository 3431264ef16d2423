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

// columnFamilyNames are names in information_schema.rocksdb_cf_options that
// differ from those that the option takes.
var columnFamilyNames = map[string]string{
	"compression": "compression_type",
}

// tablePrefix begins the options of the table format, as the option takes them
// and as information_schema.rocksdb_cf_options shows them.
const (
	tablePrefix      = "block_based_table_factory."
	tablePrefixShown = "table_factory::"
)

// columnFamilyValue returns the value in force of an option of a column family.
func columnFamilyValue(inForce map[string]string, key string) (string, bool) {
	key = strings.ToLower(key)
	if rest, ok := strings.CutPrefix(key, tablePrefix); ok {
		key = tablePrefixShown + rest
	}
	if name, ok := columnFamilyNames[key]; ok {
		key = name
	}
	v, ok := inForce[key]
	return v, ok
}

// compareColumnFamily compares a value that was asked with one in force. Objects
// of the engine are shown by name or address only: that there is one is all that
// can be seen.
func compareColumnFamily(asked, got string) Verdict {
	if strings.EqualFold(asked, got) {
		return Verified
	}
	if want, have := truth(asked), truth(got); want != nil && have != nil {
		return verdictOf(*want == *have)
	}
	if want, have := sizeOf(asked), sizeOf(got); want != nil && have != nil {
		return verdictOf(want.Cmp(have) == 0)
	}
	if sizeOf(asked) == nil && !strings.HasPrefix(asked, "k") && strings.Contains(asked, ":") && got != "nullptr" && got != "(nil)" && got != "NULL" {
		return Unverifiable // such as filter_policy=bloomfilter:10:false
	}
	return Contradicted
}

// verdictOf turns a comparison into a verdict.
func verdictOf(same bool) Verdict {
	if same {
		return Verified
	}
	return Contradicted
}
