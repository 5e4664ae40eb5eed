// The worked questions of docs/query.md, for people who begin. tests/ui/model_test.mjs compares the two.

export interface Example {
  title: string;
  sql: string;
  any: boolean; // of any source; others need a trace
}

export const EXAMPLES: Example[] = [
  {
    title: "Who holds the most at the peak?",
    any: false,
    sql: `SELECT function_of(stack) AS function, human(sum(live_bytes)) AS live, sum(live_blocks) AS blocks
FROM snapshots('peak') GROUP BY 1 ORDER BY sum(live_bytes) DESC LIMIT 5`,
  },
  {
    title: "What was allocated in the first second and is still there at the end?",
    any: false,
    sql: `SELECT function_of(stack) AS function, count(*) AS blocks, human(sum(size)) AS bytes
FROM allocations WHERE born_ns < seconds(1) AND live_at('end') AND NOT is_mapping
GROUP BY stack ORDER BY sum(size) DESC`,
  },
  {
    title: "Who churns: allocates much and keeps little?",
    any: true,
    sql: `SELECT function, sum(allocated_blocks) AS allocated, sum(live_blocks) AS live,
       human(sum(allocated_bytes)) AS bytes,
       round(100.0 * sum(temporary_blocks) / sum(allocated_blocks)) AS "temporary %"
FROM stacks GROUP BY function HAVING allocated > 0 ORDER BY allocated - live DESC LIMIT 5`,
  },
  {
    title: "How long do blocks live?",
    any: false,
    sql: `SELECT human_time(power_of_two(lifetime_ns)) AS "lives at least", count(*) AS blocks,
       human(sum(size)) AS bytes
FROM allocations WHERE freed_ns IS NOT NULL GROUP BY power_of_two(lifetime_ns)`,
  },
  {
    title: "Which threads free what others allocated?",
    any: false,
    sql: `SELECT b.name AS "allocated by", f.name AS "freed by", sum(n) AS blocks, human(sum(bytes)) AS bytes
FROM (SELECT thread, freed_by, count(*) AS n, sum(size) AS bytes FROM allocations
      WHERE freed_ns IS NOT NULL GROUP BY thread, freed_by) a
JOIN threads b ON b.thread = a.thread JOIN threads f ON f.thread = a.freed_by
WHERE a.thread <> a.freed_by GROUP BY 1, 2 ORDER BY sum(n) DESC`,
  },
  {
    title: "Which blocks are grown by realloc again and again?",
    any: false,
    sql: `WITH RECURSIVE
  made AS MATERIALIZED (SELECT number, previous, size, stack FROM allocations
                        WHERE previous IS NOT NULL),
  chain(number, stack, steps, copied) AS (
    SELECT number, stack, 1, size FROM made WHERE previous NOT IN (SELECT number FROM made)
    UNION ALL
    SELECT made.number, made.stack, steps + 1, copied + made.size
    FROM chain JOIN made ON made.previous = chain.number)
SELECT function_of(stack) AS function, steps, count(*) AS chains, human(sum(copied)) AS copied
FROM chain WHERE number NOT IN (SELECT previous FROM made)
GROUP BY stack, steps ORDER BY steps DESC LIMIT 5`,
  },
  {
    title: "Where does rounding waste memory?",
    any: false,
    sql: `SELECT function_of(stack) AS function, blocks, human(size) AS asked, human(slack) AS wasted,
       round(100.0 * slack / (size + slack), 1) AS percent
FROM (SELECT stack, count(*) AS blocks, sum(size) AS size, sum(slack) AS slack FROM allocations
      WHERE live_at('peak') AND NOT is_mapping GROUP BY stack)
ORDER BY slack DESC LIMIT 5`,
  },
  {
    title: "What grew between two moments?",
    any: false,
    sql: `SELECT function_of(stack) AS function, human(sum(after - before)) AS grown
FROM (SELECT stack, live_bytes AS after, 0 AS before FROM snapshots('90%')
      UNION ALL SELECT stack, 0, live_bytes FROM snapshots('30%'))
GROUP BY 1 HAVING sum(after - before) <> 0 ORDER BY sum(after - before) DESC`,
  },
  {
    title: "Which blocks keep pages in use that are otherwise empty?",
    any: false,
    sql: `WITH live AS MATERIALIZED (SELECT address >> 12 AS page, stack, size FROM allocations
                           WHERE live_at('end') AND NOT is_mapping AND size < 4096),
     sparse AS (SELECT page FROM live GROUP BY page HAVING sum(size) < 410)
SELECT function_of(stack) AS function, count(DISTINCT page) AS pages, count(*) AS blocks,
       human(sum(size)) AS bytes
FROM live JOIN sparse USING (page) GROUP BY stack ORDER BY pages DESC LIMIT 5`,
  },
  {
    title: "Which sizes are asked for?",
    any: false,
    sql: `SELECT power_of_two(size) AS "size from", count(*) AS blocks, human(sum(size)) AS bytes,
       round(100.0 * sum(temporary) / count(*)) AS "temporary %",
       human_time(avg(lifetime_ns)) AS "mean life"
FROM allocations WHERE NOT is_mapping GROUP BY power_of_two(size)`,
  },
  {
    title: "How far is the RSS from what is live?",
    any: false,
    sql: `SELECT human_time(time_ns) AS time, human(live_bytes) AS live, human(peak_bytes) AS "most in step",
       human(resident_bytes) AS rss, human(resident_bytes - live_bytes) AS "rss beyond"
FROM timeline(seconds('1s')) WHERE time_ns > 0`,
  },
  {
    title: "How do two stretches of time differ?",
    any: false,
    sql: `WITH mark AS MATERIALIZED (SELECT time_ns AS t FROM markers WHERE text = 'deployed'),
     sums AS MATERIALIZED (
       SELECT stack, sum(born_ns < (SELECT t FROM mark)) AS before,
              sum(born_ns >= (SELECT t FROM mark)) AS after
       FROM allocations WHERE NOT is_mapping GROUP BY stack)
SELECT function_of(stack) AS function, sum(before) AS before, sum(after) AS after
FROM sums GROUP BY 1 ORDER BY abs(sum(after) - sum(before)) DESC LIMIT 4`,
  },
  {
    title: "How many allocations a second?",
    any: false,
    sql: `SELECT born_ns / seconds(1) AS second, count(*) AS allocations, human(sum(size)) AS bytes,
       sum(stack_contains('json')) AS "by json"
FROM allocations WHERE NOT is_mapping GROUP BY born_ns / seconds(1)`,
  },
  {
    title: "What did one thread allocate in half a second?",
    any: false,
    sql: `SELECT function_of(stack) AS function, count(*) AS blocks, human(sum(size)) AS bytes
FROM allocations WHERE born_ns BETWEEN seconds('4.5s') AND seconds('5s')
  AND thread = (SELECT thread FROM threads WHERE name = 'worker')
GROUP BY stack ORDER BY blocks DESC`,
  },
  {
    title: "Through which callers does memory go?",
    any: true,
    sql: `SELECT f.function, human(sum(live_bytes)) AS live, count(*) AS stacks
FROM stacks s JOIN (SELECT DISTINCT stack, function FROM frames) f USING (stack)
GROUP BY f.function ORDER BY sum(live_bytes) DESC LIMIT 6`,
  },
  {
    title: "What does each kind of request hold?",
    any: true,
    sql: `SELECT key, value, human(sum(live_bytes)) AS live, human(sum(allocated_bytes)) AS allocated
FROM labels JOIN stacks USING (stack) GROUP BY key, value ORDER BY sum(live_bytes) DESC`,
  },
  {
    title: "Which modules?",
    any: true,
    sql: `SELECT module, human(sum(live_bytes)) AS live, human(sum(allocated_bytes)) AS allocated
FROM stacks GROUP BY module ORDER BY sum(live_bytes) DESC`,
  },
  {
    title: "What is old, and large?",
    any: true,
    sql: `SELECT function_of(stack) AS function, count(*) AS blocks, human(sum(size)) AS bytes,
       human_time(min(lifetime_ns)) AS youngest
FROM allocations WHERE freed_ns IS NULL AND lifetime_ns > seconds('8s')
GROUP BY stack ORDER BY sum(size) DESC LIMIT 5`,
  },
];
