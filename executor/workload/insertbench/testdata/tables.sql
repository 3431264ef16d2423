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

