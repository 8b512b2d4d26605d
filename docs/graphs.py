"""The graph of a PyMC program as a picture: layers from the priors down to the data, and plates.

PyMC says what depends on what (:class:`pymc.model_graph.ModelGraph`); the layout is Sugiyama's: rows by a linear
program, the order within a row by few crossings, places by least squares under the constraint that nothing overlaps.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path as Curve
from matplotlib.textpath import TextPath
from scipy.optimize import linprog, nnls

VALUE_DIMS = {"actual", "predicted", "cell", "rate", "rates", "class_label", "part", "answer", "fpr"}
"""Dims of one vector or matrix, told in the node; any other dim is a plate: something that is repeated."""

TIMES = " \N{MULTIPLICATION SIGN} "
INK, SOFT, LINE = "#1b2733", "#5b6875", "#7b8794"
FACE = {"free": "#ffffff", "observed": "#c9d6e6", "deterministic": "#ffffff", "data": "#e9e9e9"}
BIG, SMALL, STEP = 10.5, 8.5, 12.0  # font sizes and distance of lines, in points
GAP, PAD, LABEL, BETWEEN = 16.0, 11.0, 13.0, 40.0  # of nodes, of a plate's rim, of its label, of rows
STARTS, KEPT = 300, 12  # orders tried, and placed


@dataclass
class Node:
    """A variable, or a bend of a long arrow (without a kind)."""

    kind: str = ""
    lines: tuple[str, ...] = ()
    plates: frozenset[str] = frozenset()
    row: int = 0
    x: float = 0.0

    @property
    def width(self) -> float:
        """In points; a bend needs little room."""
        return max((_width(t, BIG if i == 0 else SMALL) for i, t in enumerate(self.lines)), default=-8.0) + 22

    @property
    def height(self) -> float:
        """In points."""
        return STEP * len(self.lines) + 12 if self.lines else 0.0


@cache
def _width(text: str, size: float) -> float:
    return float(TextPath((0, 0), text, prop=FontProperties("DejaVu Sans", size=size)).get_extents().width)


def read(program, dists: Mapping[str, str] = {}) -> tuple[dict[str, Node], set[tuple[str, str]], dict[str, str]]:
    """Return nodes, arrows and labels of plates of a pymc.Model; `distributions` names those that PyMC has no name for.

    Data are left out, unless the observations depend on them: they are what was observed, or numbers of the prior.
    """
    from pymc.model_graph import ModelGraph

    graph = ModelGraph(program)
    observed = {rv.name for rv in program.observed_RVs}
    kinds = {v.name: "data" for v in program.data_vars} | {v.name: "deterministic" for v in program.deterministics}
    kinds |= {rv.name: "free" for rv in program.free_RVs} | dict.fromkeys(observed, "observed")
    arrows = {(above, below) for below, above in graph.edges()}
    arrows = {(a, b) for a, b in arrows if kinds[b] != "data" and (kinds[a] != "data" or b in observed)}
    nodes, plates = {}, {}
    for plate in graph.get_plates():
        sizes = [(str(name or "dim"), n) for name, n in zip(plate.dim_info.names, plate.dim_info.lengths, strict=True)]
        inside = [f"{dim} ({n})" for dim, n in sizes if _is_value(dim)]
        outside = {dim: f"{dim} ({n})" for dim, n in sizes if not _is_value(dim)}
        plates |= outside
        for info in plate.variables:
            name, kind = info.var.name, kinds[info.var.name]
            if kind == "data" and not any(a == name for a, _ in arrows):
                continue
            dist = [f"~ {dists.get(name) or _dist(info.var)}"] if kind in ("free", "observed") else []
            nodes[name] = Node(kind, (name, *dist, *([TIMES.join(inside)] if inside else [])), frozenset(outside))
    arrows = {(a, b) for a, b in arrows if a in nodes and b in nodes}
    return {name: nodes[name] for name in sorted(nodes)}, _through_cells(program, arrows), plates


def _is_value(dim: str) -> bool:
    return dim in VALUE_DIMS or dim.startswith("predicted_")


def _dist(rv) -> str:
    op = rv.owner.op
    printed = getattr(op, "_print_name", None)
    return printed[0] if printed else type(op).__name__.removesuffix("RV")


def _through_cells(program, arrows: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Let the observations follow from a deterministic that is another shape of the unnamed cells they come from."""
    from pytensor.graph.traversal import ancestors

    for made in program.deterministics:
        cells = made
        while cells is made or (cells.name not in program.named_vars and _is_reshaped(cells)):
            cells = cells.owner.inputs[0]
        if cells.name in program.named_vars:
            continue
        parents = {a for a, b in arrows if b == made.name}
        for rv in program.observed_RVs:
            if cells in set(ancestors([rv])):
                arrows = {(a, b) for a, b in arrows if b != rv.name or a not in parents} | {(made.name, rv.name)}
    return arrows


def _is_reshaped(variable) -> bool:
    return variable.owner is not None and type(variable.owner.op).__name__ in ("ViewOp", "Reshape")


def _set_rows(nodes: dict[str, Node], arrows: Iterable[tuple[str, str]]) -> None:
    """Put every node in a row so that arrows point down and are short, the observed ones at the bottom."""
    index = {name: i for i, name in enumerate(nodes)}
    bottom = [name for name, node in nodes.items() if node.kind == "observed"]
    pairs = [(a, b, 1) for a, b in arrows] + [(a, b, 0) for b in bottom for a in nodes if a not in bottom]
    rules = np.zeros((len(pairs), len(nodes)))
    cost = np.full(len(nodes), 1e-3)
    for i, (a, b, length) in enumerate(pairs):
        rules[i, index[a]], rules[i, index[b]] = 1, -1
        cost[index[a]] -= length
        cost[index[b]] += length
    found = linprog(cost, A_ub=rules, b_ub=[-length for *_, length in pairs], bounds=(0, None), method="highs-ds")
    for name, node in nodes.items():
        node.row = round(found.x[index[name]])


def _with_bends(nodes: dict[str, Node], arrows: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Cut long arrows into steps of one row; return each as the names on its way."""
    ways = []
    for a, b in sorted(arrows):
        plates = nodes[a].plates & nodes[b].plates
        way = [a]
        for row in range(nodes[a].row + 1, nodes[b].row):
            way.append(f"{a}>{b}>{row}")
            nodes[way[-1]] = Node(plates=plates, row=row)
        ways.append([*way, b])
    return ways


def _crossings(rows: list[list[str]], steps: list[tuple[str, str]], nodes: dict[str, Node]) -> int:
    place = {name: i for row in rows for i, name in enumerate(row)}
    count = 0
    for row in range(len(rows) - 1):
        here = np.array([(place[a], place[b]) for a, b in steps if nodes[a].row == row]).reshape(-1, 2)
        count += int(((here[:, None, 0] < here[None, :, 0]) & (here[:, None, 1] > here[None, :, 1])).sum())
    return count


def _split_plates(rows: list[list[str]], nodes: dict[str, Node]) -> int:
    """Count the nodes that stand within a plate that isn't theirs."""
    count = 0
    for row in rows:
        for plate in {p for name in row for p in nodes[name].plates}:
            member = [plate in nodes[name].plates for name in row]
            first, last = member.index(True), len(member) - member[::-1].index(True)
            count += sum(not m and bool(nodes[row[first + i]].kind) for i, m in enumerate(member[first:last]))
    return count


def _orders(nodes: dict[str, Node], steps: list[tuple[str, str]]) -> list[list[list[str]]]:
    """Return the orders within rows with the fewest crossings, found by random starts and swaps of neighbours."""
    rng = np.random.default_rng(1)
    height = max(node.row for node in nodes.values()) + 1
    rows = [[name for name, node in nodes.items() if node.row == row] for row in range(height)]

    @cache
    def counted(order):
        return 1000 * _split_plates(order, nodes) + _crossings(order, steps, nodes)

    def cost(order):
        return counted(tuple(map(tuple, order)))

    found = {}
    for _ in range(STARTS):
        lanes = {plate: rng.random() for node in nodes.values() for plate in node.plates}
        key = {name: (float(np.mean([lanes[p] for p in node.plates] or [rng.random()])), rng.random())
               for name, node in nodes.items()}  # fmt: skip
        order = [sorted(row, key=key.get) for row in rows]
        best, better = cost(order), True
        while better and best:
            better = False
            for row in order:
                for i in range(len(row) - 1):
                    row[i], row[i + 1] = row[i + 1], row[i]
                    if (new := cost(order)) < best:
                        best, better = new, True
                    else:
                        row[i], row[i + 1] = row[i + 1], row[i]
        found[tuple(map(tuple, order))] = best
    return [[list(row) for row in order] for order in sorted(found, key=found.get)[:KEPT]]


def _members(nodes: dict[str, Node]) -> dict[str, list[str]]:
    plates = sorted({p for node in nodes.values() for p in node.plates})
    return {p: [name for name, node in nodes.items() if p in node.plates] for p in plates}


def _place(order: list[list[str]], nodes: dict[str, Node], ways: list[list[str]]) -> tuple[float, np.ndarray, dict]:
    """Return how well an order can be placed, the places, and the left and right rims of the plates."""
    index = {name: i for i, name in enumerate(nodes)}
    members = _members(nodes)
    rim = {p: (len(index) + 2 * i, len(index) + 2 * i + 1) for i, p in enumerate(members)}
    size = len(index) + 2 * len(members)
    rules, least = [], []

    def right_of(b, a, distance):
        rule = np.zeros(size)
        rule[b], rule[a] = 1, -1
        rules.append(rule)
        least.append(distance)

    for row in order:
        for a, b in pairwise(row):
            right_of(index[b], index[a], (nodes[a].width + nodes[b].width) / 2 + GAP)
    for plate, names in members.items():
        left, right = rim[plate]
        right_of(right, left, _width(plate, SMALL) + 60)
        for name in names:
            depth = 1 + sum(set(members[p]) < set(names) for p in nodes[name].plates)
            right_of(index[name], left, nodes[name].width / 2 + PAD * depth)
            right_of(right, index[name], nodes[name].width / 2 + PAD * depth)
        span = [nodes[name].row for name in names if nodes[name].kind]
        for row in order[min(span) : max(span) + 1]:
            inside = [i for i, name in enumerate(row) if name in names] or [len(row) / 2]
            for i, name in enumerate(row):
                if name in names or not nodes[name].kind:
                    continue
                if i < inside[0]:
                    right_of(left, index[name], nodes[name].width / 2 + GAP)
                else:
                    right_of(index[name], right, nodes[name].width / 2 + GAP)
    pulls, weights = [], []
    for way in ways:
        for a, b in pairwise(way):
            pull = np.zeros(size)
            pull[index[a]], pull[index[b]] = 1, -1
            pulls.append(pull)
            weights.append(1.0 + 3 * (not nodes[a].kind) + 3 * (not nodes[b].kind))
    for left, right in rim.values():
        pull = np.zeros(size)
        pull[left], pull[right] = -1, 1
        pulls.append(pull)
        weights.append(0.3)
    pulls.extend(np.eye(size)[: len(index)])
    weights.extend([0.01] * len(index))
    return *_least_pull(np.array(rules).reshape(-1, size), np.array(least), np.array(pulls), np.array(weights)), rim


def _least_pull(rules, least, pulls, weights) -> tuple[float, np.ndarray]:
    """Minimise the weighted squares of `pulls` @ x where `rules` @ x >= `least` (Lawson and Hanson's LDP)."""
    hessian = pulls.T @ (weights[:, None] * pulls) + 1e-3 * np.eye(pulls.shape[1])
    root = np.linalg.cholesky(hessian)
    if not len(rules):
        return 0.0, np.zeros(pulls.shape[1])
    system = np.vstack([np.linalg.solve(root, rules.T), least / least.max()])
    goal = np.append(np.zeros(len(root)), 1.0)
    dual, distance = nnls(system, goal, maxiter=100 * len(rules))
    if distance < 1e-9:  # no place for everything: a plate that its row's order splits
        return np.inf, np.zeros(pulls.shape[1])
    rest = system @ dual - goal
    x = np.linalg.solve(root.T, -rest[:-1] / rest[-1]) * least.max()
    return float(x @ hessian @ x), x


def draw(program, path: Path, dists: Mapping[str, str] = {}) -> str:
    """Draw the graph of a pymc.Model into an SVG file; return it in words."""
    nodes, arrows, labels = read(program, dists)
    words = _words(nodes, arrows)
    _set_rows(nodes, arrows)
    ways = _with_bends(nodes, arrows)
    steps = [step for way in ways for step in pairwise(way)]
    _, places, rim = min((_place(order, nodes, ways) for order in _orders(nodes, steps)), key=lambda found: found[0])
    for node, x in zip(nodes.values(), places, strict=False):
        node.x = float(x)
    rows = range(max(node.row for node in nodes.values()) + 1)
    heights = [max(node.height for node in nodes.values() if node.row == row) for row in rows]
    middle = [-(sum(heights[:row]) + heights[row] / 2 + BETWEEN * row) for row in range(len(heights))]
    boxes = _boxes(nodes, middle, places, rim)
    _paint(nodes, ways, middle, heights, boxes, labels, path)
    return words


def _boxes(nodes, middle, places, rim) -> dict[tuple[str, ...], tuple[float, float, float, float]]:
    """Return left, bottom, right and top of each plate; plates of the same nodes are one."""
    members = {p: frozenset(n for n in names if nodes[n].kind) for p, names in _members(nodes).items()}
    boxes = {}
    for names in sorted(set(members.values()), key=len):
        same = tuple(p for p in members if members[p] == names)
        inner = [box for plates, box in boxes.items() if members[plates[0]] < names]
        low = min(middle[nodes[n].row] - nodes[n].height / 2 for n in names) - PAD / 2 - LABEL
        high = max(middle[nodes[n].row] + nodes[n].height / 2 for n in names) + PAD
        low, high = min([low, *(b[1] - LABEL for b in inner)]), max([high, *(b[3] + PAD / 2 for b in inner)])
        boxes[same] = (min(places[rim[p][0]] for p in same), low, max(places[rim[p][1]] for p in same), high)
    return boxes


def _paint(nodes, ways, middle, heights, boxes, labels, path) -> None:
    drawn = [node for node in nodes.values() if node.kind]
    left = min([n.x - n.width / 2 for n in nodes.values()] + [b[0] for b in boxes.values()]) - 6
    right = max([n.x + n.width / 2 for n in nodes.values()] + [b[2] for b in boxes.values()]) + 6
    low = min([middle[n.row] - n.height / 2 for n in drawn] + [b[1] for b in boxes.values()]) - 6
    high = max([middle[n.row] + n.height / 2 for n in drawn] + [b[3] for b in boxes.values()]) + 6
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "bayescm", "font.family": "DejaVu Sans"}):
        figure = Figure(((right - left) / 72, (high - low) / 72), dpi=100)
        axes = figure.add_axes((0, 0, 1, 1), xlim=(left, right), ylim=(low, high))
        axes.set_axis_off()
        for plates, (x0, y0, x1, y1) in sorted(boxes.items(), key=lambda item: -(item[1][2] - item[1][0])):
            axes.add_patch(FancyBboxPatch((x0, y0), x1 - x0, y1 - y0, boxstyle="round,pad=0,rounding_size=8",
                                          fc="#33669912", ec="#8fa1b5", lw=1))  # fmt: skip
            cut = any(b[0] < x1 < b[2] and b[1] < y1 and y0 < b[3] and b[0] > x0 for b in boxes.values())
            label = TIMES.join(labels[p] for p in plates)
            axes.text(x0 + 8 if cut else x1 - 8, y0 + 4, label, size=SMALL, color=SOFT, ha="left" if cut else "right")
        for way, ports in zip(ways, _ports(nodes, ways), strict=True):
            axes.add_patch(FancyArrowPatch(
                path=_curve([nodes[n] for n in way], ports, middle, heights), color=LINE, lw=1, mutation_scale=1.0,
                arrowstyle="-|>,head_width=2.2,head_length=4.5", shrinkA=0, shrinkB=0))  # fmt: skip
        for node in drawn:
            y, w, h = middle[node.row], node.width, node.height
            radius = {"free": h / 2.2, "observed": h / 2.2, "deterministic": 4, "data": 1}[node.kind]
            axes.add_patch(FancyBboxPatch(
                (node.x - w / 2, y - h / 2), w, h, boxstyle=f"round,pad=0,rounding_size={radius}",
                fc=FACE[node.kind], ec=INK if node.kind != "data" else LINE, lw=1.1,
                ls=(0, (4, 2.5)) if node.kind == "deterministic" else "-"))  # fmt: skip
            for i, text in enumerate(node.lines):
                axes.text(node.x, y + STEP * ((len(node.lines) - 1) / 2 - i) - 0.5, text, size=SMALL if i else BIG,
                          color=SOFT if i else INK, ha="center", va="center_baseline")  # fmt: skip
        dateless = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, facecolor="white", metadata=dateless)


def _ports(nodes: dict[str, Node], ways: list[list[str]]) -> list[tuple[float, float]]:
    """Return where each arrow leaves its first node and enters its last: side by side, in order of where they go."""
    ports = [[0.0, 0.0] for _ in ways]
    for end, (at, towards) in enumerate(((0, 1), (-1, -2))):
        for name, node in nodes.items():
            here = sorted((i for i, way in enumerate(ways) if way[at] == name), key=lambda i: nodes[ways[i][towards]].x)
            step = min(14.0, 0.7 * node.width / max(len(here), 1))
            for place, i in enumerate(here):
                drift = float(np.clip(0.2 * (nodes[ways[i][towards]].x - node.x), -0.2 * node.width, 0.2 * node.width))
                spread = step * (place - (len(here) - 1) / 2)
                ports[i][end] = node.x + (drift if len(here) == 1 else spread)
    return [(a, b) for a, b in ports]


def _curve(way: list[Node], ports: tuple[float, float], middle: list[float], heights: list[float]) -> Curve:
    """Return an arrow's way from the rim of the first node to the rim of the last, straight through rows between."""
    points = [(ports[0], middle[way[0].row] - way[0].height / 2)]
    for bend in way[1:-1]:
        points += [(bend.x, middle[bend.row] + side * heights[bend.row] / 2) for side in (1, -1)]
    points += [(ports[1], middle[way[-1].row] + way[-1].height / 2)]
    vertices, codes = [points[0]], [Curve.MOVETO]
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = (y0 - y1) * 0.45
        vertices += [(x0, y0 - bend), (x1, y1 + bend), (x1, y1)]
        codes += [Curve.CURVE4] * 3
    return Curve(vertices, codes)


def _words(nodes: dict[str, Node], arrows: set[tuple[str, str]]) -> str:
    """Return what the picture shows as a sentence."""
    parents = {name: sorted(a for a, b in arrows if b == name) for name in nodes}
    said = [f"{name} from {', '.join(above)}" for name, above in parents.items() if above]
    return "Graph of the program: " + "; ".join(said) + "."
