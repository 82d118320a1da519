#!/usr/bin/env python3
"""The page of isoloop report in headless Chromium: it renders, sorts, filters and selects, by mouse and
by keyboard; its charts agree with the SVG files of the same results; light, dark, narrow and printed;
names that are markup stay text; no console error and no request.

Usage: page_test.py ISOLOOP. Needs Debian's chromium, chromium-driver and python3-selenium; exits 77,
which ctest reports as skipped, where one of them is missing. ISOLOOP_SHOTS=DIR keeps screenshots.
"""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    print("skipped: python3-selenium is not installed")
    sys.exit(77)

HOSTILE = "</script></title></svg><img src=x onerror=window.pwned=1>\"'&<!--"
failures = []


def check(condition, what):
    print(("ok   " if condition else "FAIL ") + what)
    if not condition:
        failures.append(what)


class Browser:
    def __init__(self, chromium, chromedriver):
        options = Options()
        options.binary_location = chromium
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--hide-scrollbars", "--window-size=1200,1000"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(chromedriver), options=options)

    def media(self, scheme="light", kind=""):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": kind, "features": features})

    def size(self, width, height=1000):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def open(self, path):
        self.driver.get(path.as_uri())
        return self.js("return document.documentElement.dataset.ready === 'yes'")

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        urls = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
        return [url for url in urls if not url.startswith(("file:", "data:", "chrome:"))]

    def shoot(self, name):
        folder = os.environ.get("ISOLOOP_SHOTS")
        if not folder:
            return
        box = self.js("return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": box[0], "height": box[1], "scale": 1}
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        Path(folder, name + ".png").write_bytes(base64.b64decode(shot["data"]))


def column(browser, table, index):
    return browser.js("return [...document.querySelectorAll(`[data-table='${arguments[0]}'] tbody tr`)]"
                      ".filter(r => !r.hidden).map(r => r.cells[arguments[1]].textContent)", table, index)


def check_sorting(browser):
    head = browser.js("return [...document.querySelectorAll(\"[data-table='grid-cells'] th\")].map(t => t.dataset.title)")
    at = head.index("largest")
    button = browser.all("[data-table='grid-cells'] thead th")[at].find_element(By.TAG_NAME, "button")
    before = [float(x) for x in column(browser, "grid-cells", at)]
    button.click()
    check([float(x) for x in column(browser, "grid-cells", at)] == sorted(before), "a click sorts numbers upwards")
    button.send_keys(Keys.ENTER)
    check([float(x) for x in column(browser, "grid-cells", at)] == sorted(before, reverse=True), "Enter sorts downwards")
    check(browser.all("th[aria-sort=descending]") != [], "the sorted column says so")
    button.send_keys(Keys.SPACE)
    check([float(x) for x in column(browser, "grid-cells", at)] == before, "a third time restores the order")


def check_filter(browser):
    box = browser.all("[data-table='grid-cells'] input[type=search]")[0]
    box.send_keys("1.6B")
    check(len(column(browser, "grid-cells", 1)) == 4, "a word filters rows")
    off = browser.js("return document.querySelectorAll(\"[data-chart='grid-mismatch'] .dot.off\").length")
    check(off == 12, "points of rows that are filtered out fade")
    box.clear()
    box.send_keys("largest<0.5 hidden>1000")
    rows = browser.js("return [...document.querySelectorAll(\"[data-table='grid-cells'] tbody tr\")].filter(r => !r.hidden).length")
    cells = browser.js("return JSON.parse(document.getElementById('charts').textContent).length")
    check(0 < rows < 16 and cells > 0, "comparisons filter by column")
    box.clear()
    box.send_keys("nosuchcolumn<1")
    check("no such column" in browser.all("[data-table='grid-cells'] [role=status]")[0].text, "an unknown column is named")
    box.send_keys(Keys.CONTROL, "a")
    box.send_keys(Keys.BACKSPACE)
    check(len(column(browser, "grid-cells", 1)) == 16, "an empty filter shows all")


def selected(browser, selector):
    return sorted(browser.js("return [...document.querySelectorAll(arguments[0])].map(e => Number(e.dataset.row))", selector))


def check_selection(browser):
    rows, dots = "[data-table='grid-cells'] tr.selected", "[data-chart='grid-mismatch'] .dot.selected"
    browser.all("[data-table='grid-cells'] tbody input")[6].click()
    check(selected(browser, rows) == [6] and selected(browser, dots) == [6], "a row selects its point")
    check(selected(browser, "[data-chart='grid-printed'] .dot.selected") == [6], "in every chart of the table")
    shown = browser.js("return [...document.querySelectorAll('figure[data-chart^=grid-budgets]')].filter(f => !f.hidden).map(f => f.dataset.chart)")
    check(shown == ["grid-budgets-7"], "and shows its pair")
    check(browser.js("return document.querySelectorAll(\"[data-chart='grid-budgets-7'] svg .bar\").length") >= 24, "which is drawn")
    svg = browser.all("[data-chart='grid-mismatch'] svg.chart")[0]
    browser.js("arguments[0].scrollIntoView({block: 'center'})", svg)
    dot = browser.all("[data-chart='grid-mismatch'] .dot[data-row='2']")[0]
    ActionChains(browser.driver).move_to_element(dot).click().perform()
    check(selected(browser, rows) == [2, 6], "a click on a point selects its row")
    tip = browser.all("[data-chart='grid-mismatch'] .tip")[0]
    check(tip.is_displayed() and "100M-E192" in tip.text, "a tip names the point")
    only = [b for b in browser.all("[data-table='grid-cells'] .bar button") if b.text == "only selected"][0]
    only.click()
    check(len(column(browser, "grid-cells", 1)) == 2, "only selected rows can be shown")
    only.click()
    browser.js("arguments[0].focus()", svg)
    svg.send_keys(Keys.ESCAPE)
    check(selected(browser, rows) == [], "Escape clears the selection")
    svg.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ENTER)
    check(len(selected(browser, rows)) == 1, "arrows and Enter select by keyboard")
    svg.send_keys(Keys.ESCAPE)
    box = browser.js("const r = arguments[0].getBoundingClientRect(); return [r.width, r.height]", svg)
    actions = ActionChains(browser.driver)
    actions.move_to_element_with_offset(svg, int(-box[0] / 2) + 60, int(-box[1] / 2) + 4).click_and_hold()
    actions.move_by_offset(int(box[0]) - 70, int(box[1]) - 60).release().perform()
    check(len(selected(browser, rows)) == 16, "a box drawn round points selects them")
    svg.send_keys(Keys.ESCAPE)


def positions(browser, svg_text):
    """Dots of an SVG file as fractions of its axes' lengths, by the browser's own XML parser."""
    return browser.js("""
      const doc = new DOMParser().parseFromString(arguments[0], 'image/svg+xml');
      if (doc.querySelector('parsererror')) return null;
      const axes = [...doc.querySelectorAll('line.axis')].map(l => ['x1', 'y1', 'x2', 'y2'].map(a => Number(l.getAttribute(a))));
      const x = axes.find(a => a[1] === a[3] && a[0] !== a[2]), y = axes.find(a => a[0] === a[2] && Math.abs(a[3] - a[1]) > 50);
      return [...doc.querySelectorAll('.dot')].map(d => /translate\\(([-\\d.]+),([-\\d.]+)\\)/.exec(d.getAttribute('transform')).slice(1).map(Number))
        .map(([px, py]) => [(px - x[0]) / (x[2] - x[0]), (y[3] - py) / (y[3] - y[1])]).filter(p => p[1] <= 1.001);""", svg_text)


def check_agreement(browser, isoloop, files, charts):
    """Page and SVG are drawn by different code; they must put every point at the same place."""
    for chart, file in charts:
        svg = subprocess.run([isoloop, "report", file, "--format", "svg", "--chart", chart], capture_output=True, text=True, check=True).stdout
        there = positions(browser, svg)
        here = browser.js("""
          const svg = document.querySelector(`figure[data-chart="${arguments[0]}"] svg.chart`), f = svg.dataset.frame.split(' ').map(Number);
          return [...svg.querySelectorAll('.dot')].map(d => /translate\\(([-\\d.e]+),([-\\d.e]+)\\)/.exec(d.getAttribute('transform')).slice(1).map(Number))
            .map(([px, py]) => [(px - f[0]) / (f[2] - f[0]), (f[3] - py) / (f[3] - f[1])]);""", chart)
        same = there is not None and len(there) == len(here) and all(
            abs(a - b) < 0.002 for p, q in zip(sorted(there), sorted(here)) for a, b in zip(p, q))
        check(same, f"{chart}: {len(here)} points stand where the SVG file has them")


def luminance(colour):
    parts = [int(x) / 255 for x in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def check_colours(browser, scheme):
    browser.media(scheme)
    paper = browser.js("return getComputedStyle(document.body).backgroundColor")
    check((luminance(paper) > 0.5) == (scheme == "light"), f"{scheme}: the page is {scheme}")
    for selector, least in (("body", 7), ("td.good", 4.5), (".dim", 4.5), ("a", 4.5)):
        ratio = contrast(browser.js("return getComputedStyle(document.querySelector(arguments[0])).color", selector), paper)
        check(ratio >= least, f"{scheme}: text {selector} has a contrast of {ratio:.1f}")
    for i in range(6):
        colour = browser.js("""const e = document.createElement('i'); e.className = 'c' + arguments[0]; e.style.color = 'var(--c)';
                               document.body.append(e); const c = getComputedStyle(e).color; e.remove(); return c;""", i)
        check(contrast(colour, paper) >= 3, f"{scheme}: colour {i} of the charts has a contrast of {contrast(colour, paper):.1f}")


def check_page(browser, path, charts):
    check(browser.open(path), "the page is brought to life")
    drawn = browser.js("return [...document.querySelectorAll('figure[data-chart]')].filter(f => !f.hidden && f.dataset.drawn === 'yes' && f.querySelector('svg.chart')).length")
    waiting = browser.js("return [...document.querySelectorAll('figure[data-chart]')].filter(f => f.hidden).length")
    check(drawn > 0 and drawn + waiting == charts, f"{drawn} charts are drawn, {waiting} wait for their row")
    check(browser.js("return [...document.querySelectorAll('svg')].every(s => !/NaN|undefined|Infinity/.test(s.outerHTML))"), "no mark without a place")


def check_widths(browser):
    for width in (1200, 700, 360):
        browser.size(width)
        browser.js("return new Promise(r => setTimeout(r, 150))")
        wide = browser.js("return document.documentElement.scrollWidth")
        check(wide <= width, f"{width} px: the page needs {wide}")
        browser.shoot(f"width-{width}")
    browser.size(1200)


def check_print(browser):
    browser.media("dark", "print")
    check(luminance(browser.js("return getComputedStyle(document.body).backgroundColor")) > 0.9, "print: the paper is white in dark mode, too")
    check(browser.js("return [...document.querySelectorAll('nav, input, .tip')].every(e => getComputedStyle(e).display === 'none')"), "print: no controls")
    pdf = base64.b64decode(browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False, "paperWidth": 8.27, "paperHeight": 11.69})["data"])
    check(pdf.startswith(b"%PDF") and len(pdf) > 20000, f"print: {len(pdf) // 1024} KiB of PDF")
    if os.environ.get("ISOLOOP_SHOTS"):
        Path(os.environ["ISOLOOP_SHOTS"], "page.pdf").write_bytes(pdf)
    browser.media("light")


def check_hostile(browser, isoloop, folder):
    count = json.loads(subprocess.run([isoloop, "count", "qwen3-0.6b", "smelt-200m-e8", "--format", "json"], capture_output=True, text=True, check=True).stdout)
    for model in count["models"]:
        model["name"] = HOSTILE
        for row in model["rows"]:
            row["name"] = HOSTILE + row["name"]
            if row.get("segment"):
                row["segment"] = HOSTILE
    file, page = folder / "hostile.json", folder / "hostile.html"
    file.write_text(json.dumps(count))
    subprocess.run([isoloop, "report", file, "--title", HOSTILE, "-o", page], check=True)
    check(browser.open(page), "hostile: the page is brought to life")
    check(browser.js("return window.pwned === undefined && document.images.length === 0"), "hostile: nothing was injected")
    check(browser.js("return document.title") == HOSTILE, "hostile: the title is the name")
    check(browser.js("return document.querySelector('tbody td:nth-child(2)').textContent") == HOSTILE, "hostile: cells are the name")
    browser.js("document.querySelectorAll('details').forEach(d => d.open = true)")
    dots = browser.all(".dot[data-row]")
    ActionChains(browser.driver).move_to_element(dots[0]).perform()
    check(HOSTILE in browser.js("return document.querySelector('.tip').textContent"), "hostile: tips are the name")
    check(browser.js("return window.pwned === undefined && document.images.length === 0"), "hostile: still nothing")
    check(browser.complaints() == [], "hostile: no complaint")


def check_without_scripts(browser, path):
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.driver.get(path.as_uri())
    shapes = len(browser.driver.find_elements(By.CSS_SELECTOR, "figure:not([hidden]) svg.chart"))
    figures = len(browser.driver.find_elements(By.CSS_SELECTOR, "figure:not([hidden])"))
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    check(shapes == figures and figures > 0, f"without scripts: {shapes} of {figures} charts are there")


def results(isoloop, folder):
    commands = {
        "grid": ["grid", "smelt"],
        "plan": ["plan", "smelt-200m-e192", "--loop", "middle", "--gpu", "h100-sxm5", "--against", "smelt-200m-e192"],
        "sweep": ["sweep", "paper-span"],
        "gain": ["gain", "baseline", "smelt"],
    }
    files = {}
    for name, arguments in commands.items():
        files[name] = folder / f"{name}.json"
        with open(files[name], "w") as out:
            subprocess.run([isoloop, *arguments, "--format", "json"], stdout=out, check=True)
    return files


def run(browser, isoloop, folder):
    files, page = results(isoloop, folder), folder / "page.html"
    subprocess.run([isoloop, "report", *files.values(), "-o", page], check=True)
    charts = json.loads(subprocess.run([isoloop, "report", *files.values(), "--format", "json"], capture_output=True, text=True, check=True).stdout)
    names = [b["chart"]["name"] for b in charts["blocks"] if "chart" in b]
    browser.media("light")
    browser.size(1200)
    check_page(browser, page, len(names))
    check(page.stat().st_size < 1_000_000, f"the page has {page.stat().st_size // 1024} KiB")
    check_sorting(browser)
    check_filter(browser)
    check_selection(browser)
    check_agreement(browser, isoloop, files, [("grid-mismatch", files["grid"]), ("grid-printed", files["grid"]), ("plan-roofline", files["plan"]),
                                              ("sweep-loss", files["sweep"]), ("gain-compute", files["gain"])])
    for scheme in ("light", "dark"):
        check_colours(browser, scheme)
        browser.shoot(scheme)
    browser.media("light")
    check_widths(browser)
    check_print(browser)
    check(browser.complaints() == [], "no complaint on the console")
    check(browser.requests() == [], "nothing was requested")
    check_hostile(browser, isoloop, folder)
    check_without_scripts(browser, page)


def main():
    isoloop = str(Path(sys.argv[1]).resolve())
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    for tool, path in (("chromium", chromium), ("chromium-driver", chromedriver)):
        if not path:
            print(f"skipped: {tool} is not installed")
            return 77
    with tempfile.TemporaryDirectory(prefix="isoloop-page-") as folder:
        browser = Browser(chromium, chromedriver)
        try:
            run(browser, isoloop, Path(folder))
        finally:
            browser.driver.quit()
    print(f"{len(failures)} of the checks failed" if failures else "all checks passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
