package server

import (
	"fmt"
	"path/filepath"
	"strings"

	"dbmatrix/matrix"
)

// inside refuses an option that would have the server write outside of the
// directory of its run, where nothing knows of the files: neither the copies, nor
// the sizes, nor the removal, and what lies there is somebody else's.
func inside(f Flavour, o matrix.Option) error {
	if !f.fileOptions()[o.Name] {
		return nil
	}
	for _, part := range strings.Split(asText(o), ";") {
		// Of a list of files, what follows the first colon is their size.
		path, _, _ := strings.Cut(part, ":")
		if path != "" && !filepath.IsLocal(path) {
			return fmt.Errorf("it would have the server write to %s, outside of the run's own directory: give a path relative to the data directory, or leave it out", path)
		}
	}
	return nil
}

// mysqlFileOptions are options of the MySQL family whose values name files or
// folders that the server writes, beside those that dbmatrix owns.
var mysqlFileOptions = map[string]bool{
	"audit_log_file":                true,
	"general_log_file":              true,
	"innodb_buffer_pool_filename":   true,
	"innodb_data_file_path":         true,
	"innodb_directories":            true,
	"innodb_doublewrite_dir":        true,
	"innodb_doublewrite_file":       true, // of Percona Server 5.6
	"innodb_log_arch_dir":           true, // of Percona Server 5.6
	"innodb_redo_log_archive_dirs":  true,
	"innodb_temp_data_file_path":    true,
	"innodb_temp_tablespaces_dir":   true,
	"innodb_tmpdir":                 true,
	"keyring_file_data":             true,
	"log_basename":                  true,
	"log_isam":                      true,
	"log_tc":                        true,
	"master_info_file":              true,
	"relay_log":                     true,
	"relay_log_basename":            true,
	"relay_log_index":               true,
	"relay_log_info_file":           true,
	"replica_load_tmpdir":           true,
	"rocksdb_persistent_cache_path": true,
	"rocksdb_tmpdir":                true,
	"server_audit_file_path":        true,
	"slave_load_tmpdir":             true,
	"slow_query_log_file":           true,
	"tokudb_data_dir":               true,
	"tokudb_log_dir":                true,
	"tokudb_tmp_dir":                true,
	"wsrep_data_home_dir":           true,
}

// fileOptions implements Flavour.
func (f *family) fileOptions() map[string]bool { return mysqlFileOptions }

// fileOptions implements Flavour. The command of archive_command is no file: it
// is run as it stands, as a command of setup is.
func (f *postgresFlavour) fileOptions() map[string]bool {
	return map[string]bool{"stats_temp_directory": true} // until 14
}
