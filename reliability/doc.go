// Package reliability tests what becomes of a matrix when everything around it
// fails: the runner, its guardian and its servers are killed at random moments,
// disks fill up, and files and processes that are not ours lie in the way.
//
//	host ── run ──► disturbance ──► what is left? ──► run ──► ...  ──► the record
//	                (kill, full disk)  (processes, files)             equals that of
//	                                                                  an undisturbed run
//
// All of it is done to the program that "make build" makes, on real servers and
// real filesystems. docs/reliability.md lists the faults, each with the test that
// shows what becomes of it; TestFaultTable keeps that list true.
package reliability
