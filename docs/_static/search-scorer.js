// How results of the search are ranked: pages that answer a question before notes and records. Sphinx
// puts this in place of its own weights, which stand below as they are there.
var Scorer = {
  first: [
    [/^questions\//, 40],
    [/^papers\//, 30],
    [/^tasks\/(?!index|classes)/, 25],
    [/^(index|depth|tutorial|proofs|base-3|what-training-finds|how-to\/.*)$/, 10],
    [/^(claims|coverage)\//, -10],
    [/^(decisions\/.*|changes|contributing|maintaining|bibliography|claims\/former)$/, -25],
  ],
  // Only a page that holds a word of the query in its title moves up: the words of a long page are
  // about much else.
  score: (result) => {
    const [page, title, , , score] = result;
    const typed = new URLSearchParams(window.location.search).get("q") || "";
    const words = typed.toLowerCase().split(/[^a-z0-9]+/).filter((word) => word.length > 2);
    const named = `${page} ${title}`.toLowerCase();
    const share = words.filter((word) => named.includes(word)).length / (words.length || 1);
    const [, more] = Scorer.first.find(([pattern]) => pattern.test(page)) || [null, 0];
    // What somebody typed as it stands in a title.
    const phrase = typed.toLowerCase().trim();
    const whole = phrase.length > 5 && title.toLowerCase().includes(phrase) ? 30 : 0;
    // Of equal pages the one of the shortest name is the most general.
    return score + whole + (more > 0 ? more * share : more) - 0.01 * named.length;
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
