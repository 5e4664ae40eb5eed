-- Enough of SQLite to call malloc from many places: tables, indices, joins, views, triggers, recursion.
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL, tag TEXT);
CREATE TABLE sale(id INTEGER PRIMARY KEY, item_id INTEGER REFERENCES item(id), day TEXT, n INTEGER);
CREATE INDEX item_tag ON item(tag, price);
CREATE TRIGGER touch AFTER INSERT ON sale BEGIN UPDATE item SET price = price + 0.01 WHERE id = new.item_id; END;
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 3000)
INSERT INTO item SELECT x, printf('item-%d', x), x * 1.5, substr('abcdefgh', x % 8 + 1, 1) FROM c;
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 6000)
INSERT INTO sale SELECT x, x * 7 % 3000 + 1, date('2024-01-01', '+' || (x % 365) || ' days'), x % 13 FROM c;
CREATE INDEX sale_item ON sale(item_id, day);
CREATE VIEW total AS SELECT item_id, sum(n) AS n, count(*) AS k FROM sale GROUP BY item_id;
SELECT tag, avg(price), group_concat(name, ',') FROM item WHERE id < 400 GROUP BY tag ORDER BY 2 DESC;
SELECT i.name, t.n, t.k FROM item i JOIN total t ON t.item_id = i.id WHERE t.n > 20 ORDER BY t.n, i.name;
SELECT json_group_array(json_object('n', name, 'p', price)) FROM item WHERE id % 17 = 0;
SELECT name, rank() OVER (PARTITION BY tag ORDER BY price DESC) FROM item WHERE id < 900;
SELECT DISTINCT day FROM sale WHERE day LIKE '2024-0%' UNION SELECT name FROM item WHERE name GLOB 'item-1*';
DELETE FROM sale WHERE id % 3 = 0;
VACUUM;
ANALYZE;
EXPLAIN QUERY PLAN SELECT * FROM item JOIN sale ON sale.item_id = item.id WHERE item.tag = 'c';
