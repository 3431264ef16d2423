-- plain
CREATE TABLE pi1 (
  transactionid BIGINT NOT NULL AUTO_INCREMENT,
  dateandtime DATETIME,
  cashregisterid INT NOT NULL,
  customerid INT NOT NULL,
  productid INT NOT NULL,
  price FLOAT NOT NULL,
  data VARCHAR(4000),
  PRIMARY KEY (transactionid),
  INDEX marketsegment (price, customerid),
  INDEX registersegment (cashregisterid, price, customerid),
  INDEX pdc (price, dateandtime, customerid)
) ENGINE=innodb;

-- MyRocks
CREATE TABLE pi1 (
  transactionid BIGINT NOT NULL AUTO_INCREMENT,
  dateandtime DATETIME,
  cashregisterid INT NOT NULL,
  customerid INT NOT NULL,
  productid INT NOT NULL,
  price FLOAT NOT NULL,
  data VARCHAR(4000),
  PRIMARY KEY (transactionid),
  INDEX marketsegment (price, customerid)
) ENGINE=rocksdb;

-- compressed
CREATE TABLE pi1 (
  transactionid BIGINT NOT NULL AUTO_INCREMENT,
  dateandtime DATETIME,
  cashregisterid INT NOT NULL,
  customerid INT NOT NULL,
  productid INT NOT NULL,
  price FLOAT NOT NULL,
  data VARCHAR(4000),
  PRIMARY KEY (transactionid),
  INDEX marketsegment (price, customerid),
  INDEX registersegment (cashregisterid, price, customerid),
  INDEX pdc (price, dateandtime, customerid)
) ENGINE=innodb ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8;

-- compressed to 4 KiB, partitioned
CREATE TABLE pi1 (
  transactionid BIGINT NOT NULL AUTO_INCREMENT,
  dateandtime DATETIME,
  cashregisterid INT NOT NULL,
  customerid INT NOT NULL,
  productid INT NOT NULL,
  price FLOAT NOT NULL,
  data VARCHAR(4000),
  PRIMARY KEY (transactionid),
  INDEX marketsegment (price, customerid),
  INDEX registersegment (cashregisterid, price, customerid),
  INDEX pdc (price, dateandtime, customerid)
) ENGINE=innodb ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4
PARTITION BY RANGE (transactionid) (
  PARTITION p0 VALUES LESS THAN (130012),
  PARTITION p1 VALUES LESS THAN (260024),
  PARTITION p2 VALUES LESS THAN (390036),
  PARTITION p3 VALUES LESS THAN MAXVALUE
);

-- transparent, MySQL
CREATE TABLE pi1 (
  transactionid BIGINT NOT NULL AUTO_INCREMENT,
  dateandtime DATETIME,
  cashregisterid INT NOT NULL,
  customerid INT NOT NULL,
  productid INT NOT NULL,
  price FLOAT NOT NULL,
  data VARCHAR(4000),
  PRIMARY KEY (transactionid)
) ENGINE=innodb COMPRESSION='zlib';

-- transparent, MariaDB
CREATE TABLE pi1 (
  transactionid BIGINT NOT NULL AUTO_INCREMENT,
  dateandtime DATETIME,
  cashregisterid INT NOT NULL,
  customerid INT NOT NULL,
  productid INT NOT NULL,
  price FLOAT NOT NULL,
  data VARCHAR(4000),
  PRIMARY KEY (transactionid)
) ENGINE=innodb PAGE_COMPRESSED=1
PARTITION BY RANGE (transactionid) (
  PARTITION p0 VALUES LESS THAN MAXVALUE
);

-- PostgreSQL
CREATE TABLE pi1 (
  transactionid BIGSERIAL PRIMARY KEY,
  dateandtime TIMESTAMP WITHOUT TIME ZONE,
  cashregisterid INT NOT NULL,
  customerid INT NOT NULL,
  productid INT NOT NULL,
  price REAL NOT NULL,
  data VARCHAR(4000)
);
ALTER SEQUENCE pi1_transactionid_seq CACHE 1000;
CREATE INDEX pi1_marketsegment ON pi1 (price, customerid);
CREATE INDEX pi1_registersegment ON pi1 (cashregisterid, price, customerid);
CREATE INDEX pi1_pdc ON pi1 (price, dateandtime, customerid);

-- PostgreSQL, partitioned
CREATE TABLE pi1 (
  transactionid BIGSERIAL PRIMARY KEY,
  dateandtime TIMESTAMP WITHOUT TIME ZONE,
  cashregisterid INT NOT NULL,
  customerid INT NOT NULL,
  productid INT NOT NULL,
  price REAL NOT NULL,
  data VARCHAR(4000)
) PARTITION BY RANGE (transactionid);
CREATE TABLE pi1_p0 PARTITION OF pi1 FOR VALUES FROM (0) TO (130012);
CREATE TABLE pi1_p1 PARTITION OF pi1 FOR VALUES FROM (130012) TO (260024);
CREATE TABLE pi1_p2 PARTITION OF pi1 FOR VALUES FROM (260024) TO (390036);
CREATE TABLE pi1_p3 PARTITION OF pi1 FOR VALUES FROM (390036) TO (MAXVALUE);
ALTER SEQUENCE pi1_transactionid_seq CACHE 1000;
CREATE INDEX pi1_marketsegment ON pi1 (price, customerid);

