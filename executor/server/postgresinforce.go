package server

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"dbmatrix/matrix"
)

// A postgresSetting is a row of pg_settings.
type postgresSetting struct {
	value, unit, kind, source string
	file                      string // base name of the file that it comes from, if any
}

// postgresAuto is the file of the data directory that ALTER SYSTEM writes and the
// server reads after its own option file.
const postgresAuto = "postgresql.auto.conf"

// inForce implements Flavour by pg_settings.
func (f *postgresFlavour) inForce(ctx context.Context, db *sql.DB, b matrix.Build, asked []*InForce) error {
	rows, err := db.QueryContext(ctx, "SELECT lower(name), setting, COALESCE(unit, ''), vartype, source, COALESCE(sourcefile, '') FROM pg_settings")
	if err != nil {
		return err
	}
	defer rows.Close()
	settings := map[string]postgresSetting{}
	for rows.Next() {
		var name string
		var s postgresSetting
		if err := rows.Scan(&name, &s.value, &s.unit, &s.kind, &s.source, &s.file); err != nil {
			return err
		}
		s.file = filepath.Base(s.file)
		settings[name] = s
	}
	for _, v := range asked {
		if s, ok := settings[v.Option.Name]; ok {
			judgeSetting(v, s)
		}
	}
	return rows.Err()
}

// judgeSetting compares a setting with what was asked.
func judgeSetting(v *InForce, s postgresSetting) {
	const source = "pg_settings"
	got := strings.TrimSpace(s.value + " " + s.unit)
	same, rounded := compareSetting(v.Option, s)
	switch {
	case same:
		v.settle(Verified, source, got, "")
	case rounded:
		v.settle(Adjusted, source, got, "rounded to a multiple of "+s.unit)
		v.Granule = true
	case s.file == postgresAuto:
		v.settle(Contradicted, source, got, "ALTER SYSTEM has set it, in "+postgresAuto+" of the data directory")
	case s.source == "configuration file":
		v.settle(Adjusted, source, got, "")
	default:
		v.settle(Contradicted, source, got, "its value comes from: "+s.source)
	}
}

// compareSetting reports whether a setting has the value that was asked, or one
// that is rounded to the setting's unit.
func compareSetting(o matrix.Option, s postgresSetting) (same, rounded bool) {
	text := asText(o)
	switch s.kind {
	case "bool":
		want, have := truth(text), truth(s.value)
		return want != nil && have != nil && *want == *have, false
	case "integer", "real":
		want, err := postgresNumber(text, s.unit)
		have, herr := strconv.ParseFloat(s.value, 64)
		if err != nil || herr != nil {
			return false, false
		}
		if math.Abs(want-have) <= 1e-9*math.Abs(want) {
			return true, false
		}
		return false, s.kind == "integer" && math.Abs(want-have) < 1
	case "enum":
		return strings.EqualFold(text, s.value), false
	}
	return text == s.value || sameSet(strings.Split(text, ","), s.value), false
}

// postgresUnits are the server's units of size, in bytes, and of time, in
// milliseconds.
var postgresUnits = map[string]struct {
	kind   string
	factor float64
}{
	"B": {"size", 1}, "kB": {"size", 1 << 10}, "MB": {"size", 1 << 20}, "GB": {"size", 1 << 30}, "TB": {"size", 1 << 40},
	"us": {"time", 1e-3}, "ms": {"time", 1}, "s": {"time", 1e3}, "min": {"time", 60e3}, "h": {"time", 3600e3}, "d": {"time", 86400e3},
}

// postgresNumber reads a number with or without a unit, as a multiple of the
// given unit, which may be a multiple itself ("8kB").
func postgresNumber(text, unit string) (float64, error) {
	number, own := splitUnit(text)
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", text)
	}
	if own == "" || unit == "" {
		return n, nil
	}
	count, base := splitUnit(unit)
	multiple := 1.0
	if count != "" {
		if multiple, err = strconv.ParseFloat(count, 64); err != nil {
			return 0, err
		}
	}
	from, to := postgresUnits[own], postgresUnits[base]
	if from.kind == "" || from.kind != to.kind {
		return 0, fmt.Errorf("%q has no unit that fits %s", text, unit)
	}
	return n * from.factor / (to.factor * multiple), nil
}

// splitUnit splits a text into its number and the unit that follows it.
func splitUnit(text string) (number, unit string) {
	end := len(text)
	for end > 0 && (text[end-1] >= 'a' && text[end-1] <= 'z' || text[end-1] >= 'A' && text[end-1] <= 'Z') {
		end--
	}
	return strings.TrimSpace(text[:end]), text[end:]
}
