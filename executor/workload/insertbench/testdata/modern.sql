CREATE TABLE pi1 (
  transactionid BIGINT NOT NULL AUTO_INCREMENT,
  dateandtime DATETIME,
  cashregisterid INT NOT NULL,
  customerid INT NOT NULL,
  productid INT NOT NULL,
  price INT NOT NULL,
  data VARCHAR(4000),
  PRIMARY KEY (transactionid)
) ENGINE=innodb;
ALTER TABLE pi1 ADD INDEX pi1_marketsegment (productid, customerid, price), ADD INDEX pi1_registersegment (cashregisterid, customerid, price), ADD INDEX pi1_pdc (price, dateandtime, customerid);
CREATE TABLE pi1 (
  transactionid BIGINT NOT NULL AUTO_INCREMENT,
  dateandtime DATETIME,
  cashregisterid INT NOT NULL,
  customerid INT NOT NULL,
  productid INT NOT NULL,
  price INT NOT NULL,
  data VARCHAR(4000),
  PRIMARY KEY (transactionid)
) ENGINE=rocksdb
PARTITION BY RANGE (transactionid) (
  PARTITION p0 VALUES LESS THAN (600),
  PARTITION p1 VALUES LESS THAN (1200),
  PARTITION p2 VALUES LESS THAN MAXVALUE
);
ALTER TABLE pi1 ADD INDEX pi1_marketsegment (productid, customerid, price);
ALTER TABLE pi1 ADD INDEX pi1_registersegment (cashregisterid, customerid, price);
ALTER TABLE pi1 ADD INDEX pi1_pdc (price, dateandtime, customerid);
CREATE TABLE pi1 (
  transactionid BIGSERIAL PRIMARY KEY,
  dateandtime TIMESTAMP WITHOUT TIME ZONE,
  cashregisterid INT NOT NULL,
  customerid INT NOT NULL,
  productid INT NOT NULL,
  price INT NOT NULL,
  data VARCHAR(4000)
) PARTITION BY RANGE (transactionid);
CREATE TABLE pi1_p0 PARTITION OF pi1 FOR VALUES FROM (0) TO (600);
CREATE TABLE pi1_p1 PARTITION OF pi1 FOR VALUES FROM (600) TO (1200);
CREATE TABLE pi1_p2 PARTITION OF pi1 FOR VALUES FROM (1200) TO (MAXVALUE);
ALTER SEQUENCE pi1_transactionid_seq CACHE 1000;
CREATE INDEX pi1_marketsegment ON pi1 (productid, customerid, price);
CREATE INDEX pi1_registersegment ON pi1 (cashregisterid, customerid, price);
CREATE INDEX pi1_pdc ON pi1 (price, dateandtime, customerid);
INSERT INTO pi1 (dateandtime,cashregisterid,customerid,productid,price,data) VALUES ('2026-01-02 03:04:05',435,90853,2297,17.00,'aaaaaaaaaMPk++'),('2026-01-02 03:04:05',644,98812,5348,250.00,'aaaaaaaaaboIW');
DELETE FROM pi1 WHERE transactionid >= 4711 ORDER BY transactionid ASC LIMIT 50;
SELECT productid,customerid,price FROM pi1 FORCE INDEX (pi1_marketsegment) WHERE productid >= 5395 ORDER BY productid,customerid,price LIMIT 10;
SELECT cashregisterid,customerid,price FROM pi1 FORCE INDEX (pi1_registersegment) WHERE cashregisterid > 193 ORDER BY cashregisterid,customerid,price LIMIT 10;
SELECT price,dateandtime,customerid FROM pi1 FORCE INDEX (pi1_pdc) WHERE price >= 152 ORDER BY price,dateandtime,customerid LIMIT 10;
SELECT transactionid,productid,data FROM pi1 WHERE transactionid IN (1140,1302,1920,1563,1254,1441,1582,1009,1760,1714);
INSERT INTO pi1 (dateandtime,cashregisterid,customerid,productid,price,data) VALUES ('2026-01-02 03:04:05',435,90853,2297,17.00,'aaaaaaaaaMPk++'),('2026-01-02 03:04:05',644,98812,5348,250.00,'aaaaaaaaaboIW');
DELETE FROM pi1 WHERE transactionid IN (SELECT transactionid FROM pi1 WHERE transactionid >= 4711 ORDER BY transactionid ASC LIMIT 50);
SELECT productid,customerid,price FROM pi1 WHERE productid >= 5395 ORDER BY productid,customerid,price LIMIT 10;
-- SELECT productid,customerid,price FROM pi1 WHERE productid >= $1 ORDER BY productid,customerid,price LIMIT 10 with 5395
SELECT cashregisterid,customerid,price FROM pi1 WHERE cashregisterid > 193 ORDER BY cashregisterid,customerid,price LIMIT 10;
-- SELECT cashregisterid,customerid,price FROM pi1 WHERE cashregisterid > $1 ORDER BY cashregisterid,customerid,price LIMIT 10 with 193
SELECT price,dateandtime,customerid FROM pi1 WHERE price >= 152 ORDER BY price,dateandtime,customerid LIMIT 10;
-- SELECT price,dateandtime,customerid FROM pi1 WHERE price >= $1 ORDER BY price,dateandtime,customerid LIMIT 10 with 152
SELECT transactionid,productid,data FROM pi1 WHERE transactionid IN (1140,1302,1920,1563,1254,1441,1582,1009,1760,1714);
-- SELECT transactionid,productid,data FROM pi1 WHERE transactionid IN ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10) with 1140 1302 1920 1563 1254 1441 1582 1009 1760 1714
