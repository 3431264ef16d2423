SELECT price,customerid FROM pi1 FORCE INDEX (marketsegment) WHERE price >= 193.82 ORDER BY price,customerid LIMIT 10;
SELECT cashregisterid,price,customerid FROM pi1 FORCE INDEX (registersegment) WHERE cashregisterid > 19 ORDER BY cashregisterid,price,customerid LIMIT 10;
SELECT price,dateandtime,customerid FROM pi1 FORCE INDEX (pdc) WHERE price >= 607.71 ORDER BY price,dateandtime,customerid LIMIT 10;
SELECT transactionid,data,customerid FROM %s WHERE customerid < 0;
SELECT price,customerid FROM %s FORCE INDEX (marketsegment) WHERE price >= 0 AND customerid < 0 ORDER BY price,customerid;
SELECT cashregisterid,price,customerid FROM %s FORCE INDEX (registersegment) WHERE cashregisterid >= 0 AND customerid < 0 ORDER BY cashregisterid,price,customerid;
SELECT price,dateandtime,customerid FROM %s FORCE INDEX (pdc) WHERE price >= 0 AND customerid < 0 ORDER BY price,dateandtime,customerid;
SELECT transactionid,data,customerid FROM %s WHERE customerid < 0;
