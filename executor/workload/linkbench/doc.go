// Package linkbench is LinkBench: a social graph of nodes and links, loaded and
// then read and changed by a mix of ten operations.
//
//	load ───► linktable, counttable, nodetable made anew and filled: nodes by
//	          one client, links and counts by many, in chunks of ids
//	index ──► the secondary index of links, where the load left it out
//	query ──► requesters, each with two connections, run the mix for a time
//	check ──► the counts are those of the links, else an error
//
//	profile ─► mix ──► operation ──┐
//	degrees ─► graph ─► id2, links │
//	zipf ──► shuffler ─► id1 ──────┼─► request ─► store ─► server
//	payload ─► data ───────────────┘
//
// The statements are those of MySQL and MariaDB, with InnoDB or MyRocks, or of
// PostgreSQL; what is drawn and which transactions it makes is the same.
//
// A profile is what was measured of Facebook's graph in a year (mix, payload
// sizes, number of links of a node) and the client that asks for it:
//
//   - fb2011 and fb2017 have the original client: text, rows written by INSERT
//     ... ON DUPLICATE KEY UPDATE, the COMMIT sent along with the last
//     statement of a transaction, updates that may insert.
//   - modern has 2017's figures and the client of the present fork: prepared
//     statements, an insert that turns into an update where the link exists
//     and the other way round, at least one link of each type for each node.
//
// The loaded data is a function of the seed alone, whatever the number of
// loaders: each chunk of ids has random numbers of its own. Only the times of
// links and nodes count back from the time of the load.
//
// # Departures
//
// With bug_compat, which is the default, the workload does as the original
// programs do where their documentation says otherwise:
//
//   - The ids of link writes that have nothing to do with the number of links
//     are drawn as those of link reads (Zipf of shape 0.8, 99.5 % of all), since
//     their own settings (0.741, 95 %) are looked up under the name of reads.
//   - The motifs of link data have 512 bytes in place of 128, since the program
//     looks for the setting among the values in place of the names.
//   - The original client loads more links than the distribution says: what it
//     counts as left over for the types after the first is all that the first
//     type does not have, so that of two types 2 links become 3, and 3 become 4.
//   - A multiget asks for two ids at least, and 3.6 on average, in place of one
//     and 2.6: the geometric distribution is rounded up once too often.
//   - The node of rank r of n has the links that a share of 1 - r/n of all nodes
//     do not exceed, so the first has the most that the distribution knows.
//     Without bug_compat it is the middle of a node's share, 1 - (r + ½)/n,
//     which keeps the mean in small graphs.
//
// Departures in any case, each for a number that is what it says:
//
//   - No node has more than max_links links, which is the number of ids unless
//     set. The original gives its first node four million links also where
//     there are a thousand nodes. From 4.2 million ids on it makes no difference.
//   - All clients start together, with their connections made.
//   - Response times count from when a request was due where request_rate is
//     set, and from after its making elsewhere; that of a node's read begins
//     in the original before its id is chosen, and that of a list which goes on
//     where another ended is recorded there as 0.
//   - A transaction that met a deadlock or a lock wait is rolled back before it
//     is sent again. The original client goes on in the open transaction.
//     Any other error fails the phase; the original lets a hundred of each
//     requester pass.
//   - The load sends text in all profiles, where the fork prepares statements of
//     seven thousand parameters: the rows and their number are the same.
//   - All loaders have the same motifs, where in the original each has its own.
//   - Random numbers are not Java's, except for those that place the ranks on
//     ids, which are held to the original's.
//   - The distributions are thinned to some forty points, which keeps their mean
//     within 0.2 %; the attribute distribution takes the whole file.
//   - Percentiles of statistics.csv are of at least one request.
//   - In PostgreSQL the tables are in a schema of the database postgres, where the
//     fork has a database for them, and the load ends with VACUUM, outside the
//     measured time: the plans of the requests must not depend on when autovacuum
//     comes by. The BEGIN of a transaction goes along with its first statement.
//   - The original client knows no PostgreSQL, which does not tell by the number of
//     rows what an upsert did. There it inserts a link ON CONFLICT DO NOTHING and,
//     where it exists, locks it and looks whether it is visible; statements that
//     are a transaction by themselves are sent without a COMMIT.
//   - Left out: more than one database, ids of links that are random or apart
//     for each requester, and distributions that the standard workload does not use.
package linkbench
