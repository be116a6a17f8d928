// Search over the sections of the manual (search-index.js): every word has to occur; titles and headings count most.
"use strict";
(function () {
    const box = document.getElementById("search");
    const list = document.getElementById("results");
    const shelves = document.getElementById("shelves");
    const up = document.body.dataset.up;
    const sections = window.manual.map(([address, page, heading, text]) => ({
        address, page, heading, text, low: text.toLowerCase(), head: (page + " " + heading).toLowerCase(),
    }));

    function score(section, words) {
        let sum = 0;
        for (const word of words) {
            const inHead = section.head.includes(word);
            const first = section.low.indexOf(word);
            if (!inHead && first < 0) return 0;
            sum += (inHead ? 10 : 0) + (first < 0 ? 0 : Math.min(5, section.low.split(word).length - 1));
        }
        return sum;
    }

    function excerpt(section, words) {
        const at = Math.max(0, section.low.indexOf(words[0]));
        const from = Math.max(0, at - 50);
        const line = document.createElement("small");
        const text = (from > 0 ? "… " : "") + section.text.slice(from, at + 110) + " …";
        const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
        for (const piece of text.split(new RegExp("(" + escaped + ")", "i"))) {
            const isWord = words.includes(piece.toLowerCase());
            const part = isWord ? document.createElement("mark") : document.createTextNode(piece);
            if (isWord) part.textContent = piece;
            line.append(part);
        }
        return line;
    }

    function search() {
        const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
        shelves.hidden = words.length > 0;
        list.hidden = words.length === 0;
        list.replaceChildren();
        if (words.length === 0) return;
        const found = sections.map((section) => ({ section, points: score(section, words) })).filter((hit) => hit.points > 0);
        found.sort((a, b) => b.points - a.points);
        for (const { section } of found.slice(0, 20)) {
            const item = document.createElement("li");
            const link = document.createElement("a");
            link.href = up + "/" + section.address;
            link.textContent = section.heading === section.page ? section.page : section.page + ": " + section.heading;
            item.append(link, excerpt(section, words));
            list.append(item);
        }
        if (found.length === 0) list.append(Object.assign(document.createElement("li"), { textContent: "Nothing found." }));
    }

    box.addEventListener("input", search);
    // index.html?q=damping begins with that search.
    box.value = new URLSearchParams(location.search).get("q") ?? "";
    search();
    box.form.addEventListener("submit", (event) => {
        event.preventDefault();
        const first = list.querySelector("a");
        if (first) location.href = first.href;
    });
    document.addEventListener("keydown", (event) => {
        if (event.key === "/" && document.activeElement !== box) {
            event.preventDefault();
            box.focus();
        } else if (event.key === "Escape") {
            box.value = "";
            search();
        }
    });
})();
