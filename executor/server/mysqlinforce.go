package server

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dbmatrix/matrix"
)

// A reading of a variable is what a server tells of it.
type variableReading struct {
	value   string
	kind    string   // the server's word for its type; "" where it does not say
	origin  string   // the server's word for where the value comes from
	enum    []string // names of an enumeration, by number
	granule uint64   // unit to which values are rounded; 0 or 1: none
}

// fromFile reports whether the value comes from the option file.
func (r variableReading) fromFile() bool {
	return r.origin == "CONFIG" || r.origin == "EXPLICIT" || r.origin == "COMMAND_LINE"
}

// inForce implements Flavour by information_schema.system_variables.
func (f *mariadbFlavour) inForce(ctx context.Context, db *sql.DB, b matrix.Build, asked []*InForce) error {
	const source = "information_schema.system_variables"
	rows, err := db.QueryContext(ctx, "SELECT LOWER(variable_name), COALESCE(global_value, session_value, ''), variable_type, COALESCE(global_value_origin, ''), COALESCE(enum_value_list, ''), COALESCE(numeric_block_size, 0) FROM information_schema.system_variables")
	if err != nil {
		return err
	}
	defer rows.Close()
	readings := map[string]variableReading{}
	for rows.Next() {
		var name, enum string
		var r variableReading
		if err := rows.Scan(&name, &r.value, &r.kind, &r.origin, &enum, &r.granule); err != nil {
			return err
		}
		if enum != "" {
			r.enum = strings.Split(enum, ",")
		}
		readings[name] = r
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return judge(ctx, db, readings, source, asked)
}

// inForce implements Flavour by performance_schema.variables_info, where the
// version has it, else by the variables alone.
func (f *mysqlFlavour) inForce(ctx context.Context, db *sql.DB, b matrix.Build, asked []*InForce) error {
	readings := map[string]variableReading{}
	values, err := pairs(ctx, db, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return err
	}
	for _, v := range values {
		name := strings.ToLower(v.Name)
		readings[name] = variableReading{value: v.Value, granule: mysqlGranules[name]}
	}
	source := "SHOW GLOBAL VARIABLES"
	if f.can.has(tellsSources, b.Version) {
		source = "performance_schema.variables_info"
		origins, err := pairs(ctx, db, "SELECT LOWER(variable_name), variable_source FROM performance_schema.variables_info")
		if err != nil {
			return err
		}
		for _, o := range origins {
			if r, ok := readings[o.Name]; ok {
				r.origin = o.Value
				readings[o.Name] = r
			}
		}
	}
	return judge(ctx, db, readings, source, asked)
}

// mysqlGranules are the units to which MySQL rounds values, which it does not
// tell; from the definitions of its variables (sys_vars.cc, BLOCK_SIZE).
var mysqlGranules = map[string]uint64{
	"binlog_cache_size":        4096,
	"binlog_stmt_cache_size":   4096,
	"innodb_log_file_size":     1 << 20,
	"innodb_redo_log_capacity": 1 << 20,
	"join_buffer_size":         128,
	"key_buffer_size":          4096,
	"max_allowed_packet":       1024,
	"max_binlog_cache_size":    4096,
	"max_binlog_size":          4096,
	"max_heap_table_size":      1024,
	"net_buffer_length":        1024,
	"query_cache_size":         1024,
	"read_buffer_size":         4096,
	"thread_stack":             1024,
}

// shownAs are variables that show an option of another name, in the versions
// whose variable of the option's own name is missing.
var shownAs = map[string]string{
	"transaction_isolation":  "tx_isolation",
	"transaction_read_only":  "tx_read_only",
	"default_character_set":  "character_set_server",
	"default_collation":      "collation_server",
	"character_set_system":   "character_set_system",
	"default_storage_engine": "storage_engine",
	"external_locking":       "skip_external_locking",
}

// judge compares what was asked with what a server of the MySQL family tells.
func judge(ctx context.Context, db *sql.DB, readings map[string]variableReading, source string, asked []*InForce) error {
	poolGranule(readings)
	for _, v := range asked {
		name := v.Option.Name
		switch {
		case pluginOptions[name]:
			plugins, err := mysqlPlugins(ctx, db)
			if err != nil {
				return err
			}
			judgePlugins(v, plugins)
			continue
		case name == "rocksdb_default_cf_options":
			if err := judgeColumnFamily(ctx, db, v); err != nil {
				return err
			}
			continue
		}
		r, ok := readings[name]
		if !ok {
			r, ok = readings[shownAs[name]]
		}
		switch {
		case !ok:
			if err := judgeByPlugin(ctx, db, v); err != nil {
				return err
			}
		case name == "log_bin":
			judgeLogBin(v, r, readings["log_bin_basename"], source)
		default:
			judgeVariable(v, r, source)
		}
	}
	return nil
}

// judgeByPlugin looks for a plugin of the option's name, such as mysqlx: the
// option turns it on and off, and no variable shows that.
func judgeByPlugin(ctx context.Context, db *sql.DB, v *InForce) error {
	want := truth(v.Asked)
	if want == nil {
		return nil
	}
	const source = "information_schema.plugins"
	rows, err := pairs(ctx, db, "SELECT plugin_name, plugin_status FROM "+source+" WHERE plugin_name = ?", v.Option.Name)
	if err != nil || len(rows) == 0 {
		return err
	}
	verdict := Contradicted
	if (rows[0].Value == "ACTIVE") == *want {
		verdict = Verified
	}
	v.settle(verdict, source, rows[0].Value, "")
	return nil
}

// poolGranule gives the buffer pool's size its unit: a chunk of each instance.
func poolGranule(readings map[string]variableReading) {
	number := func(name string) uint64 {
		n, _ := strconv.ParseUint(readings[name].value, 10, 64)
		return n
	}
	if r, ok := readings["innodb_buffer_pool_size"]; ok {
		if chunk := number("innodb_buffer_pool_chunk_size"); chunk > 1 {
			r.granule = chunk * max(1, number("innodb_buffer_pool_instances"))
			readings["innodb_buffer_pool_size"] = r
		}
	}
}

// judgeLogBin compares a binary log that was asked for with the one there is.
func judgeLogBin(v *InForce, r, basename variableReading, source string) {
	on := truth(r.value)
	want := v.Option.Value.Kind != matrix.OptionBool || v.Option.Value.Bool
	verdict := Verified
	if on == nil || *on != want {
		verdict = Contradicted
	}
	got := r.value
	if want && v.Option.Value.Kind == matrix.OptionText && verdict == Verified {
		got = filepath.Base(basename.value)
		if got != v.Option.Value.Text {
			verdict = Contradicted
		}
	}
	v.settle(verdict, source, got, "")
}

// judgePlugins looks for each plugin that was asked for among the active ones.
func judgePlugins(v *InForce, plugins []Plugin) {
	items := v.Option.Value.Items
	if v.Option.Value.Kind != matrix.OptionList {
		items = []string{v.Option.Value.Text}
	}
	var missing []string
	for _, item := range items {
		for _, one := range strings.FieldsFunc(item, func(r rune) bool { return r == ';' || r == ',' }) {
			if !slices.ContainsFunc(plugins, func(p Plugin) bool { return loads(one, p) }) {
				missing = append(missing, one)
			}
		}
	}
	const source = "information_schema.plugins"
	if missing != nil {
		v.settle(Contradicted, source, "", "plugin "+strings.Join(missing, ", ")+" is not active; its file must lie in plugin_dir, fit the server's version and find its libraries")
		return
	}
	v.settle(Verified, source, v.Asked, "")
}

// loads reports whether a value of plugin_load_add stands for a plugin: a
// library, with or without .so, or a name and a library.
func loads(value string, p Plugin) bool {
	name, library, ok := strings.Cut(value, "=")
	if !ok {
		name, library = "", value
	}
	if name != "" && !strings.EqualFold(name, p.Name) {
		return false
	}
	library = strings.TrimSuffix(library, ".so")
	return strings.EqualFold(library, strings.TrimSuffix(p.Library, ".so")) || !ok && strings.EqualFold(library, p.Name)
}

// judgeColumnFamily compares options of RocksDB's default column family with
// those that the engine uses.
func judgeColumnFamily(ctx context.Context, db *sql.DB, v *InForce) error {
	const source = "information_schema.rocksdb_cf_options"
	rows, err := pairs(ctx, db, "SELECT LOWER(option_type), value FROM "+source+" WHERE cf_name = 'default'")
	if isUnknown(err) {
		v.Detail = "there is no RocksDB"
		return nil
	}
	if err != nil {
		return err
	}
	inForce := map[string]string{}
	for _, r := range rows {
		inForce[r.Name] = r.Value
	}
	var got []string
	verdict := Verified
	var unknown, wrong []string
	for _, p := range columnFamilyParts(v.Option.Value) {
		value, ok := columnFamilyValue(inForce, p.Key)
		if !ok {
			unknown = append(unknown, p.Key)
			continue
		}
		got = append(got, p.Key+"="+value)
		switch compareColumnFamily(p.Value, value) {
		case Contradicted:
			wrong = append(wrong, p.Key)
		case Unverifiable:
			unknown = append(unknown, p.Key)
		}
	}
	detail := ""
	switch {
	case wrong != nil:
		verdict, detail = Contradicted, strings.Join(wrong, ", ")+" has another value"
	case unknown != nil:
		verdict, detail = Unverifiable, "nothing shows "+strings.Join(unknown, ", ")
	}
	v.settle(verdict, source, strings.Join(got, ";"), detail)
	return nil
}

// judgeVariable compares a variable with what was asked.
func judgeVariable(v *InForce, r variableReading, source string) {
	same, rounded := compareVariable(v.Option, r)
	switch {
	case same:
		v.settle(Verified, source, r.value, "")
	case rounded:
		v.settle(Adjusted, source, r.value, fmt.Sprintf("rounded to a multiple of %d", r.granule))
		v.Granule = true
	case r.fromFile() || r.origin == "AUTO":
		v.settle(Adjusted, source, r.value, "")
	default:
		v.settle(Contradicted, source, r.value, "")
	}
}

// compareVariable reports whether a variable has the value that was asked, or
// one that is rounded to the server's unit.
func compareVariable(o matrix.Option, r variableReading) (same, rounded bool) {
	switch v := o.Value; v.Kind {
	case matrix.OptionBool:
		return sameSwitch(v.Bool, r), false
	case matrix.OptionComposite:
		return hasParts(v.Parts, r.value), false
	case matrix.OptionList:
		return sameSet(v.Items, r.value), false
	default:
		return compareText(v.Text, r)
	}
}

// compareText compares a text or number that was asked.
func compareText(asked string, r variableReading) (same, rounded bool) {
	if strings.EqualFold(asked, r.value) || strings.EqualFold(strings.TrimRight(asked, "/"), strings.TrimRight(r.value, "/")) {
		return true, false
	}
	if want := truth(asked); want != nil && (r.kind == "BOOLEAN" || truth(r.value) != nil) {
		return sameSwitch(*want, r), false
	}
	if n, err := strconv.Atoi(asked); err == nil && n >= 0 && n < len(r.enum) {
		return strings.EqualFold(r.enum[n], r.value), false
	}
	if want, got := sizeOf(asked), sizeOf(r.value); want != nil && got != nil {
		return compareNumbers(want, got, r.granule)
	}
	if strings.Contains(asked, ",") || strings.Contains(r.value, ",") {
		return sameSet(strings.Split(asked, ","), r.value), false
	}
	return false, false
}

// compareNumbers compares two numbers, the second rounded to a unit.
func compareNumbers(want, got *big.Rat, granule uint64) (same, rounded bool) {
	if want.Cmp(got) == 0 {
		return true, false
	}
	// A double is shown with six places.
	w, _ := want.Float64()
	g, _ := got.Float64()
	if !want.IsInt() && math.Abs(w-g) <= 5e-7*max(1, math.Abs(w)) {
		return true, false
	}
	if granule <= 1 {
		return false, false
	}
	unit := new(big.Rat).SetInt(new(big.Int).SetUint64(granule))
	diff := new(big.Rat).Sub(want, got)
	return false, diff.Abs(diff).Cmp(unit) < 0
}

// sizeOf reads a number with one of the family's suffixes, or returns nil.
func sizeOf(text string) *big.Rat {
	unit := int64(1)
	if n := len(text); n > 1 {
		if at := strings.IndexByte("KMGTPE", text[n-1]&^0x20); at >= 0 && text[n-1] > '9' {
			text, unit = text[:n-1], 1<<(10*(at+1))
		}
	}
	if strings.ContainsAny(text, "eE/_xX") {
		return nil
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return r.Mul(r, new(big.Rat).SetInt64(unit))
}

// truth reads a boolean as servers write it, or returns nil.
func truth(text string) *bool {
	yes, no := true, false
	switch strings.ToUpper(text) {
	case "ON", "1", "TRUE", "YES":
		return &yes
	case "OFF", "0", "FALSE", "NO":
		return &no
	}
	return nil
}

// sameSwitch compares a boolean with a variable, which may be an enumeration
// whose first two names mean off and on.
func sameSwitch(want bool, r variableReading) bool {
	if got := truth(r.value); got != nil {
		return *got == want
	}
	if len(r.enum) >= 2 {
		n := 0
		if want {
			n = 1
		}
		return strings.EqualFold(r.enum[n], r.value)
	}
	return false
}

// hasParts reports whether each part of a composite option stands in a value
// such as "mrr=off,mrr_sort_keys=off".
func hasParts(parts []matrix.OptionPart, value string) bool {
	got := map[string]string{}
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ';' }) {
		k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		got[strings.ToLower(k)] = v
	}
	for _, p := range parts {
		if have, ok := got[strings.ToLower(p.Key)]; !ok || !strings.EqualFold(have, onOff(p.Value)) && !strings.EqualFold(have, p.Value) {
			return false
		}
	}
	return true
}

// sameSet compares the members of a set, whose order does not matter.
func sameSet(items []string, value string) bool {
	fold := func(items []string) []string {
		var out []string
		for _, i := range items {
			if i = strings.ToLower(strings.TrimSpace(i)); i != "" {
				out = append(out, i)
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	return slices.Equal(fold(items), fold(strings.Split(value, ",")))
}
