CREATE TABLE linkdb0.linktable (
  id1 BIGINT NOT NULL DEFAULT 0,
  id2 BIGINT NOT NULL DEFAULT 0,
  link_type BIGINT NOT NULL DEFAULT 0,
  visibility SMALLINT NOT NULL DEFAULT 0,
  data BYTEA NOT NULL DEFAULT '',
  time BIGINT NOT NULL DEFAULT 0,
  version INT NOT NULL DEFAULT 0,
  PRIMARY KEY (link_type, id1, id2)
);
CREATE INDEX id1_type ON linkdb0.linktable (id1, link_type, visibility, time, id2, version, data);
CREATE TABLE linkdb0.counttable (
  id BIGINT NOT NULL DEFAULT 0,
  link_type BIGINT NOT NULL DEFAULT 0,
  count BIGINT NOT NULL DEFAULT 0,
  time BIGINT NOT NULL DEFAULT 0,
  version BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (id, link_type)
);
CREATE TABLE linkdb0.nodetable (
  id BIGSERIAL,
  type INT NOT NULL,
  version BIGINT NOT NULL,
  time INT NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (id)
);
