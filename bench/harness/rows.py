"""The rows of the comparison: printed as one table, kept as JSON."""

import json


class Rows:
    """Collects rows; each is printed as soon as it is known, so that a long run shows progress."""

    HEADINGS = ("what", "ours", "peer", "target", "ok?")

    def __init__(self):
        self.rows = []

    def add(self, what, ours, peer="-", target="-", ok=None, data=None):
        """`ok` is None where there is nothing to hold the figure against."""
        row = {"what": what, "ours": ours, "peer": peer, "target": target, "ok": ok}
        if data is not None:
            row["data"] = data
        self.rows.append(row)
        print("  %s: ours %s, peer %s, target %s%s"
              % (what, ours, peer, target, "" if ok is None else ", " + self._verdict(ok)),
              flush=True)

    def missing(self, what, why):
        self.rows.append({"what": what, "ours": "not measured: " + why, "peer": "-", "target": "-",
                          "ok": False})
        print("  %s: not measured: %s" % (what, why), flush=True)

    @staticmethod
    def _verdict(ok):
        return "-" if ok is None else "yes" if ok else "NO"

    def table(self):
        cells = [self.HEADINGS]
        for row in self.rows:
            cells.append((row["what"], row["ours"], row["peer"], row["target"],
                          self._verdict(row["ok"])))
        widths = [max(len(line[i]) for line in cells) for i in range(len(self.HEADINGS))]
        lines = [" | ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in cells]
        lines.insert(1, "-+-".join("-" * w for w in widths))
        return "\n".join(lines)

    def all_ok(self):
        return all(row["ok"] is not False for row in self.rows)

    def write(self, path, machine):
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"machine": machine, "rows": self.rows}, out, indent=1)
            out.write("\n")
