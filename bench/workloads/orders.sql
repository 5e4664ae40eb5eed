-- sqlite3's workload: two tables in memory, an index, joins, updates, text functions, JSON. All numbers
-- come from arithmetic, so every run does the same work.
.output /dev/null
PRAGMA journal_mode = MEMORY;
CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, amount INTEGER, note TEXT);

WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
INSERT INTO customers SELECT i, printf('customer %d of %x', i, i * 7919), 'city ' || (i % 97) FROM n;

WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 21000)
INSERT INTO orders
SELECT i, 1 + (i * 7919) % 2000, (i * 104729) % 10007, printf('%s-%d', hex(i * 31), i % 1000) FROM n;

CREATE INDEX orders_by_customer ON orders(customer, amount);

SELECT city, count(*), sum(amount), group_concat(DISTINCT substr(note, 1, 3))
FROM orders JOIN customers ON customers.id = orders.customer GROUP BY city ORDER BY 3 DESC;

UPDATE orders SET note = note || ' ' || upper(note) WHERE amount % 3 = 0;
DELETE FROM orders WHERE amount % 17 = 0;

SELECT c.name, json_group_array(json_object('id', o.id, 'amount', o.amount))
FROM customers c JOIN orders o ON o.customer = c.id GROUP BY c.id HAVING count(*) > 5;

SELECT length(note), count(*) FROM orders WHERE note LIKE '%A%7%' GROUP BY 1 ORDER BY 2;
SELECT a.customer, max(a.amount - b.amount) FROM orders a JOIN orders b
ON a.customer = b.customer AND a.amount > b.amount GROUP BY 1 ORDER BY 2 DESC LIMIT 10;
SELECT id, row_number() OVER (PARTITION BY customer ORDER BY amount) AS rank FROM orders ORDER BY rank;
.output stdout
SELECT count(*), sum(amount), sum(length(note)) FROM orders;
DROP TABLE orders;
DROP TABLE customers;
