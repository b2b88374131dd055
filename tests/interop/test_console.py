"""The console: its files by plain HTTP, and the page in headless Chromium."""
import contextlib
import gzip
import http.server
import json
import re
import subprocess
import threading
import time

import lancedb
import pyarrow as pa
import pytest
from conftest import PROGRAM, STABLE
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from served import Served
from test_server_views import SLOW, slow_source

V = "/v1/materialized_view/"
FILES = {"/": "text/html; charset=utf-8", "/console/index.html": "text/html; charset=utf-8", "/console/console.css": "text/css; charset=utf-8",
         "/console/console.svg": "image/svg+xml"}
SCRIPTS = [f"/console/{name}.js" for name in ("catalog", "chart", "console", "elements", "jobs", "lineage", "query", "requests", "state", "views")]
FILES |= dict.fromkeys(SCRIPTS, "text/javascript; charset=utf-8")
PEOPLE = pa.table({"id": pa.array(range(10), pa.int64()), "name": [f"n{i}" for i in range(9)] + [None], "score": [i / 2 for i in range(10)],
                   "born": pa.array([i * 86400000 for i in range(10)], pa.timestamp("ms"))})
HOSTILE = "<img src=x onerror=\"window.hit=1\"><script>window.hit=1</script>\"'&amp;"


# ---- the files ----


@pytest.fixture
def served(db):
    server = Served(db)
    yield server
    server.stop()


def raw(served, path, method="GET", **headers):
    connection = http.client.HTTPConnection(served.url.split("//")[1], timeout=60)
    with contextlib.closing(connection):
        connection.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


def test_files_and_their_headers(served):
    total = 0
    for path, content_type in FILES.items():
        status, headers, body = raw(served, path)
        assert (status, headers["content-type"], headers["x-content-type-options"]) == (200, content_type, "nosniff"), path
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'" and "unsafe" not in str(policy)
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
        assert (headers["cache-control"], headers["vary"]) == ("no-cache", "accept-encoding")
        total += len(body) if path != "/" else 0
        status, zipped, smaller = raw(served, path, accept_encoding="gzip")
        if len(body) >= 1024:
            assert zipped["content-encoding"] == "gzip" and gzip.decompress(smaller) == body and len(smaller) < len(body)
        status, known, nothing = raw(served, path, if_none_match=headers["etag"])
        assert (status, nothing, known["etag"]) == (304, b"", headers["etag"])
        assert raw(served, path, if_none_match='W/"another"')[0] == 200
    assert total < 60_000
    assert len({raw(served, path)[1]["etag"] for path in FILES}) == len(FILES) - 1


def test_the_page_is_whole(served):
    page = raw(served, "/")[2].decode()
    assert not re.search(r"\son\w+\s*=|<style|style\s*=|javascript:|https?://", page), "inline handlers, styles, other hosts"
    assert re.findall(r"<script[^>]*>([^<]*)</script>", page) == [""]
    assert {"/" + at for at in re.findall(r'(?:src|href)="([^#"]+)"', page)} <= set(FILES)
    script = "".join(raw(served, path)[2].decode() for path in SCRIPTS)
    assert {f"/console/{name}" for name in re.findall(r'from "\./(.*?)"', script)} == set(SCRIPTS) - {"/console/console.js"}
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\.cookie|https?://(?!www\.w3\.org/2000/svg)", script)


def test_other_methods_and_files(served):
    for path in FILES:
        for method in ("HEAD", "POST", "PUT", "DELETE"):
            assert raw(served, path, method)[0] == 405, (path, method)
    for path in ("/console/nothing", "/console/..", "/console/%2e%2e", "/console/Console.js"):
        assert raw(served, path)[0] in (400, 404), path
    assert raw(served, "/console")[0] == 404


def test_pages_of_other_sites_are_refused(served):
    for site in ("cross-site", "same-site", "nonsense"):
        headers = {"sec-fetch-site": site}
        assert "other sites" in served.refused(403, 15, "/v1/namespace/evil/create", {}, headers=headers)
        served.refused(403, 15, "/v1/namespace/$/list", method="GET", headers=headers)
        assert raw(served, "/", sec_fetch_site=site)[0] == raw(served, "/health", sec_fetch_site=site)[0] == 200
    for site in ("same-origin", "none"):
        assert served.ok("/v1/namespace/$/list", method="GET", headers={"sec-fetch-site": site})["namespaces"] == []


def test_strange_names_are_refused(db):
    served = Served(db)
    for host in ("evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example:80", "1.2.3.4x"):
        served.refused(403, 15, "/v1/namespace/$/list", method="GET", headers={"host": host})
        served.refused(403, 15, "/v1/namespace/evil/create", {}, headers={"host": host})
        assert raw(served, "/", host=host)[0] == 200
    for host in ("localhost", "LocalHost:1", "127.0.0.1", "10.0.0.7:80", "[::1]:80", "a.localhost:9", "server", ""):
        assert served.ok("/v1/namespace/$/list", method="GET", headers={"host": host})["namespaces"] == [], host
    served.stop()
    anybody = Served(db, "--allow-anonymous")
    assert anybody.ok("/v1/namespace/$/list", method="GET", headers={"host": "data.example"})["namespaces"] == []
    anybody.stop()
    secret = key(db)
    keyed = Served(db)
    assert keyed.ok("/v1/namespace/$/list", method="GET", headers={"host": "data.example", "x-api-key": secret})["namespaces"] == []
    keyed.refused(401, 16, "/v1/namespace/$/list", method="GET", headers={"host": "data.example"})
    keyed.stop()


def key(db, *words):
    return json.loads(subprocess.run([PROGRAM, "--db", str(db), "--json", "key", "create", *words], capture_output=True, check=True).stdout)["key"]


def test_no_key_is_needed_for_the_files(db):
    key(db)
    served = Served(db)
    for path in FILES:
        assert raw(served, path)[0] == 200
    served.refused(401, 16, "/v1/query", {"query": "SELECT 1 FROM t"}, headers={"accept": "application/json"})
    served.stop()


def cells(served, sql, accept="application/json", **more):
    return served.call("/v1/query", {"query": sql, **more}, headers={"accept": accept})


def test_rows_as_json(db, lancedb40):
    lancedb40.create_table("t", pa.table({"n": pa.array([2**63 - 1, None, -1], pa.int64()), "s": [HOSTILE, "", "é\n\u2028"],
                                          "l": [[1, 2], None, []], "d": pa.array([0, 1, None], pa.date32())}))
    lancedb40.create_table("many", pa.table({"i": pa.array(range(12000), pa.int64())}))
    lancedb40.create_table("wide", pa.table({"x": ["x" * 1_000_000] * 10}))
    served = Served(db)
    status, told = cells(served, "SELECT * FROM t")
    assert status == 200 and told == {
        "columns": [{"name": "n", "type": "int64"}, {"name": "s", "type": "string"}, {"name": "l", "type": "list<item: int64>"}, {"name": "d", "type": "date32[day]"}],
        "rows": [["9223372036854775807", HOSTILE, "[1,2]", "1970-01-01"], [None, "", None, "1970-01-02"], ["-1", "é\n\u2028", "[]", None]], "more": False}
    for limit, rows, more in ((0, 0, True), (2, 2, True), (3, 3, False), (4, 3, False)):
        told = cells(served, "SELECT n FROM t", limit=limit)[1]
        assert (len(told["rows"]), told["more"]) == (rows, more)
    for words, rows in (({}, 1000), ({"limit": 5000}, 5000), ({"limit": 1 << 40}, 10000)):
        told = cells(served, "SELECT i FROM many", **words)[1]
        assert (len(told["rows"]), told["more"]) == (rows, True)
    told = cells(served, "SELECT x FROM wide")[1]
    assert (len(told["rows"]), told["more"]) == (5, True)
    for accept in ("application/json;q=0.9, */*", "Application/JSON"):
        assert cells(served, "SELECT n FROM t", accept)[1]["more"] is False
    for accept in ("*/*", "application/vnd.apache.arrow.file, application/json", "application/jsonx", ""):
        assert pa.ipc.open_file(cells(served, "SELECT n FROM t", accept)[1]).read_all().num_rows == 3
    served.refused(400, 13, "/v1/query", {"query": "SELEC"}, headers={"accept": "application/json"})
    served.refused(400, 13, "/v1/query", {"query": "SELECT n FROM t", "limit": -1}, headers={"accept": "application/json"})
    served.stop()
    served = Served(db, "--max-rows", "7")
    assert len(cells(served, "SELECT i FROM many")[1]["rows"]) == 7
    served.stop()


# ---- the page ----


@pytest.fixture(scope="module")
def chromium():
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1300,1400", "--lang=en"):
        options.add_argument(word)
    options.binary_location = "/usr/bin/chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    yield driver
    driver.quit()


class Page:
    """A page of a server in the browser."""

    def __init__(self, driver, url):
        self.driver, self.url = driver, url
        driver.get_log("browser")
        driver.get_log("performance")
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        driver.get(url + "/")

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def run(self, script, *words):
        return self.driver.execute_script(script, *words)

    def text(self, selector):
        return self.run("const e = document.querySelector(arguments[0]); return e && !e.hidden ? e.innerText ?? e.textContent : ''", selector)

    def table(self, selector):
        """The texts of the body of a table; read at once, as the page may change it."""
        return self.run("return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map((r) => [...r.cells].map((c) => c.innerText.trim()))", selector)

    def until(self, what, seconds=20):
        for _ in range(seconds * 50):
            found = what()
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(f"never came: {self.text('body')}")

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def press(self, *keys):
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def focus(self):
        return self.run("const e = document.activeElement; return e.id || e.getAttribute('aria-label') || e.textContent")

    def loaded(self):
        self.until(lambda: re.match(r"\d+ tables?", self.text("#said")))
        return self

    def query(self, sql):
        self.run("document.querySelector('#query-said').textContent = ''")
        self.run("document.querySelector('#sql').value = arguments[0]; document.querySelector('#run').click()", sql)
        self.until(lambda: re.search(r"rows? in|^$", self.text("#query-said")) and (self.text("#query-said") or self.text("#query-trouble")))

    def check_quiet(self):
        """No message of the browser, no request to another host."""
        assert self.driver.get_log("browser") == []
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        urls = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        assert len(urls) > 5 and all(url.startswith(self.url + "/") for url in urls), urls


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A server with a table, a view over it, a view over that, and one in a namespace."""
    db = tmp_path_factory.mktemp("console") / "db"
    connection = lancedb.connect(str(db))
    connection.create_table("src", PEOPLE, storage_options=STABLE)
    served = Served(db)
    served.connection = connection
    served.ok("/v1/namespace/ops/create")
    for name, query in (("adults", "SELECT id, name, score FROM src WHERE id > 3"), ("few", "SELECT id FROM adults WHERE id < 8"), ("ops$wide", "SELECT id, upper(name) AS up FROM adults")):
        served.wait(served.ok(f"{V}{name}/create", {"query": query})["job_id"])
    yield served
    served.stop()


@pytest.fixture
def page(chromium, house):
    return Page(chromium, house.url).loaded()


def grow(house):
    house.connection.open_table("src").add(pa.table({"id": pa.array([100], pa.int64()), "name": ["new"], "score": [1.0], "born": pa.array([0], pa.timestamp("ms"))}))


def row_of(page, view):
    return next((row for row in page.table("#views") if row[0] == view), None)


def test_what_is_there_is_shown(page):
    assert page.driver.title == "Glaive console" and page.text("#said") == "4 tables, 3 views"
    assert re.split(r"\s*\n\s*", page.text("#catalog")) == ["ops namespace", "wide view", "adults view", "few view", "src table"]
    assert [row[0] for row in page.table("#views")] == ["adults", "few", "ops.wide"]
    name, source, fresh, behind, changed, rows, at, _ = row_of(page, "adults")
    assert (source, behind, rows) == ("src", "0", "6") and fresh.startswith("up to date") and re.search(r"\d:\d\d", at)
    assert page.all("#views time[datetime]") and not page.all("#views .bad")
    assert [row[:3] for row in page.table("#jobs")] == [["create", t, "done"] for t in ("ops.wide", "few", "adults")]
    assert page.text("#trouble") == ""
    page.check_quiet()


def test_the_picture_has_the_edges(page):
    edges = {(e.get_attribute("data-from"), e.get_attribute("data-to")) for e in page.all("#picture [data-from]")}
    assert edges == {("src", "adults"), ("adults", "few"), ("adults", "ops$wide")}
    boxes = {e.get_attribute("data-node"): e.rect for e in page.all("#picture [data-node]")}
    assert set(boxes) == {"src", "adults", "few", "ops$wide"}
    for start, end in edges:
        assert boxes[start]["x"] + boxes[start]["width"] < boxes[end]["x"]
    assert abs(boxes["few"]["y"] - boxes["ops$wide"]["y"]) >= boxes["few"]["height"]
    page.click("#lineage summary")
    assert [row[:2] for row in page.table("#edges")] == [["src", "adults"], ["adults", "few"], ["adults", "ops.wide"]]
    assert page.one("#picture svg").accessible_name.startswith("Lineage: 3 views")


def test_a_table_and_a_view_are_described(page):
    page.click('#catalog [data-key="src"]')
    page.until(lambda: "Rows" in page.text("#details"))
    assert page.text("#details-title") == "src" and page.focus() == "details-title"
    assert page.table("#details")[:3] == [["id", "int64", "yes"], ["name", "string", "yes"], ["score", "double", "yes"]]
    assert page.table("#details")[3][1].startswith("timestamp")
    page.click('#catalog [data-key="ops$wide"]')
    page.until(lambda: "SELECT id, upper(name) AS up FROM adults" in page.text("#details"))
    next(b for b in page.all("#details button") if b.text == "Query it").click()
    assert page.one("#sql").get_attribute("value") == 'SELECT * FROM "ops"."wide" LIMIT 100' and page.focus() == "sql"
    page.click("#run")
    page.until(lambda: "6 rows" in page.text("#query-said"))
    next(b for b in page.all("#details button") if b.text == "Close").click()
    assert page.text("#details") == "" and page.focus() == "wide"


def test_refresh_by_the_button(page, house):
    jobs = len(page.table("#jobs"))
    grow(house)
    page.click("#reload")
    page.until(lambda: "1 version behind" in row_of(page, "adults")[2])
    assert row_of(page, "adults")[3:5] == ["1", "1"]
    assert "1 version behind" in page.text('#picture [data-node="adults"]')
    button = page.one('[aria-label="Refresh adults"]')
    button.click()
    page.until(lambda: len(page.table("#jobs")) == jobs + 1)
    page.until(lambda: page.table("#jobs")[0][:3] == ["refresh", "adults", "done"])
    assert page.table("#jobs")[0][5] == "incremental, 1 row written"
    page.until(lambda: row_of(page, "adults")[2].startswith("up to date") and row_of(page, "adults")[5] == "7")
    page.until(lambda: "1 version behind" in row_of(page, "few")[2])
    assert page.text("#said") == "refresh of adults: done, incremental, 1 row written"
    page.one('[aria-label="Rebuild few"]').click()
    page.until(lambda: page.table("#jobs")[0][:3] == ["refresh", "few", "done"])
    assert page.table("#jobs")[0][5].startswith("rebuild")
    page.check_quiet()


def test_progress_and_cancel(chromium, db, lancedb40):
    slow_source(lancedb40)
    served = Served(db)
    served.wait(served.ok(f"{V}s/create", {"query": SLOW, "with_no_data": True})["job_id"])
    page = Page(chromium, served.url).loaded()
    assert "not filled yet" in row_of(page, "s")[2]
    page.click('[aria-label="Refresh s"]')
    page.until(lambda: page.table("#jobs")[0][:3] == ["refresh", "s", "running"])
    page.until(lambda: re.match(r"[\d,]+ of 3,000,000", page.table("#jobs")[0][3]))
    assert page.run("const p = document.querySelector('#jobs progress'); return p.max") == 3_000_000
    page.one('[aria-label="Cancel refresh of s"]').click()
    page.until(lambda: page.table("#jobs")[0][2] == "cancelled")
    assert page.text("#said").startswith("refresh of s: cancelled") and not page.run("return document.querySelector('#jobs progress').checkVisibility()")
    assert "not filled yet" in row_of(page, "s")[2]
    page.check_quiet()
    served.stop()


def test_queries(page):
    page.query("SELECT name, score, id FROM src WHERE id < 10 ORDER BY id")
    assert page.text("#query-said").startswith("10 rows in ")
    rows = page.table("#rows")
    assert rows[0] == ["n0", "0.0", "0"] and rows[9] == ["null", "4.5", "9"]
    assert page.run("return [...document.querySelectorAll('#rows th')].map((h) => h.innerText.split('\\n'))") == [["name", "string"], ["score", "double"], ["id", "int64"]]
    bars = page.all("#chart rect.bar")
    assert len(bars) == 9, "a null has no bar"
    heights = [bar.rect["height"] for bar in bars]
    assert heights == sorted(heights) and heights[8] == pytest.approx(4 * heights[2], abs=2)
    assert page.one("#chart svg").accessible_name == "Bars: score by name, 9 points, from 0 to 4"
    Select(page.one("#chart-kind")).select_by_visible_text("line")
    Select(page.one("#chart-x")).select_by_visible_text("id")
    assert page.one("#chart svg").accessible_name == "Line: score by id, 10 points, from 0 to 4.5" and len(page.all("#chart circle")) == 10
    Select(page.one("#chart-kind")).select_by_visible_text("none")
    assert page.all("#chart svg") == []
    page.query("SELECT born, id FROM src WHERE id < 10")
    assert page.one("#chart svg").accessible_name.startswith("Line: id by born, 10 points")
    page.query("SELECT name FROM src")
    assert not page.one("#chart-tools").is_displayed() and page.all("#chart svg") == []
    page.query("SELEC nothing")
    assert "expected SELECT" in page.text("#query-trouble") and page.text("#result") == ""
    page.query("SELECT count(*) AS n FROM src")
    assert page.text("#query-trouble") == ""


def test_a_query_is_stopped(chromium, db, lancedb40):
    slow_source(lancedb40)
    served = Served(db)
    page = Page(chromium, served.url).loaded()
    page.run("document.querySelector('#sql').value = arguments[0]", "SELECT count(*) AS n FROM big WHERE regexp_replace(concat('x', cast(id as varchar), 'y'), '[0-9]+(y)', 'z') = 'a'")
    page.click("#run")
    page.until(lambda: page.one("#stop").is_enabled())
    page.click("#stop")
    page.until(lambda: page.text("#query-trouble") == "The query was stopped.")
    page.query("SELECT id FROM big WHERE id < 300")
    assert "100 rows" in page.text("#query-said") and "there are more" in page.text("#query-said")
    served.stop()


def test_by_keyboard_alone(page, house):
    page.press(Keys.TAB)
    assert page.run("return document.activeElement.className") == "skip"
    page.press(Keys.ENTER)
    assert page.focus() == "main"
    seen = []
    for _ in range(40):
        page.press(Keys.TAB)
        seen.append(page.focus())
        if seen[-1] == "Refresh adults":
            break
    assert seen[-1] == "Refresh adults" and page.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    grow(house)
    before = row_of(page, "adults")[5]
    page.press(Keys.ENTER)
    page.until(lambda: int(row_of(page, "adults")[5]) > int(before) and row_of(page, "adults")[2].startswith("up to date"))
    assert page.focus() == "Refresh adults", "the focus stays where it was"
    for _ in range(60):
        if page.focus() == "sql":
            break
        page.press(Keys.TAB)
    page.press("SELECT id FROM src")
    webdriver.ActionChains(page.driver).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
    page.until(lambda: " rows in " in page.text("#query-said"))
    assert page.focus() == "sql"


def test_names_and_landmarks(page):
    page.query("SELECT name, id FROM src")
    nodes = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = [node["role"]["value"] for node in nodes if not node.get("ignored")]
    for role in ("banner", "navigation", "main", "heading", "table", "status"):
        assert role in roles, role
    for node in nodes:
        focusable = any(p["name"] == "focusable" and p["value"]["value"] for p in node.get("properties", []))
        if focusable and not node.get("ignored") and node["role"]["value"] not in ("RootWebArea", "main"):
            assert node.get("name", {}).get("value"), node
    assert page.run("return document.documentElement.lang") == "en" and len(page.all("h1")) == 1
    ids = page.run("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))


CONTRAST = """
const parse = (c) => c.match(/[\\d.]+/g).map(Number);
const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } };
return [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())).map((e) => {
  const svg = e.closest('svg'), box = svg && e.closest('.node');
  const back = box ? parse(getComputedStyle(box.querySelector('rect')).fill) : ground(e);
  const text = parse(svg ? getComputedStyle(e).fill : getComputedStyle(e).color);
  const [a, b] = [light(text.slice(0, 3)), light(back.slice(0, 3))].sort((x, y) => y - x);
  return [(a + 0.05) / (b + 0.05), e.outerHTML.slice(0, 120)];
}).sort((a, b) => a[0] - b[0])[0];
"""


def test_light_and_dark(page):
    ground = lambda: page.run("return getComputedStyle(document.body).backgroundColor")
    page.query("SELECT name, score FROM src")
    light = ground()
    assert page.run(CONTRAST)[0] >= 4.5, page.run(CONTRAST)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    dark = ground()
    assert light != dark and page.run(CONTRAST)[0] >= 4.5, page.run(CONTRAST)
    Select(page.one("#theme")).select_by_visible_text("light")
    assert ground() == light
    page.driver.refresh()
    page.loaded()
    assert ground() == light, "the choice is kept"
    Select(page.one("#theme")).select_by_visible_text("as the system")
    assert ground() == dark
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    Select(page.one("#theme")).select_by_visible_text("dark")
    assert ground() == dark
    Select(page.one("#theme")).select_by_visible_text("as the system")
    assert ground() == light


def test_a_narrow_window(page):
    page.query("SELECT * FROM src")
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 320, "height": 800, "deviceScaleFactor": 1, "mobile": False})
    try:
        assert page.run("return innerWidth") == 320
        assert page.run("return document.documentElement.scrollWidth") <= 320, "only tables and pictures scroll sideways"
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_key_is_asked_for(chromium, db, lancedb40):
    lancedb40.create_table("t", PEOPLE)
    secret = key(db, "--scope", "read")
    served = Served(db)
    page = Page(chromium, served.url)
    page.until(lambda: page.one("#key-dialog").is_displayed())
    assert page.focus() == "key" and "asks for an API key" in page.text("#key-said")
    page.press("wrong", Keys.ENTER)
    page.until(lambda: "does not know this key" in page.text("#key-said") and page.one("#key-dialog").is_displayed())
    assert page.one("#key").get_attribute("value") == ""
    page.press(secret, Keys.ENTER)
    page.loaded()
    assert page.text("#said") == "1 table, 0 views" and page.text("#trouble") == ""
    assert page.run("return [JSON.stringify(sessionStorage).includes(arguments[0]), JSON.stringify(localStorage).includes(arguments[0]), document.cookie, location.href]", secret) == [True, False, "", served.url + "/"]
    assert secret not in page.run("return document.documentElement.outerHTML")
    page.driver.refresh()
    page.loaded()
    page.click("#ask-key")
    page.click("#key-forget")
    page.until(lambda: "asks for an API key" in page.text("#key-said"))
    page.press(Keys.ESCAPE)
    page.until(lambda: page.text("#trouble") != "")
    assert "key" in page.text("#trouble")
    time.sleep(4)
    assert not page.one("#key-dialog").is_displayed(), "who does not want to is not asked again"
    page.click("#reload")
    page.until(lambda: page.one("#key-dialog").is_displayed())
    page.press(Keys.ESCAPE)
    served.stop()


def test_what_a_key_may_not_do_is_told(chromium, db, lancedb40):
    lancedb40.create_table("src", PEOPLE, storage_options=STABLE)
    served = Served(db, "--max-requests-per-key", "1")
    served.wait(served.ok(f"{V}v/create", {"query": "SELECT id FROM src"})["job_id"])
    secret = key(db, "--scope", "read")
    page = Page(chromium, served.url)
    page.until(lambda: page.one("#key-dialog").is_displayed())
    page.press(secret, Keys.ENTER)
    page.loaded()
    assert page.text("#lost") == page.text("#trouble") == "", "too many requests at once are sent again"
    page.click('[aria-label="Refresh v"]')
    page.until(lambda: "scope" in page.text("#trouble"))
    time.sleep(3.5)
    assert "scope" in page.text("#trouble") and page.text("#lost") == "", "it stays until something else is done"
    page.click("#reload")
    page.until(lambda: page.text("#trouble") == "")
    served.stop()


def test_a_server_that_is_gone_and_back(chromium, db, lancedb40):
    lancedb40.create_table("t", PEOPLE)
    served = Served(db)
    page = Page(chromium, served.url).loaded()
    served.stop()
    page.until(lambda: page.text("#lost") == "The server cannot be reached.")
    again = subprocess.Popen([PROGRAM, "--db", str(db), "serve", "--port", served.url.rsplit(":", 1)[1], "--no-access-log"], stdout=subprocess.PIPE, text=True)
    assert again.stdout.readline().startswith("serving")
    page.until(lambda: page.text("#lost") == "")
    again.terminate()
    assert again.wait(30) == 0


def test_a_source_that_is_gone(chromium, db, lancedb40):
    lancedb40.create_table("src", PEOPLE, storage_options=STABLE)
    served = Served(db)
    served.wait(served.ok(f"{V}v/create", {"query": "SELECT id FROM src"})["job_id"])
    served.ok("/v1/table/src/drop", {})
    page = Page(chromium, served.url).loaded()
    assert "not found" in page.text('#picture [data-node="src"]') and page.all("#views .bad")
    page.click('[aria-label="Refresh v"]')
    page.until(lambda: page.table("#jobs")[0][:3] == ["refresh", "v", "failed"])
    assert "src" in page.table("#jobs")[0][5] and "failed" in page.text("#said")
    served.stop()


def test_the_key_dialog_of_a_server_without_keys(page, house):
    """Who closes it keeps a page that goes on looking."""
    page.click("#ask-key")
    page.press(Keys.ESCAPE)
    jobs = len(page.table("#jobs"))
    house.wait(house.ok(f"{V}few/refresh", {})["job_id"])
    page.until(lambda: len(page.table("#jobs")) == jobs + 1)


def test_a_key_for_one_namespace(chromium, db, lancedb40):
    lancedb40.create_table("t", PEOPLE)
    served = Served(db)
    served.ok("/v1/namespace/ops/create")
    served.ok("/v1/namespace/ops$nyc/create")
    served.ok("/v1/table/ops$nyc$t/create", stream(PEOPLE), headers={"content-type": "application/vnd.apache.arrow.stream"})
    secret = key(db, "--scope", "read", "--namespace", "ops.nyc")
    time.sleep(1)
    page = Page(chromium, served.url)
    page.until(lambda: page.one("#key-dialog").is_displayed())
    page.press(secret, Keys.ENTER)
    page.loaded()
    assert re.split(r"\s*\n\s*", page.text("#catalog")) == ["ops namespace", "nyc namespace", "t table"] and page.text("#trouble") == ""
    served.stop()


def stream(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


# ---- texts that would like to be markup ----


class Liar(http.server.BaseHTTPRequestHandler):
    """The console's files of a real server; every answer is full of markup."""

    protocol_version = "HTTP/1.1"

    def send(self, body, status=200, headers=None):
        self.send_response(status)
        for name, value in (headers or {"content-type": "application/json"}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = self.path.split("?")[0]
        if path in FILES:
            status, headers, body = raw(self.server.real, path)
            return self.send(body, status, {name: headers[name] for name in ("content-type", "content-security-policy")})
        root = "%24/" in path
        member = "tables" if path.endswith("/table/list") else "views" if path.endswith("view/list") else "namespaces"
        names = [HOSTILE] if root else ["inner"]
        return self.send(json.dumps({member: names if root or member != "namespaces" else [], "states": [HOSTILE], "page_token": None}).encode())

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"] or 0))
        H = HOSTILE
        answers = {
            "status": {"state": H, "source": H, "source_namespace": [H], "reason": H, "rows": 1, "versions_behind": 1, "rows_behind": None, "refreshed_at_ms": 1},
            "describe": {"query": H, "location": H, "version": 1, "schema": {"fields": [{"name": H, "type": {"type": H, "fields": [{"type": {"type": H}}]}, "nullable": True}]}},
            "count_rows": 3, "list": {"jobs": [{"job_id": H, "table": H, "job_type": H, "state": H, "created_at_millis": 1}]},
            "jobs/describe": {"job_state": H, "failure": {"message": H, "retryable": True}, "result": {"mode": H}, "progress": {"done": 1, "total": 2}},
            "query": {"columns": [{"name": H, "type": H}, {"name": H, "type": "int64"}], "rows": [[H, "1"], [H, "2"]], "more": True}}
        last = "jobs/describe" if self.path.endswith("jobs/describe") else self.path.rsplit("/", 1)[1]
        if last in answers:
            return self.send(json.dumps(answers[last]).encode())
        return self.send(json.dumps({"error": H, "code": 0}).encode(), 500)

    def log_message(self, *words):
        pass


def test_another_page_cannot_write(chromium, served):
    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Blank", (Liar,), {"do_GET": lambda self: self.send(b"<p>", 200, {"content-type": "text/html"})}))
    threading.Thread(target=other.serve_forever, daemon=True).start()
    chromium.get(f"http://127.0.0.1:{other.server_port}/")
    chromium.execute_async_script("fetch(arguments[0], {method: 'POST', mode: 'no-cors', body: '{}'}).then(() => arguments[1]('sent'), (e) => arguments[1](String(e)))",
                                  served.url + "/v1/namespace/evil/create")
    assert served.ok("/v1/namespace/$/list", method="GET")["namespaces"] == []
    other.shutdown()
    chromium.get_log("browser")


def test_markup_stays_text(chromium, served):
    liar = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
    liar.real = served
    threading.Thread(target=liar.serve_forever, daemon=True).start()
    page = Page(chromium, f"http://127.0.0.1:{liar.server_port}").loaded()
    page.until(lambda: page.table("#jobs"))
    for part in ("#catalog", "#views", "#jobs", "#picture"):
        assert HOSTILE[:20] in page.run("return document.querySelector(arguments[0]).textContent", part), part
    page.click("#catalog button")
    page.until(lambda: page.table("#details"))
    assert page.text("#details-title") in (f"{HOSTILE}.inner", HOSTILE)
    page.query("SELECT 1")
    assert page.table("#rows")[0] == [HOSTILE, "1"] and page.all("#chart rect.bar")
    page.run("document.querySelector('#views button[data-key^=refresh]').click()")
    page.until(lambda: HOSTILE in page.text("#trouble"))
    assert page.run("return window.hit") is None
    assert page.all("img") == [] and len(page.all("script")) == 1
    refused = [line for line in page.driver.get_log("browser") if "status of 500" not in line["message"]]
    assert refused == [], "nothing was tried, and refused by the policy"
    liar.shutdown()
