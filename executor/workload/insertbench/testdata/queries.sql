SELECT price,customerid FROM pi1 FORCE INDEX (marketsegment) WHERE price >= 193.82 ORDER BY price,customerid LIMIT 10;
SELECT cashregisterid,price,customerid FROM pi1 FORCE INDEX (registersegment) WHERE cashregisterid > 19 ORDER BY cashregisterid,price,customerid LIMIT 10;
SELECT price,dateandtime,customerid FROM pi1 FORCE INDEX (pdc) WHERE price >= 607.71 ORDER BY price,dateandtime,customerid LIMIT 10;
SELECT transactionid,data,customerid FROM pi1 WHERE customerid < 0;
SELECT price,customerid FROM pi1 FORCE INDEX (marketsegment) WHERE price >= 0 AND customerid < 0 ORDER BY price,customerid;
SELECT cashregisterid,price,customerid FROM pi1 FORCE INDEX (registersegment) WHERE cashregisterid >= 0 AND customerid < 0 ORDER BY cashregisterid,price,customerid;
SELECT price,dateandtime,customerid FROM pi1 FORCE INDEX (pdc) WHERE price >= 0 AND customerid < 0 ORDER BY price,dateandtime,customerid;
SELECT transactionid,data,customerid FROM pi1 WHERE customerid < 0;
SELECT price,customerid FROM pi1 WHERE price >= 193.82 ORDER BY price,customerid LIMIT 10;
-- SELECT price,customerid FROM pi1 WHERE price >= $1 ORDER BY price,customerid LIMIT 10 with 193.82
SELECT cashregisterid,price,customerid FROM pi1 WHERE cashregisterid > 19 ORDER BY cashregisterid,price,customerid LIMIT 10;
-- SELECT cashregisterid,price,customerid FROM pi1 WHERE cashregisterid > $1 ORDER BY cashregisterid,price,customerid LIMIT 10 with 19
SELECT price,dateandtime,customerid FROM pi1 WHERE price >= 607.71 ORDER BY price,dateandtime,customerid LIMIT 10;
-- SELECT price,dateandtime,customerid FROM pi1 WHERE price >= $1 ORDER BY price,dateandtime,customerid LIMIT 10 with 607.71
SELECT transactionid,data,customerid FROM pi1 WHERE customerid < 0;
SELECT price,customerid FROM pi1 WHERE price >= 0 AND customerid < 0 ORDER BY price,customerid;
SELECT cashregisterid,price,customerid FROM pi1 WHERE cashregisterid >= 0 AND customerid < 0 ORDER BY cashregisterid,price,customerid;
SELECT price,dateandtime,customerid FROM pi1 WHERE price >= 0 AND customerid < 0 ORDER BY price,dateandtime,customerid;
SELECT transactionid,data,customerid FROM pi1 WHERE customerid < 0;
