CREATE TABLE linkdb0.linktable (
  id1 BIGINT NOT NULL DEFAULT 0,
  id2 BIGINT NOT NULL DEFAULT 0,
  link_type BIGINT NOT NULL DEFAULT 0,
  visibility SMALLINT NOT NULL DEFAULT 0,
  data BYTEA NOT NULL DEFAULT '',
  time BIGINT NOT NULL DEFAULT 0,
  version INT NOT NULL DEFAULT 0,
  PRIMARY KEY (link_type, id1, id2)
) PARTITION BY HASH (id1);
CREATE TABLE linkdb0.linktable_p0 PARTITION OF linkdb0.linktable FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE linkdb0.linktable_p1 PARTITION OF linkdb0.linktable FOR VALUES WITH (MODULUS 2, REMAINDER 1);
-- later: CREATE INDEX id1_type ON linkdb0.linktable (id1, link_type, visibility, time, id2, version, data);
CREATE TABLE linkdb0.counttable (
  id BIGINT NOT NULL DEFAULT 0,
  link_type BIGINT NOT NULL DEFAULT 0,
  count INT NOT NULL DEFAULT 0,
  time BIGINT NOT NULL DEFAULT 0,
  version BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (id, link_type)
) PARTITION BY HASH (id);
CREATE TABLE linkdb0.counttable_p0 PARTITION OF linkdb0.counttable FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE linkdb0.counttable_p1 PARTITION OF linkdb0.counttable FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE linkdb0.nodetable (
  id BIGSERIAL,
  type INT NOT NULL,
  version BIGINT NOT NULL,
  time INT NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (id)
) PARTITION BY HASH (id);
CREATE TABLE linkdb0.nodetable_p0 PARTITION OF linkdb0.nodetable FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE linkdb0.nodetable_p1 PARTITION OF linkdb0.nodetable FOR VALUES WITH (MODULUS 2, REMAINDER 1);
