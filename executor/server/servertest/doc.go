// Package servertest holds what a flavour of server must do, as tests that run
// against real builds, and what other packages' tests need of real servers.
//
// A test program that starts servers calls Main from its TestMain, since it
// plays the guardian too. Need returns a build or skips the test, which is an
// error where DBMATRIX_REQUIRE_SERVERS is 1. Run is the suite itself: it takes
// any server of any flavour that it has a profile of.
package servertest
