// Places of search results: pages that explain come before studies and the reference.
var Scorer = {
  score: ([page, , , , score]) => {
    const overview = ["index", "gallery", "notebooks"].includes(page);
    const explains = !page.includes("/") || page.startsWith("models/");
    return score + (overview ? 0 : explains ? 2 : -2);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
