"""The server of the local page: every question's main path, bad input, and who may ask."""

import base64
import io
import json
import re
import sys
import time
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayescm
from bayescm.app import inputs, pages, questions, server
from bayescm.app.questions import FIELDS, QUESTIONS
from bayescm.cli import main

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette prefers the next version of httpx
    from starlette.testclient import TestClient

CELLS = {"tp": "26", "fn": "0", "fp": "2", "tn": "6"}
SYSTEMS = {"table": "system,tp,fn,fp,tn\nA,40,10,5,45\nB,35,15,9,42\nC,30,20,5,45"}
SHARED = dict(re.findall(r'(\w+): \["[^"]*", "([^"]+)"', pages.text("common.mjs").partition("SHARED")[2]))
"""What stands in the fields of both pages at first."""
FORMS = questions.FORMS | {"compare": SYSTEMS, "leaderboard": SYSTEMS}
TABS = json.loads(pages.text("tabs.json"))["tabs"]


@pytest.fixture(scope="module")
def client():
    server.warm("summary")  # compiling may take longer than an answer is waited for
    return TestClient(server.create_app(), base_url="http://127.0.0.1:8765")


def asked(client, question, form):
    """Return the answer to a question, which has to be one."""
    response = client.post(f"/api/{question}", json=form)
    assert response.status_code == 200, response.text
    return response.json()


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_question_is_answered_with_all_that_is_shown(client, question):
    found = asked(client, question, FORMS[question])
    assert found["sentence"].endswith(".")
    assert found["records"]
    assert found["csv"].count("\n") == len(found["records"]) + 1
    assert re.search("independent (items|subjects)|one matrix", found["assumptions"])
    assert "import bayescm" in found["code"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_python_that_is_shown_says_the_same(client, question, capsys):
    found = asked(client, question, FORMS[question])
    names: dict = {}
    exec(compile(found["code"], question, "exec"), names)
    assert capsys.readouterr().out
    made = names["found"]
    first = next((row for row in found["records"] if "lower" in row), None)
    data = made["summary"].to_dataset() if question in ("compare", "synthesis") else made
    if question == "items":
        assert int(made["n_items"].values.ravel()[0]) == found["records"][0]["items"]
    elif question == "reported":
        assert made["allowed"].sel(ci_bound="lower").values[0] == first["lower"]
    elif question == "region":
        assert made.bayescm.table()["lower"].iloc[0] == first["lower"]
    elif question in ("curves", "folds"):
        drawn = made["posterior"][first.get("quantity", first.get("metric"))]
        assert drawn.quantile((1 - 0.95) / 2, method="inverted_cdf").item() == pytest.approx(first["lower"])
    else:
        assert np.isclose(data["interval"].sel(ci_bound="lower").values, first["lower"]).any()


def test_numbers_are_the_librarys(client):
    found = asked(client, "summary", CELLS | {"model": "three_binomial", "prior": "laplace", "metrics": "mcc, recall"})
    counts = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    wanted = bayescm.summary(counts, ["mcc", "recall"], model="three_binomial", prior="laplace")
    assert [row["lower"] for row in found["records"]] == wanted["interval"].sel(ci_bound="lower").values.tolist()
    assert "worse than chance is < 0.001" in found["sentence"]


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_pictures(client, kind):
    response = client.post(f"/api/region/{kind}", json=CELLS)
    assert response.status_code == 200
    assert response.content.startswith(b"\x89PNG" if kind == "png" else b"<?xml")


@pytest.mark.parametrize("question", sorted(set(QUESTIONS) - {"region"}))
def test_each_question_has_a_picture(client, question):
    response = client.post(f"/api/{question}/svg", json=FORMS[question])
    assert response.status_code == 200, response.text
    assert b"<svg" in response.content


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_answer_can_be_saved_as_netcdf(client, question, tmp_path):
    response = client.post(f"/api/{question}/nc", json=FORMS[question])
    assert response.status_code == 200, response.text
    (tmp_path / "answer.nc").write_bytes(response.content)
    with xr.open_datatree(tmp_path / "answer.nc") as saved:
        assert "creation_library" in saved.attrs or "creation_library" in saved["summary"].attrs


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_answer_defines_its_words_and_names_its_sources(client, question):
    words = dict(asked(client, question, FORMS[question])["words"])
    assert re.search(r"\b(19|20)\d\d\b", words.pop("Sources"))
    assert words
    assert all(len(meaning) > 8 for meaning in words.values())


def test_a_spreadsheet_becomes_what_it_would_copy(client):
    made = io.BytesIO()
    pd.DataFrame({"system": ["A", "B"], "tp": [40, 35], "fn": [10, 15], "fp": [5, 9], "tn": [45, 42]}).to_excel(
        made, index=False
    )
    sent = client.post("/sheet", json={"content": base64.b64encode(made.getvalue()).decode()})
    table = sent.json()["table"]
    assert table.splitlines()[:2] == ["system\ttp\tfn\tfp\ttn", "A\t40\t10\t5\t45"]
    assert "A leads 2 systems" in asked(client, "leaderboard", {"table": table})["sentence"]


def test_what_is_no_spreadsheet_is_said(client):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/sharedStrings.xml", b" " * (inputs.MOST_UNPACKED + 1))
    for content in (b"", b"PK", b"\0" * 1000, bomb.getvalue()):
        response = client.post("/sheet", json={"content": base64.b64encode(content).decode()})
        assert (response.status_code, response.json()["field"]) == (413 if content == bomb.getvalue() else 400, "table")
    for sent in ({"content": "%"}, {"content": None}, {}, []):
        assert client.post("/sheet", json=sent).status_code == 400


def test_scores_are_told_with_their_areas(client):
    rng = np.random.default_rng(1)
    actual = rng.integers(0, 2, 300)
    score = rng.normal(actual, 1.0).round(4)
    table = "\n".join(["actual,score", *(f"{a},{s}" for a, s in zip(actual, score, strict=True))])
    auc = asked(client, "curves", {"table": table})["records"][0]
    plain = bayescm.auc(actual, score)
    lower, upper = plain["interval"].values
    assert auc["lower"] == pytest.approx(lower, abs=0.015)  # DeLong
    assert auc["upper"] == pytest.approx(upper, abs=0.015)
    assert abs(auc["mean"] - plain["point"]) < 0.02


def test_folds_added_up_are_one_matrix(client):
    form = {"table": "fold,tp,fn,fp,tn\n1,20,5,4,30\n2,22,3,3,31", "metrics": "recall"}
    rows = asked(client, "folds", form)["records"]
    said = bayescm.summary(bayescm.from_cells(tp=42, fn=8, fp=7, tn=61), "recall", ci_kind="eti")
    assert [rows[0]["lower"], rows[0]["upper"]] == pytest.approx(said["interval"].values[0], abs=0.01)
    items = [(1, 1)] * 9 + [(1, 0)] + [(0, 1)] * 2 + [(0, 0)] * 8
    long = "\n".join(f"{fold},{a},{p}" for fold in (1, 2) for a, p in items)
    by_item = asked(client, "folds", {"table": f"fold,actual,predicted\n{long}"})
    cells = asked(client, "folds", {"table": "fold,tp,fn,fp,tn\n1,9,1,2,8\n2,9,1,2,8"})
    assert by_item["records"] == cells["records"]


@pytest.mark.parametrize(
    "table",
    [
        "5\t1\t0\n2\t7\t1\n0\t1\t9",
        "5,1,0\n2,7,1\n0,1,9",
        "5 1 0\n2 7 1\n0 1 9",
        "truth;a;b;c\na;5;1;0\nb;2;7;1\nc;0;1;9",
        "\tpredicted a\tpredicted b\tpredicted c\na\t5\t1\t0\nb\t2\t7\t1\nc\t0\t1\t9",
        "actual,predicted,n\na,a,5\na,b,1\nb,a,2\nb,b,7\nb,c,1\nc,b,1\nc,c,9",
    ],
)
def test_pasted_matrices_of_many_classes(client, table):
    found = asked(client, "summary", {"table": table, "metrics": "accuracy"})
    assert found["records"][0]["point"] == pytest.approx(21 / 26)


def test_the_same_items_are_compared_as_such(client):
    rows = "\n".join(f"{i % 2},{i % 2 if i % 3 else 1 - i % 2},{i % 2 if i % 9 else 1 - i % 2}" for i in range(90))
    found = asked(client, "compare", {"table": f"actual,A,B\n{rows}"})
    assert "design paired" in found["assumptions"]
    assert "B is better than A" in found["sentence"]


def test_what_the_library_warns_of_is_shown(client):
    same = {"table": "system,tp,fn,fp,tn\nA,40,10,5,45\nB,35,15,9,41"}
    assert "same class totals" in asked(client, "compare", same)["notes"][0]


def test_zero_cells_are_answered(client):
    for question in ("summary", "region", "prevalences", "replicate"):
        found = asked(client, question, {"tp": "3", "fn": "0", "fp": "0", "tn": "1"})
        assert "nan" not in found["sentence"]


@pytest.mark.parametrize(
    ("question", "form", "field"),
    [
        ("summary", CELLS | {"tp": "-1"}, "tp"),
        ("summary", CELLS | {"tp": "2.5"}, "tp"),
        ("summary", CELLS | {"fn": ""}, "fn"),
        ("summary", CELLS | {"tp": ["1"]}, "tp"),
        ("summary", CELLS | {"tp": True}, "tp"),
        ("summary", CELLS | {"ci_prob": "1"}, "ci_prob"),
        ("summary", CELLS | {"ci_prob": "nan"}, "ci_prob"),
        ("summary", CELLS | {"prior": "hal"}, "prior"),
        ("summary", CELLS | {"prior": "-1"}, "prior"),
        ("summary", CELLS | {"model": "kfold"}, "model"),
        ("summary", CELLS | {"prevalence": "2"}, "prevalence"),
        ("summary", CELLS | {"metrics": "nonsense"}, "metrics"),
        ("summary", {"table": "1\t2\n3"}, "table"),
        ("summary", {"table": "a,a\n1,2"}, "table"),
        ("summary", {"table": "\ta\tb\na\t5\t1\nb\t2\t7"}, "pos_label"),
        ("summary", {"table": "1,-2\n3,4"}, "table"),
        ("summary", {"table": "only,a,header"}, "table"),
        ("summary", {"table": "actual,predicted\nyes,yes\nno,no\nNA,yes"}, "table"),
        ("summary", {"table": "actual,predicted\nyes,yes\nno,no\nyes,"}, "table"),
        ("summary", {"table": "truth,a,NA\na,5,1\nNA,2,7"}, "table"),
        ("compare", {"table": "actual,A,B\na,a,b\nb,b,n/a"}, "table"),
        ("curves", {"table": "actual,score\nyes,1\nno,.5\nNA,.3"}, "table"),
        ("region", CELLS | {"method": "magic"}, "method"),
        ("replicate", CELLS | {"claim": "rm -rf"}, "claim"),
        ("compare", {}, "table"),
        ("compare", {"table": "1,2\n3,4"}, "table"),
        ("curves", {"table": "actual,points\n0,1\n1,2"}, "table"),
        ("curves", {"table": "actual,score\n0,a\n1,b"}, "table"),
        ("curves", FORMS["curves"] | {"space": "cube"}, "space"),
        ("curves", FORMS["curves"] | {"metric": "nonsense"}, "metric"),
        ("curves", FORMS["curves"] | {"unit": "patient"}, "unit"),
        ("curves", FORMS["curves"] | {"unit": "actual, score"}, "unit"),
        ("summary", {"table": "actual,predicted,a,b,c\n1,1,1,1,1\n0,1,2,2,2", "unit": "a, b, c"}, "unit"),
        ("gaps", FORMS["gaps"] | {"group": "group, tp"}, "table"),
        ("folds", {"table": "tp,fn,fp,tn\n1,2,3,4"}, "table"),
        ("folds", {"table": "fold,tp,fn,fp\n1,2,3,4"}, "table"),
        ("folds", {"table": "fold,tp,fn,fp,tn\n1,2,3,4,x"}, "table"),
        ("folds", {"table": "fold,tp,fn,fp,tn\n1,2,3,4,-5"}, "table"),
        ("folds", FORMS["folds"] | {"pooling": "partial"}, "pooling"),
        ("summary", {"table": "actual,predicted,id\n1,1,a\n0,1,"} | {"unit": "id"}, "unit"),
        ("summary", {"table": "5,1\n2,7", "unit": "id"}, "unit"),
        ("leaderboard", SYSTEMS | {"unit": "system"}, "unit"),
        ("synthesis", {"table": "study,tp,fn,fp,tn\nA,1,2,3,4"}, "table"),
        ("synthesis", {"table": "study,tp,fn,fp,tn\nA,1,2,3,4\nA,1,2,3,4"}, "table"),
        ("synthesis", FORMS["synthesis"] | {"share": "2"}, "share"),
        ("synthesis", FORMS["synthesis"] | {"covariates": "design"}, "covariates"),
        ("drift", FORMS["drift"] | {"loss": "2"}, "loss"),
        ("drift", {"table": "week,actual,predicted\n1,0,0\n1,1,1\n2,0,0\n2,1,0"}, "table"),
        ("gaps", FORMS["gaps"] | {"group": "sex"}, "group"),
        ("gaps", FORMS["gaps"] | {"within": "2"}, "within"),
        ("gaps", FORMS["gaps"] | {"pooled": "perhaps"}, "pooled"),
        ("gaps", {"table": "group,tp,fn,fp,tn\nA,1,2,3,4", "group": "group"}, "table"),
        ("agreement", {"table": "Ann,Ben\n,yes\nno,"}, "table"),
        ("agreement", {"table": "Ann\nyes\nno"}, "table"),
        ("agreement", FORMS["agreement"] | {"subject": "case"}, "subject"),
        ("agreement", FORMS["agreement"] | {"labels": "yes, perhaps"}, "labels"),
        ("agreement", FORMS["agreement"] | {"metrics": "nonsense"}, "metrics"),
        ("reported", FORMS["reported"] | {"recall": "1.2"}, "recall"),
        ("reported", FORMS["reported"] | {"f1": "high"}, "f1"),
        ("reported", FORMS["reported"] | {"n": "0"}, "n"),
        ("reported", FORMS["reported"] | {"positives": "2000"}, "positives"),
        ("reported", FORMS["reported"] | {"others": "nonsense=1"}, "others"),
        ("reported", FORMS["reported"] | {"others": "mcc"}, "others"),
        ("reported", {"n": "100"}, "precision"),
        ("items", {"width": "0"}, "width"),
        ("prevalences", CELLS | {"at": "x"}, "at"),
        ("summary", CELLS | {"path": "/etc/passwd"}, ""),
    ],
)
def test_bad_input_is_explained_beside_its_field(client, question, form, field):
    response = client.post(f"/api/{question}", json=form)
    assert response.status_code == 400, response.text
    assert response.json()["field"] == field, response.text
    message = response.json()["message"]
    assert len(message) > 10
    assert not re.search(r"`|(?<!\w)'\w|bayescm\.|\w=\S|--\w|argument|None|Error|\binf\b|\(\d, \d\)", message), message


def test_what_is_no_form(client):
    for body in (b"", b"{", b"[]", b"3", b'{"tp": 1e999}', b"[" * 100_000):
        response = client.post("/api/summary", content=body, headers={"Content-Type": "application/json"})
        assert response.status_code == 400, body[:20]
    assert client.post("/api/summary", content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 415
    assert client.post("/api/nothing", json={}).status_code == 404
    assert client.post("/api/summary/exe", json=CELLS).status_code == 404
    assert client.get("/../../etc/passwd").status_code == 404


def test_only_this_page_on_this_machine_may_ask(client):
    assert client.get("/", headers={"Host": "example.org"}).status_code == 403
    assert client.get("/", headers={"Host": "127.0.0.1.example.org:8765"}).status_code == 403
    assert client.post("/api/summary", json=CELLS, headers={"Origin": "http://example.org"}).status_code == 403
    assert client.post("/api/summary", json=CELLS, headers={"Origin": "null"}).status_code == 403
    assert client.post("/api/summary", json=CELLS, headers={"Origin": "http://127.0.0.1:1"}).status_code == 403
    assert client.post("/api/summary", json=CELLS, headers={"Origin": "http://127.0.0.1:8765"}).status_code == 200
    assert client.get("/", headers={"Host": "localhost:8765"}).status_code == 200


def test_too_much_is_refused(client):
    form = {"table": "x" * server.MOST_BYTES}
    assert client.post("/api/summary", json=form).status_code == 413
    chunks = (b" " * 100_000 for _ in range(30))  # without a length
    headers = {"Content-Type": "application/json"}
    assert client.post("/api/summary", content=chunks, headers=headers).status_code == 413


def of_classes(k):
    """Return a matrix of k classes, its text, and the answers of three systems to as many items."""
    rng = np.random.default_rng(k)
    matrix = rng.integers(0, 4, (k, k)) + 24 * np.eye(k, dtype=int)
    true, predicted = np.indices((k, k)).reshape(2, -1).repeat(matrix.ravel(), 1)
    answers = [np.where(rng.random(true.size) < share, true, rng.integers(0, k, true.size)) for share in (0.7, 0.9)]
    lines = [",".join(map(str, row)) for row in zip(true, predicted, *answers, strict=True)]
    return matrix, "\n".join("\t".join(map(str, row)) for row in matrix), "\n".join(["actual,A,B,C", *lines])


@pytest.mark.parametrize("k", [3, 12])
@pytest.mark.parametrize("question", [*QUESTIONS])
def test_each_question_of_several_classes_is_answered_as_the_page_asks_it(client, question, k):
    matrix, square, answers = of_classes(k)
    tables = {"compare": answers, "leaderboard": answers, "agreement": answers}
    tables["folds"] = "\n".join(
        ["fold,actual,predicted,n", *(f"{fold},{i},{j},{n}" for fold in (1, 2) for (i, j), n in np.ndenumerate(matrix))]
    )
    own = question in ("curves", "synthesis", "gaps", "drift", "reported")
    form = SHARED | FORMS[question] | ({} if own else {"table": tables.get(question, square)})
    response = client.post(f"/api/{question}", json=form)
    if question in ("region", "prevalences"):
        assert (response.status_code, response.json()["field"]) == (400, "table")
        assert "two labels" in response.json()["message"]
        return
    assert response.status_code == 200, response.text
    found, metrics = response.json(), [row.get("metric") for row in response.json()["records"]]
    titles = [title for title, _ in found["words"]]
    assert len(titles) == len(set(titles))
    if question in ("summary", "replicate"):
        five = ["recall", "specificity", "precision", "accuracy", "mcc"]
        wanted = bayescm.summary(matrix, None if question == "summary" else five)
        assert metrics == wanted["metric"].values.tolist()
    if question == "folds":
        assert metrics[:k] == [f"recall[{label}]" for label in range(k)]
    for kind in ("svg", "nc"):
        assert client.post(f"/api/{question}/{kind}", json=form).status_code == 200


@pytest.mark.parametrize("k", [3, 12])
@pytest.mark.parametrize("question", ["summary", "replicate", "folds"])
def test_a_metric_of_each_class_is_named_as_in_python(client, question, k):
    matrix, square, _ = of_classes(k)
    long = "\n".join(f"{fold},{i},{j},{n}" for fold in (1, 2) for (i, j), n in np.ndenumerate(matrix))
    table = f"fold,actual,predicted,n\n{long}" if question == "folds" else square
    found = asked(client, question, {"table": table, "metrics": "f1"})
    assert [row["metric"] for row in found["records"]] == bayescm.summary(matrix, "f1")["metric"].values.tolist()
    assert "f1[0]" in found["sentence"].casefold()
    assert found["words"][0] == ["F1", "2 TP / (2 TP + FN + FP). Undefined where: TP = FN = FP = 0."]


@pytest.mark.parametrize("k", [3, 12])
def test_a_matrix_of_several_classes_takes_no_two_seconds(client, k):
    asked(client, "summary", {"table": of_classes(k)[1]})
    before = time.process_time()
    asked(client, "summary", {"table": of_classes(k)[1].replace("2", "3")})
    assert time.process_time() - before < 2


TOO_MUCH = {
    "systems": ("leaderboard", "system,tp,fn,fp,tn\n" + "\n".join(f"s{i},9,1,2,8" for i in range(4000))),
    "systems in columns": ("compare", "\n".join(",".join([f"{name}{i}" for i in range(600)]) for name in "ab")),
    "folds": ("folds", "fold,tp,fn,fp,tn\n" + "\n".join(f"{i},9,1,2,8" for i in range(4000))),
    "classes": ("summary", "\n".join(["\t".join("1" * 51)] * 51)),
    "named classes": (
        "replicate",
        "\n".join([",".join(["truth", *map(str, range(51))]), *(f"{i}{',1' * 51}" for i in range(51))]),
    ),
    "classes of items": ("summary", "actual,predicted\n" + "\n".join(f"{i},{i}" for i in range(20_000))),
    "classes of systems": ("compare", "y_true,A,B\n" + "\n".join(f"{i},{i},0" for i in range(20_000))),
    "items": ("curves", "actual,score\n" + "0,1\n1,2\n" * 30_000),
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_more_than_a_page_should_compute_is_refused_with_the_call_of_python(client, what):
    question, table = TOO_MUCH[what]
    response = client.post(f"/api/{question}", json={"table": table})
    said = response.json()
    assert (response.status_code, said["field"]) == (413, "table")
    assert re.fullmatch(
        r"At most [\d,]+ (systems|folds|classes|columns|lines) here\. "
        r"In Python: data = pd\.read_csv\('your-file\.csv'\); bayescm\..*\)\.",
        said["message"],
    )


def test_too_many_entries_and_too_little_memory_are_said(client, monkeypatch):
    for question, name in (("prevalences", "at"), ("summary", "metrics")):
        response = client.post(f"/api/{question}", json=CELLS | {name: "0.1," * (inputs.MOST_LISTED + 1)})
        assert (response.status_code, response.json()["field"]) == (413, name)

    def large(form):
        raise MemoryError

    monkeypatch.setitem(server.QUESTIONS, "summary", large)
    response = client.post("/api/summary", json=CELLS | {"tp": "31"})
    assert (response.status_code, response.json()["field"]) == (413, "table")


@pytest.mark.parametrize("question", sorted(set(QUESTIONS) - {"items", "reported"}))
def test_the_call_that_takes_more_is_one(question):
    form = FORMS[question]
    text = form.get("table") or "actual,predicted\n1,1\n1,0\n0,0\n0,1\n0,0"
    data = pd.read_csv(io.StringIO(text))
    assert eval(f"bayescm.{server._CALLS[question]}", {"bayescm": bayescm, "data": data}).attrs


def test_what_takes_too_long_is_said(client, monkeypatch):
    monkeypatch.setattr(server, "SECONDS", 0.05)
    monkeypatch.setitem(server.QUESTIONS, "summary", lambda form: time.sleep(0.5))
    assert client.post("/api/summary", json=CELLS | {"tp": "27"}).status_code == 503
    time.sleep(0.6)
    server._found.cache_clear()


def test_too_many_questions_at_once_are_refused(client):
    client.app.state.asked = server.ASKED
    try:
        refused = client.post("/api/summary", json=CELLS)
        assert (refused.status_code, client.get("/").status_code) == (429, 200)
    finally:
        client.app.state.asked = 0
    assert client.post("/api/summary", json=CELLS).status_code == 200
    assert client.post("/api/summary", json=CELLS | {"tp": "x"}).status_code == 400
    assert client.app.state.asked == 0


def test_few_answers_are_remembered(client):
    for tp in range(2 * server.REMEMBERED):
        asked(client, "summary", CELLS | {"tp": str(tp)})
    assert server._found.cache_info().currsize == server.REMEMBERED


FEW = {
    "bayescm.app.pages.text", "bayescm.app.pages.single_file", "bayescm.metrics.forms.proportion",
    "bayescm._kernels.cache.folder", "bayescm._kernels.cache.sources", "bayescm._kernels.library.library",
    "bayescm._kernels.library.get", "bayescm.data.elsewhere._offered",
}  # fmt: skip
"""Of which there is one, or one for each file of the page, each metric of the table, each kernel or each room."""


@pytest.mark.slow
def test_every_cache_of_the_library_is_bounded(client):
    for question in QUESTIONS:
        asked(client, question, FORMS[question])
    caches = {}
    for one in [one for name, one in list(sys.modules.items()) if name.partition(".")[0] == "bayescm"]:
        owners = [one, *(kind for kind in vars(one).values() if isinstance(kind, type))]
        found = [value for owner in owners for value in list(vars(owner).values()) if hasattr(value, "cache_info")]
        caches |= {f"{cache.__module__}.{cache.__qualname__}": cache for cache in found}
    ours = {name: cache.cache_info() for name, cache in caches.items() if name.startswith("bayescm.")}
    assert len(ours) > 8
    assert {name for name, info in ours.items() if info.maxsize is None} <= FEW
    assert all(info.maxsize <= 256 for info in ours.values() if info.maxsize is not None)
    assert all(ours[name].currsize < 100 for name in FEW & set(ours))


@pytest.mark.slow
def test_pictures_are_let_go(client):
    import gc

    from matplotlib.figure import Figure

    for tp in range(6):
        assert client.post("/api/replicate/svg", json=CELLS | {"tp": str(20 + tp)}).status_code == 200
    gc.collect()
    assert not [one for one in gc.get_objects() if type(one) is Figure]


def test_one_thread_answers(client, monkeypatch):
    import threading

    seen = set()
    real = server.QUESTIONS["replicate"]

    def answer(form):
        seen.add(threading.active_count())
        return real(form)

    monkeypatch.setitem(server.QUESTIONS, "replicate", answer)
    before = threading.active_count()
    with client:  # one event loop, as the server has
        at_once = [threading.Thread(target=asked, args=(client, "replicate", CELLS | {"tp": str(i)})) for i in range(4)]
        for one in at_once:
            one.start()
        for one in at_once:
            one.join()
    assert max(seen) <= before + len(at_once) + 2  # those that ask, the event loop's, and the one that answers


def test_nothing_is_written_to_disk(client, monkeypatch):
    def refuse(event, arguments):
        if event == "open" and watched and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
            raise AssertionError(f"{arguments[0]} was opened to write")

    watched: list = []
    asked(client, "leaderboard", SYSTEMS)  # compiled kernels are stored before
    sys.addaudithook(refuse)
    watched.append(True)
    try:
        table = {"table": SYSTEMS["table"].replace("40", "41")}
        for path in ("leaderboard", "leaderboard/svg", "leaderboard/png", "leaderboard/nc"):
            assert client.post(f"/api/{path}", json=table).status_code == 200
    finally:
        watched.clear()


def test_the_page_asks_no_other_host(client):
    for path in ("/", "/page.css", "/app.mjs", "/common.mjs", "/tabs.json"):
        response = client.get(path)
        assert response.status_code == 200
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert "//" not in response.text.replace("// ", "").replace("http://127.0.0.1", "")
        assert "access-control-allow-origin" not in response.headers


def test_every_field_of_the_page_is_known_to_the_server(client):
    assert list(TABS) == list(QUESTIONS)
    page = json.loads(client.get("/tabs.json").text)
    named = {name for _, names, *_ in TABS.values() for name in names}
    assert named == {"cells", "pairs", "rows", *SHARED} | set(page["fields"])
    assert set(SHARED) <= FIELDS


@pytest.mark.slow
def test_random_forms_get_an_answer_or_a_reason(client):
    rng = np.random.default_rng(0)
    pool = [
        "",
        "0",
        "1",
        "-3",
        "1e309",
        "0.5",
        "nan",
        "abc",
        "\x00",
        "١",
        "7%",
        "1,2",
        "a\tb\n1\t2",
        "[[1]]",
        None,
        3,
        [],
        {},
    ]
    for _ in range(60):
        question = str(rng.choice(list(QUESTIONS)))
        names = rng.choice(sorted(FIELDS - {"n_items"}), 4, replace=False)
        form = FORMS[question] | {str(name): pool[rng.integers(len(pool))] for name in names}
        body = json.dumps(form).encode()
        response = client.post(f"/api/{question}", content=body, headers={"Content-Type": "application/json"})
        assert response.status_code in (200, 400), (question, form, response.text)
        json.loads(response.text, parse_constant=lambda word: pytest.fail(word))


def test_the_command_says_what_is_wrong(capsys):
    assert main(["app", "--port", "0"]) == 2
    assert "--port must lie between 1 and 65535" in capsys.readouterr().err


def test_no_field_has_the_id_of_another_part_of_the_page(client):
    parts = set(re.findall(r'id="(\w+)"', client.get("/").text))
    assert parts
    assert not parts & (FIELDS | set(json.loads(client.get("/tabs.json").text)["fields"]))


def test_two_percentages_are_no_beta():
    from bayescm.app import inputs

    with pytest.raises(inputs.FieldError, match="Two numbers are a Beta's"):
        inputs.prevalence({"prevalence": "90%, 10%"})
    assert inputs.prevalence({"prevalence": "2, 18"}) == (2.0, 18.0)
    assert inputs.prevalence({"prevalence": "10%"}) == 0.1
    assert inputs.prevalence({"prevalence": "50%, 30%, 20%"}) == (0.5, 0.3, 0.2)


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Return what the server starts, in order: the process that compiles, and warming."""
    from bayescm._kernels import cache

    found: list[str] = []
    monkeypatch.setattr(cache, "folder", lambda: str(tmp_path))
    monkeypatch.setattr(server.dispatch, "ready", lambda: False)
    monkeypatch.setattr(server, "warm", found.append)
    monkeypatch.setattr(server.uvicorn, "run", lambda *args, **options: None)

    class Process:
        def __init__(self, command, env):
            found.append("process")
            assert env["BAYESCM_COMPILE"] == "1"

        def wait(self):
            return 0

        def terminate(self):
            found.append("terminate")

    class Thread:
        def __init__(self, target, args, daemon):
            self.run = lambda: target(*args)

        def start(self):
            self.run()

    monkeypatch.setattr(server.subprocess, "Popen", Process)
    monkeypatch.setattr(server.threading, "Thread", Thread)
    return found


def test_what_is_compiled_is_not_compiled_again(started, monkeypatch):
    server.serve()
    assert started == ["summary", "process", *QUESTIONS, "terminate"]
    started.clear()
    server.compile_all()  # as that process does
    assert started == [*QUESTIONS]
    started.clear()
    server.serve()
    assert started == ["summary", *QUESTIONS]
    started.clear()
    monkeypatch.setattr(server, "_NEEDED", "another version")
    server.serve()
    assert "process" in started


def test_nothing_is_compiled_where_a_library_has_it(started, monkeypatch):
    monkeypatch.setattr(server.dispatch, "ready", lambda: True)
    server.serve()
    assert started == ["summary", *QUESTIONS]


def test_nothing_is_compiled_ahead_where_it_cannot_be_kept(started, monkeypatch, capsys):
    monkeypatch.setattr(server.dispatch, "folder", lambda: None)
    server.serve()
    assert started == ["summary"]
    assert "set BAYESCM_CACHE_DIR" in capsys.readouterr().out


def test_probabilities_are_written_one_way(client):
    table = "system,correct,wrong\nA,900,100\nB,500,500\n<b>,400,600"
    found = asked(client, "leaderboard", {"table": table})
    best = {row["system"]: row["best"] for row in found["records"]}
    assert 0 < best["<b>"] < 1e-15
    cells = re.findall(r"<td[^>]*>(.*?)</td>", found["table"])
    assert cells.count("&lt; 0.001") >= 2
    assert "&lt;b&gt;" in cells
    assert "<b>" not in found["table"]
    assert not re.search(r"e-\d\d", found["table"])
    assert "P(best)" in found["table"]
    assert "e-" in found["csv"]


PAIRS = dict(zip(inputs.PAIRS, map(str, (58, 3, 14, 5, 4, 3, 9, 64)), strict=True))


def test_two_tests_on_the_same_patients_are_compared_by_eight_numbers(client):
    found = asked(client, "compare", PAIRS)
    truth = np.repeat([1, 1, 1, 1, 0, 0, 0, 0], (58, 3, 14, 5, 4, 3, 9, 64))
    a = np.repeat([1, 1, 0, 0, 1, 1, 0, 0], (58, 3, 14, 5, 4, 3, 9, 64))
    b = np.repeat([1, 0, 1, 0, 1, 0, 1, 0], (58, 3, 14, 5, 4, 3, 9, 64))
    counts = bayescm.data.paired_counts(truth, {"A": a, "B": b})
    wanted = bayescm.compare_systems(counts, ["sensitivity", "specificity"], random_seed=0).bayescm
    assert found["sentence"] == " ".join(wanted[name].bayescm.sentence for name in ("recall", "specificity"))
    assert "sensitivity" in found["sentence"]
    assert "specificity" in found["sentence"]
    assert [row["lower"] for row in found["records"]] == pytest.approx(wanted.table()["lower"].tolist())
    assert client.post("/api/compare/svg", json=PAIRS).status_code == 200
    missing = client.post("/api/compare", json=PAIRS | {"h_none": "x"}).json()
    assert missing["field"] == "h_none"
    assert client.post("/api/compare", json=PAIRS | {"d_a": "9999999"}).status_code == 413


def test_the_picture_is_of_the_pair_that_the_sentence_names(client, monkeypatch):
    drawn = []
    real = bayescm.plots.plot_difference
    monkeypatch.setattr(
        bayescm.plots, "plot_difference", lambda tree, *of, ax: drawn.append(of) or real(tree, *of, ax=ax)
    )
    table = {"table": "system,tp,fn,fp,tn\nA,40,10,5,45\nB,41,9,6,44\nC,20,30,15,35"}
    sentence = asked(client, "compare", table)["sentence"]
    assert client.post("/api/compare/svg", json=table).status_code == 200
    assert drawn == [("accuracy", "A - C")]
    assert "A is better than C" in sentence


SPREADSHEETS = {
    "an empty corner": "\tTest positive\tTest negative\nDiseased\t26\t0\nHealthy\t2\t6",
    "results in rows": "\tdiseased\thealthy\ttotal\npositive\t26\t2\t28\nnegative\t0\t6\t6\ntotal\t26\t8\t34",
    "no corner": "positive;negative\ndiseased;26;0\nhealthy;2;6",
    "decimal commas": "\tpositive\tnegative\nsick\t26,0\t0,0\nwell\t2,0\t6,0",
    "German": ";positiv;negativ\nkrank;26;0\ngesund;2;6",
    "a cell in each line": "TP\t26\nFN\t0\nFP\t2\nTN\t6",
    "a row per patient": "disease\ttest\n"
    + "diseased\tpositive\n" * 26
    + "healthy\tpositive\n" * 2
    + "healthy\tnegative\n" * 6,
    "labels alone, rows as the switch says": "\tdiseased\thealthy\ndiseased\t26\t0\nhealthy\t2\t6",
}


@pytest.mark.parametrize("what", SPREADSHEETS)
def test_what_a_spreadsheet_copies_is_read(client, what):
    points = [
        [row["point"] for row in asked(client, "summary", form | {"metrics": "recall, specificity, ppv"})["records"]]
        for form in (CELLS, {"table": SPREADSHEETS[what]})
    ]
    assert points[0] == points[1]


def test_a_table_that_does_not_say_its_sides_follows_the_switch(client):
    table = {"table": SPREADSHEETS["labels alone, rows as the switch says"], "metrics": "recall", "rows": "test"}
    found = asked(client, "summary", table)
    assert found["records"][0]["point"] == pytest.approx(26 / 28)
    assert "rows='test'" in found["code"]
    own = {"table": "\tred\tblue\nred\t5\t1\nblue\t2\t7", "pos_label": "red", "metrics": "recall"}
    assert asked(client, "summary", own)["records"][0]["point"] == pytest.approx(5 / 6)


UNITS = {
    "summary": "actual,predicted", "prevalences": "actual,predicted", "compare": "actual,A,B",
    "leaderboard": "actual,A,B", "curves": "actual,score",
}  # fmt: skip


@pytest.mark.parametrize("question", UNITS)
def test_a_column_of_units_is_what_was_sampled(client, question):
    header, rng = UNITS[question], np.random.default_rng(5)
    columns = rng.random((40, header.count(",") + 1)).round(2 if question == "curves" else 0)
    columns[:, 0] = rng.integers(0, 2, 40)
    rows = "\n".join(f"case {i // 4},{','.join(f'{value:g}' for value in row)}" for i, row in enumerate(columns))
    form = {"table": f"patient,{header}\n{rows}", "metrics": "recall", "at": "10%"}
    told = asked(client, question, form | {"unit": "patient"})
    refused = client.post(f"/api/{question}", json=form | {"unit": "ward"})
    assert (refused.status_code, refused.json()["field"]) == (400, "unit")
    assert told["records"][0] != asked(client, question, form)["records"][0]
    assert re.search("independent (patients|units)", told["assumptions"])
    names: dict = {}
    exec(compile(told["code"], question, "exec"), names)
    made, lower = names["found"], told["records"][0]["lower"]
    if question == "curves":
        assert made["posterior"]["auc"].quantile((1 - 0.95) / 2, method="inverted_cdf").item() == pytest.approx(lower)
    else:
        data = made["summary"].to_dataset() if question == "compare" else made
        assert np.isclose(data["interval"].sel(ci_bound="lower").values, lower).any()


@pytest.mark.slow
def test_printed_numbers_that_no_matrix_has_are_named_without_a_picture(client):
    form = FORMS["reported"] | {"f1": "0.90"}
    assert asked(client, "reported", form)["sentence"].startswith("Impossible")
    response = client.post("/api/reported/svg", json=form)
    assert (response.status_code, response.json()["message"]) == (400, "This answer has no picture.")
    one = asked(client, "reported", {"n": "34", "precision": ".93", "accuracy": ".94", "others": "specificity=.75"})
    assert "TP 26, FP 2, FN 0, TN 6" in one["sentence"]
