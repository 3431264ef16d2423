package server

import (
	"cmp"

	"dbmatrix/matrix"
)

// Features that decide what a data directory of the MySQL family takes.
const (
	undoFiles    feature = "undo tablespaces of their own unless set"
	redoCapacity feature = "innodb_redo_log_capacity"
	oneRedoLog   feature = "a single redo log, innodb_log_files_in_group is of no effect"
	dictionary   feature = "a dictionary in mysql.ibd, and doublewrite files"
)

// Parts of an InnoDB data directory, in bytes: what the servers make when their
// options do not say otherwise (innodb_data_file_path and
// innodb_temp_data_file_path are 12M, an undo tablespace begins with 10 MiB in
// MariaDB and 16 in MySQL), and what empty directories of 10.5, 10.11, 11.8 and 9.7
// were seen to take beside.
const (
	systemFile      = 12 << 20
	tempFile        = 12 << 20
	systemTables    = 5 << 20  // of MyISAM or Aria, in the schemas mysql and sys
	dictionaryFiles = 42 << 20 // mysql.ibd 26, #ib_16384_{0,1}.dblwr 16
	undoMariaDB     = 3 * 10 << 20
	undoMySQL       = 2 * 16 << 20
)

// Defaults of the redo log's size, from the reference manuals: 48M a file, two
// files, in MySQL before innodb_redo_log_capacity (100M); 96M in MariaDB 10.5, in one
// file, and 48M in two before.
const (
	defaultRedoCapacity = 100 << 20
	defaultRedoFile     = 48 << 20
	defaultOneRedoLog   = 96 << 20
)

// footprint returns what a data directory takes, for matrix.Dialect. A binary log is
// not in it: what a load writes there depends on its format.
func (f *family) footprint(s *matrix.Settings, data uint64) uint64 {
	version := cmp.Or(s.Server.Build.Version, s.Server.Version)
	total := data + systemFile + tempFile + systemTables + f.redo(s, version)
	if f.can.has(dictionary, version) {
		total += dictionaryFiles
	}
	if f.can.has(undoFiles, version) {
		if f.name == "mysql" {
			total += undoMySQL
		} else {
			total += undoMariaDB
		}
	}
	return total
}

// redo returns the size of the redo log.
func (f *family) redo(s *matrix.Settings, version string) uint64 {
	d := f.Dialect()
	file, given := optionSize(s, &d, "innodb_log_file_size")
	switch {
	case f.can.has(redoCapacity, version):
		if capacity, ok := optionSize(s, &d, "innodb_redo_log_capacity"); ok {
			return capacity
		}
		if !given {
			return defaultRedoCapacity
		}
	case f.can.has(oneRedoLog, version):
		if given {
			return file
		}
		return defaultOneRedoLog
	}
	if !given {
		file = defaultRedoFile
	}
	files, ok := optionSize(s, &d, "innodb_log_files_in_group")
	if !ok {
		files = 2
	}
	return file * files
}

// Parts of a PostgreSQL cluster, in bytes: an empty one of version 15 or 17 was seen
// to take 23 MiB beside a WAL segment of 16; max_wal_size is 1GB unless set.
const (
	emptyCluster  = 23 << 20
	walSegment    = 16 << 20
	defaultMaxWAL = 1 << 30
	megabyte      = 1 << 20 // that max_wal_size counts in where it has no unit
)

// footprint returns what a data directory takes, for matrix.Dialect. The WAL grows up
// to max_wal_size between checkpoints; a load writes about two bytes of it for each
// byte of tables: the rows, and pages whole after a checkpoint.
func (f *postgresFlavour) footprint(s *matrix.Settings, data uint64) uint64 {
	d := f.Dialect()
	most, ok := optionSize(s, &d, "max_wal_size")
	switch {
	case !ok:
		most = defaultMaxWAL
	case most < megabyte:
		most *= megabyte
	}
	return data + emptyCluster + max(walSegment, min(most, walSegment+2*data))
}

// optionSize returns the size that settings give an option, if they do.
func optionSize(s *matrix.Settings, d *matrix.Dialect, name string) (uint64, bool) {
	size, err := d.Size(textOfOption(s, name))
	return size, err == nil
}

// textOfOption returns what settings set an option to, or "".
func textOfOption(s *matrix.Settings, name string) string {
	for i := range s.Options {
		if s.Options[i].Name == name {
			return s.Options[i].Value.String()
		}
	}
	return ""
}
