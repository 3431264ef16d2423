package server

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"dbmatrix/matrix"
)

// A family is the flavour of MySQL or of one of its descendants. What differs
// between them and between their versions is in its fields, as data.
type family struct {
	name     string
	binaries []string        // names of the server program
	can      capabilityTable // what differs between versions
	defaults []defaultOption // what dbmatrix sets unless the settings do
	aliases  map[string]string
	initTime map[string]bool
}

// Features of the MySQL family that decide what dbmatrix does.
const (
	initByServer    feature = "the server initialises (--initialize-insecure)"
	initByBootstrap feature = "the server reads SQL at --bootstrap"
	initByScript    feature = "a Perl script initialises (mysql_install_db)"
	judgesConfig    feature = "--validate-config"
	tellsSources    feature = "performance_schema.variables_info"
	createIfMissing feature = "CREATE USER IF NOT EXISTS"
	globalPriv      feature = "accounts are in mysql.global_priv"
	sysSchema       feature = "the sys schema"
)

// Features whose options dbmatrix sets where the settings do not.
const (
	warmPool        feature = "the buffer pool is kept over a restart (innodb_buffer_pool_dump_at_shutdown)"
	queryCache      feature = "query_cache_type"
	limitsFiles     feature = "secure_file_priv"
	xProtocol       feature = "mysqlx"
	persistsOptions feature = "SET PERSIST"
)

// A defaultOption is an option that dbmatrix sets where the settings do not.
type defaultOption struct {
	option matrix.Option
	of     feature // that it belongs to; "": all versions have it
}

// Dialect implements Flavour.
func (f *family) Dialect() matrix.Dialect {
	return matrix.Dialect{
		Flavour:    f.name,
		Attribute:  "my_cnf",
		Aliases:    f.aliases,
		Negations:  true,
		Whole:      wholeNames,
		Owned:      ownedOptions,
		Short:      true,
		Own:        map[string]bool{"log_bin": true, "mysqlx": true},
		InitTime:   f.initTime,
		Places:     map[string]bool{"plugin_dir": true, "character_sets_dir": true, "lc_messages_dir": true},
		Separators: separators,
		Units: map[string]uint64{
			"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50, "E": 1 << 60,
		},
		FoldUnits: true,
		Sizes:     []string{"_size", "_capacity", "_packet"},
		Footprint: f.footprint,
	}
}

// wholeNames are options whose own names begin with skip_, disable_ or enable_.
var wholeNames = map[string]bool{
	"skip_external_locking":              true,
	"skip_grant_tables":                  true,
	"skip_host_cache":                    true,
	"skip_name_resolve":                  true,
	"skip_networking":                    true,
	"skip_new":                           true,
	"skip_parallel_replication":          true,
	"skip_replica_start":                 true,
	"skip_replication":                   true,
	"skip_show_database":                 true,
	"skip_slave_start":                   true,
	"skip_stack_trace":                   true,
	"enable_named_pipe":                  true,
	"disable_shared_memory":              true,
	"disable_sync_frm":                   true,
	"disable_gtid_unsafe_statements":     true,
	"enable_secondary_engine_statistics": true,
}

// ownedOptions are options that dbmatrix decides itself, with the reason.
var ownedOptions = map[string]string{
	"datadir":                   "each run has a data directory of its own",
	"basedir":                   "it is an attribute of the server block",
	"socket":                    "each instance has a private socket",
	"pid_file":                  "it lies beside the private socket",
	"log_error":                 "each start has an error log of its own",
	"port":                      "only a workload that needs a port opens one, on the loopback address",
	"bind_address":              "a server listens on the loopback address at most",
	"skip_networking":           "only a workload that needs a port opens one",
	"admin_address":             "a server listens on its private socket",
	"admin_port":                "a server listens on its private socket",
	"extra_port":                "a server listens on its private socket",
	"tmpdir":                    "it lies on the storage of role tmp",
	"innodb_data_home_dir":      "it lies on the storage of role data",
	"innodb_log_group_home_dir": "it lies on the storage of role redo",
	"innodb_undo_directory":     "it lies on the storage of role data",
	"rocksdb_datadir":           "it lies on the storage of role data",
	"rocksdb_wal_dir":           "it lies on the storage of role redo",
	"aria_log_dir_path":         "it lies on the storage of role data",
	"log_bin_basename":          "it lies on the storage of role binlog",
	"log_bin_index":             "it lies on the storage of role binlog",
	"user":                      "it is an attribute of the server block",
	"chroot":                    "dbmatrix must find the server's files",
	"daemonize":                 "the server is a child of dbmatrix",
	"console":                   "each start has an error log of its own",
	"initialize":                "dbmatrix initialises data directories",
	"initialize_insecure":       "dbmatrix initialises data directories",
	"bootstrap":                 "dbmatrix initialises data directories",
	"defaults_file":             "the generated file is the only source of options",
	"defaults_extra_file":       "the generated file is the only source of options",
	"no_defaults":               "the generated file is the only source of options",
	"init_file":                 "use setup, which is on record",
	"skip_grant_tables":         "dbmatrix asks the server by its accounts",
	"innodb_force_recovery":     "a damaged data directory is not measured",
	"shared_memory":             "each instance has a private socket",
	"mysqlx_port":               "the X protocol is off",
	"mysqlx_socket":             "the X protocol is off",
	"validate_config":           "dbmatrix asks for it itself",
}

// separators are the texts between the parts of composite options.
var separators = map[string]string{
	"rocksdb_default_cf_options":  ";",
	"rocksdb_override_cf_options": ";",
	"wsrep_provider_options":      ";",
	"optimizer_switch":            ",",
	"optimizer_trace":             ",",
	"debug_dbug":                  ":",
}

// listSeparators are options that hold several values in one: a list becomes one
// line. Of all others, a list repeats the option.
var listSeparators = map[string]string{
	"sql_mode":                 ",",
	"old_mode":                 ",",
	"tls_version":              ",",
	"binlog_annotate_row":      ",",
	"slave_type_conversions":   ",",
	"log_slow_filter":          ",",
	"log_slow_verbosity":       ",",
	"log_slow_disabled":        ",",
	"innodb_monitor_enable":    ",",
	"innodb_monitor_disable":   ",",
	"log_error_services":       ";",
	"log_output":               ",",
	"note_verbosity":           ",",
	"disabled_storage_engines": ",",
	"optimizer_disk_costs":     ",",
}

// bareOptions are options that take no value: they are named, or not written.
var bareOptions = map[string]bool{
	"core_file":        true,
	"log_bin":          true, // with ON it would name its files ON
	"rocksdb":          true, // of MySQL builds with MyRocks compiled in
	"skip_host_cache":  true,
	"skip_new":         true,
	"skip_stack_trace": true,
}

// spell implements Flavour.
func (f *family) spell(p placement, o matrix.Option) ([]string, error) {
	name := o.Name
	if o.Loose {
		name = "loose_" + name
	}
	if o.Name == "log_bin" {
		return spellLogBin(p, name, o.Value)
	}
	switch v := o.Value; v.Kind {
	case matrix.OptionBool:
		return f.spellSwitch(name, o.Name, v.Bool), nil
	case matrix.OptionList:
		return spellList(name, o.Name, v.Items)
	case matrix.OptionComposite:
		text, err := spellParts(o.Name, v.Parts)
		if err != nil {
			return nil, err
		}
		return oneLine(name, text)
	default:
		return oneLine(name, v.Text)
	}
}

// oneLine returns a single line that sets an option.
func oneLine(name, value string) ([]string, error) {
	line, err := cnfLine(name, value)
	if err != nil {
		return nil, err
	}
	return []string{line}, nil
}

// spellSwitch writes a boolean.
func (f *family) spellSwitch(name, option string, on bool) []string {
	switch {
	case !bareOptions[option] && on:
		return []string{name + " = ON"}
	case !bareOptions[option]:
		return []string{name + " = OFF"}
	case on:
		return []string{name}
	default:
		return []string{"# " + name + " is off where it is not named"}
	}
}

// spellLogBin writes log_bin, whose value is not a switch but the name of its
// files: log_bin=OFF turns the binary log on, into files named OFF.
func spellLogBin(p placement, name string, v matrix.OptionValue) ([]string, error) {
	dir, base := "", ""
	if _, ok := p.layout.Roles[roleBinlog]; ok {
		dir, base = p.layout.Role(roleBinlog)+"/", "binlog"
	}
	switch v.Kind {
	case matrix.OptionBool:
		if !v.Bool {
			return []string{"skip_log_bin"}, nil
		}
	case matrix.OptionText:
		base = v.Text
		switch strings.ToUpper(base) {
		case "ON", "OFF", "TRUE", "FALSE", "YES", "NO", "0", "1":
			return nil, fmt.Errorf("%q would name the files of the binary log; write log_bin = true or false", base)
		}
		if strings.Contains(base, "/") {
			return nil, errors.New("it is the name of the binary log's files, without a path; their place is the storage of role binlog")
		}
	default:
		return nil, errors.New("it is true, false or the name of the binary log's files")
	}
	if base == "" {
		return []string{name}, nil
	}
	return oneLine(name, dir+base)
}

// spellList writes a list: one line for options that hold several values, else a
// line for each.
func spellList(name, option string, items []string) ([]string, error) {
	if sep, ok := listSeparators[option]; ok {
		return oneLine(name, strings.Join(items, sep))
	}
	var lines []string
	for _, item := range items {
		line, err := cnfLine(name, item)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	if lines == nil {
		lines = []string{"# " + name + " is an empty list"}
	}
	return lines, nil
}

// spellParts writes the parts of a composite option as its value.
func spellParts(option string, parts []matrix.OptionPart) (string, error) {
	sep, ok := separators[option]
	if !ok {
		return "", errors.New("it is no composite option; give it a text, number, bool or list")
	}
	var texts []string
	for _, p := range parts {
		value := p.Value
		if option == "optimizer_switch" || option == "optimizer_trace" {
			value = onOff(value)
		}
		texts = append(texts, p.Key+"="+value)
	}
	return strings.Join(texts, sep), nil
}

// onOff spells a boolean as the parts of optimizer_switch have it.
func onOff(value string) string {
	switch value {
	case "true":
		return "on"
	case "false":
		return "off"
	}
	return value
}

// header implements Flavour: one group only, since several would be read in turn.
func (f *family) header() []string { return []string{"", "[mysqld]"} }

// optionFile implements Flavour.
func (f *family) optionFile() string { return "my.cnf" }

// pathLimit implements Flavour: the servers hold a path in a buffer of 512 bytes
// (FN_REFLEN), file of a partition included. A data directory of 480 bytes makes
// MySQL take the filesystem for one without case, and with one of 500 MariaDB
// goes to the directory that it was compiled for.
func (f *family) pathLimit() int { return 400 }

// accounts implements Flavour.
func (f *family) accounts() []string { return []string{"mysql"} }

// stopSignal implements Flavour.
func (f *family) stopSignal() syscall.Signal { return syscall.SIGTERM }

// arguments implements Flavour. --defaults-file must be the first argument, else
// it is an unknown option.
func (f *family) arguments(l Layout) []string {
	return []string{"--defaults-file=" + filepath.Join(l.Dir, f.optionFile())}
}

// programs implements Flavour.
func (f *family) programs(s matrix.Server) []string {
	if s.Mysqld != "" {
		return []string{s.Mysqld}
	}
	var paths []string
	dirs := []string{s.Bindir}
	for _, name := range programDirs {
		dirs = append(dirs, filepath.Join(s.Basedir, name))
	}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, name := range f.binaries {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths
}

// own implements Flavour.
func (f *family) own(p placement) (fixed, defaults []matrix.Option) {
	fixed = append(f.ownBase(p), f.ownPlaces(p)...)
	if p.port == 0 {
		fixed = append(fixed, toolSwitch("skip_networking", true, "only the private socket"))
	} else {
		fixed = append(fixed,
			toolOption("port", strconv.Itoa(p.port), "the workload needs a port"),
			toolOption("bind_address", "127.0.0.1", "the loopback address only"))
	}
	for _, d := range f.defaults {
		if d.of == "" || f.can.has(d.of, p.server.Build.Version) {
			defaults = append(defaults, d.option)
		}
	}
	if o := p.option("log_bin"); o != nil && (o.Value.Kind != matrix.OptionBool || o.Value.Bool) {
		defaults = append(defaults, toolOption("server_id", "1", "a binary log needs one"))
	}
	return fixed, append(defaults, f.ownMessages(p)...)
}

// ownBase places the build's own files.
func (f *family) ownBase(p placement) []matrix.Option {
	base := f.basedir(*p.server)
	if base == "" {
		return nil
	}
	return []matrix.Option{toolOption("basedir", base, "of the server block")}
}

// ownMessages places the files of a build with a basedir of its own: a build
// that was moved looks for them where it was compiled for.
func (f *family) ownMessages(p placement) []matrix.Option {
	base := f.basedir(*p.server)
	if base == "" {
		return nil
	}
	var options []matrix.Option
	if dir := messages(base); dir != "" {
		options = append(options, toolOption("lc_messages_dir", dir, "found below basedir"))
		if dir = firstWith(dir, []string{"charsets"}, ""); dir != "" {
			options = append(options, toolOption("character_sets_dir", dir, "found below basedir"))
		}
	}
	if dir := pluginDir(base); dir != "" {
		options = append(options, toolOption("plugin_dir", dir, "found below basedir"))
	}
	return options
}

// ownPlaces places what belongs to the instance.
func (f *family) ownPlaces(p placement) []matrix.Option {
	options := []matrix.Option{
		toolOption("datadir", p.layout.Data(), "the run's data directory"),
		toolOption("socket", filepath.Join(p.sockets, socketName), "a private directory, with a short path"),
		toolOption("pid_file", filepath.Join(p.sockets, pidName), "beside the socket"),
		toolOption("log_error", p.log, "a new log for each start"),
		toolOption("tmpdir", p.layout.Role(roleTmp), "the storage of role tmp"),
	}
	if _, ok := p.layout.Roles[roleRedo]; ok {
		redo := p.layout.Role(roleRedo)
		options = append(options, toolOption("innodb_log_group_home_dir", redo, "the storage of role redo"))
		if slices.ContainsFunc(p.options, func(o matrix.Option) bool { return strings.HasPrefix(o.Name, "rocksdb_") }) {
			options = append(options, toolOption("rocksdb_wal_dir", redo, "the storage of role redo"))
		}
	}
	return options
}
