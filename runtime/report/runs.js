'use strict';
// The runs of the page: what the element `data` holds, with the numbers decoded.

const page = JSON.parse(document.getElementById('data').textContent);

/// Returns a series' values: an array of numbers for each run; null is missing.
function decode(text, runs, rows) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const all = [];
  for (let run = 0; run < runs; run++) {
    const values = new Array(rows);
    for (let row = 0; row < rows; row++) {
      const at = 4 * (run * rows + row);
      // What a log doesn't say is a NaN with bits of its own.
      const isMissing = (view.getUint32(at, true) & 0x7fffff) > 0x400000 && isNaN(view.getFloat32(at, true));
      values[row] = isMissing ? null : view.getFloat32(at, true);
    }
    all.push(values);
  }
  return all;
}

for (const job of page.jobs) {
  for (const rows of [job.steps, job.epochs])
    for (const series of rows.series) {
      const text = series.data;
      // Decoded when it is first looked at.
      Object.defineProperty(series, 'values', {
        get() { return series.cache ??= decode(text, job.runs, rows.step.length); } });
    }
}

const findSeries = (job, name) => job.epochs.series.find(one => one.name === name);

/// Returns a run's last value of a series of epochs, of folds the mean.
function lastValue(job, series, run) {
  if (!series) return null;
  let epoch = 0, values = [];
  series.values[run].forEach((value, row) => {
    if (value === null || job.epochs.epoch[row] < epoch) return;
    if (job.epochs.epoch[row] > epoch) { epoch = job.epochs.epoch[row]; values = []; }
    values.push(value);
  });
  return values.length ? values.reduce((a, b) => a + b) / values.length : null;
}

/// Compares scores, better ones first; what isn't finite comes last.
function compareScores(job, a, b) {
  const x = Number.isFinite(a), y = Number.isFinite(b);
  if (!x || !y) return y - x;
  return job.maximized ? b - a : a - b;
}

/// Returns the last epoch after which a run was evaluated; 0 if it wasn't.
function lastEpoch(job, run) {
  let last = 0;
  for (const series of job.epochs.series)
    series.values[run].forEach((value, row) => { if (value !== null) last = Math.max(last, job.epochs.epoch[row]); });
  return last;
}

/// Returns the runs' scores, and finds their order: a search's trials that have come further are
/// before the others, since it has judged these to be worse.
function scoresOf(job) {
  if (!job.scores) {
    const series = findSeries(job, job.objective);
    job.scores = Array.from({ length: job.runs }, (_, run) => lastValue(job, series, run));
    job.ends = job.scores.map((_, run) => lastEpoch(job, run));
    job.order = job.scores.map((_, run) => run).sort((a, b) => (job.search ? job.ends[b] - job.ends[a] : 0) ||
      compareScores(job, job.scores[a], job.scores[b]) || a - b);
  }
  return job.scores;
}

function stateOf(job, run) {
  const score = scoresOf(job)[run];
  if (score !== null && !Number.isFinite(score)) return 'diverged';
  let verdict = '';
  for (const event of job.events) if (event.run === run) verdict = event.verdict;
  return verdict;
}

const kindOf = job => job.search ? 'trial' : 'copy';
const differing = job => job.settings.filter(one => one.differs);
const short = value => value === null || value === undefined ? '' :
  typeof value === 'number' ? String(+value.toPrecision(5)) : String(value);

/// Makes an element: its tag, attributes and children.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith('on')) element[key] = value;
    else if (value !== false && value !== undefined) element.setAttribute(key, value === true ? '' : value);
  element.append(...children);
  return element;
}

/// Makes an element of SVG.
function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Colors that color-blind people can tell apart (Okabe and Ito).
const COLORS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8a8a00', '#7a7a7a'];

/// Returns a color for a share from 0 to 1, from blue to yellow.
function shade(share) {
  const from = [38, 70, 160], to = [235, 190, 40];
  return `rgb(${from.map((c, i) => Math.round(c + (to[i] - c) * share)).join(',')})`;
}
