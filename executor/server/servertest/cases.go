package servertest

import "testing"

// A testCase is one thing that every build must do.
type testCase struct {
	name string
	run  func(*suite, *testing.T)

	// except says, by flavour or storage engine, why the case cannot arise
	// there.
	except map[string]string
}

// cases returns all of them, in the order in which they run: each but the first
// begins with a copy of the template.
func cases() []testCase {
	return []testCase{
		{name: "template", run: (*suite).testTemplate},
		{name: "initialisation killed", run: (*suite).testInitKilled},
		{name: "option file read back", run: (*suite).testRoundTrip},
		{name: "start and clean stop", run: (*suite).testStart},
		{name: "another version", run: (*suite).testOtherVersion},
		{name: "another build", run: (*suite).testOtherBuild},
		{name: "options in force", run: (*suite).testInForce},
		{name: "ignored loose option", run: (*suite).testLoose},
		{name: "option set in the data directory", run: (*suite).testPersisted, except: map[string]string{
			"mariadb": "the server keeps no options in its data directory",
		}},
		{name: "restart with other options", run: (*suite).testRestart},
		{name: "port", run: (*suite).testPort},
		{name: "binary log", run: (*suite).testBinaryLog, except: map[string]string{
			"postgres": "the write-ahead log is the only log",
		}},
		{name: "occupied port", run: (*suite).testOccupiedPort},
		{name: "occupied socket", run: (*suite).testOccupiedSocket},
		{name: "stale socket", run: (*suite).testStaleSocket},
		{name: "work put off", run: (*suite).testDrain},
		{name: "crash and recovery", run: (*suite).testCrash},
		{name: "stale pid file", run: (*suite).testStalePid},
		{name: "slow stop", run: (*suite).testSlowStop},
		{name: "hanging stop", run: (*suite).testHangingStop},
		{name: "snapshot and restore", run: (*suite).testSnapshot},
		{name: "storage of its own for each role", run: (*suite).testStorage},
		{name: "refused value", run: (*suite).testMisspelt},
		{name: "unknown option", run: (*suite).testUnknown},
		{name: "missing plugin", run: (*suite).testPlugin},
		{name: "check without a start", run: (*suite).testCheck},
		{name: "directory in use", run: (*suite).testInUse},
		{name: "foreign directory", run: (*suite).testForeign},
		{name: "read-only directory", run: (*suite).testReadOnly},
		{name: "spaces and other characters in paths", run: (*suite).testStrangePath},
		{name: "long path", run: (*suite).testLongPath},
		{name: "too long a path", run: (*suite).testTooLongPath},
		{name: "tarball, by basedir", run: (*suite).testTarballBasedir, except: sameProgram},
		{name: "tarball, by program", run: (*suite).testTarballProgram, except: sameProgram},
		{name: "compiled tree", run: (*suite).testCompiled, except: map[string]string{
			"MyRocks":  sameProgram["MyRocks"],
			"postgres": "its programs find their files only once they are installed",
		}},
		{name: "supervisor", run: (*suite).testSupervisor},
		{name: "start broken off", run: (*suite).testCancelled},
		{name: "runner killed", run: (*suite).testRunnerKilled},
		{name: "guardian halted and runner killed", run: (*suite).testGuardianHalted},
		{name: "without root", run: (*suite).testWithoutRoot},
	}
}

// sameProgram is why the places of a build's files are tested with InnoDB only.
var sameProgram = map[string]string{"MyRocks": "the program and its files are those of the build with InnoDB"}
