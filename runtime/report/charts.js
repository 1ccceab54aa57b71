'use strict';
// Hyper-parameters, and the course of a search.

/// Returns a scale of a setting's or a score's values to 0 to 1: by logarithms if they are spread
/// so, of texts by their places.
function scaleOf(values) {
  const known = values.filter(value => value !== null && (typeof value !== 'number' || Number.isFinite(value)));
  const names = [...new Set(known)];
  if (!known.length || known.some(value => typeof value !== 'number'))
    return { place: value => names.length > 1 ? names.indexOf(value) / (names.length - 1) : 0.5, ends: [names[0], names.at(-1)] };
  const low = Math.min(...known), high = Math.max(...known), isLog = low > 0 && high / low > 30;
  const scale = value => isLog ? Math.log(value) : value;
  return { isLog, ends: [low, high], place: value => high > low ? (scale(value) - scale(low)) / (scale(high) - scale(low)) : 0.5 };
}

/// Draws a line for each run through its settings and its score.
function drawParallel(place, job, state) {
  const scores = scoresOf(job);
  const axes = [...differing(job), { name: job.objective || 'score', values: scores }].map(one => ({ ...one, scale: scaleOf(one.values) }));
  if (axes.length < 2) { place.append(make('p', { class: 'note' }, 'The runs differ in no hyper-parameter.')); return; }
  const width = Math.max(360, 150 * axes.length), height = 320, top = 40, bottom = 24;
  const x = i => 60 + i * (width - 120) / (axes.length - 1);
  const y = share => height - bottom - share * (height - top - bottom);
  const svg = draw('svg', { viewBox: `0 0 ${width} ${height}`, width, role: 'img',
    'aria-label': `Lines of ${job.runs} runs through ${axes.map(one => one.name).join(', ')}` });
  const inRange = run => axes.every((axis, i) => {
    const range = state.ranges[axis.name];
    if (!range || axis.values[run] === null) return !range;
    const share = axis.scale.place(axis.values[run]);
    return share >= range[0] - 1e-9 && share <= range[1] + 1e-9;
  });
  const lines = draw('g');
  for (const run of [...job.order].reverse()) {
    if (scores[run] === null || !Number.isFinite(scores[run])) continue;
    const share = axes.at(-1).scale.place(scores[run]), good = job.maximized ? share : 1 - share;
    const points = axes.map((axis, i) => axis.values[run] === null ? null : `${x(i).toFixed(1)},${y(axis.scale.place(axis.values[run])).toFixed(1)}`);
    if (points.includes(null)) continue;
    const line = draw('polyline', { points: points.join(' '), fill: 'none', 'data-run': run, stroke: shade(good),
      'stroke-width': state.chosen.has(run) ? 3 : 1.2, opacity: inRange(run) ? 0.75 : 0.05 });
    line.append(draw('title', {}, `${kindOf(job)} ${run}: ${axes.map(axis => `${axis.name} ${short(axis.values[run])}`).join(', ')}`));
    lines.append(line);
  }
  svg.append(lines);
  axes.forEach((axis, i) => {
    svg.append(draw('line', { class: 'axis', x1: x(i), x2: x(i), y1: y(0), y2: y(1) }),
      draw('text', { x: x(i), y: 16, 'text-anchor': 'middle' }, axis.name.length > 20 ? axis.name.slice(0, 19) + '…' : axis.name),
      draw('text', { x: x(i), y: 32, 'text-anchor': 'middle', class: 'faint' }, short(axis.scale.ends[1])),
      draw('text', { x: x(i), y: height - 8, 'text-anchor': 'middle', class: 'faint' }, short(axis.scale.ends[0])));
  });
  const again = () => { place.replaceChildren(); drawParallel(place, job, state); };
  const limits = make('div', { class: 'bar controls' }, ...axes.map(axis => {
    const range = state.ranges[axis.name] || [0, 1];
    const slider = index => make('input', { type: 'range', min: 0, max: 1, step: 0.01, value: range[index],
      'aria-label': `${index ? 'most' : 'least'} ${axis.name}`, onchange: event => {
        range[index] = +event.target.value; state.ranges[axis.name] = range; save(); again(); } });
    return make('label', {}, `${axis.name} `, slider(0), slider(1));
  }));
  place.append(make('div', { class: 'scroll' }, svg), limits);
}

/// Returns the share of the scores' variance that the means of a setting's values have; null if
/// it has fewer than two values.
function importanceOf(job, setting, runs) {
  const groups = new Map(), numbers = runs.map(run => setting.values[run]);
  const isMany = new Set(numbers).size > 12 && numbers.every(value => typeof value === 'number');
  const scale = isMany ? scaleOf(numbers) : null;
  for (const run of runs) {
    const key = isMany ? Math.min(7, Math.floor(scale.place(setting.values[run]) * 8)) : setting.values[run];
    groups.set(key, [...(groups.get(key) || []), job.scores[run]]);
  }
  if (groups.size < 2) return null;
  const mean = values => values.reduce((a, b) => a + b, 0) / values.length;
  const all = runs.map(run => job.scores[run]), middle = mean(all);
  const total = all.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  let between = 0;
  for (const values of groups.values()) between += values.length * (mean(values) - middle) ** 2;
  return total > 0 ? between / total : null;
}

function drawImportance(place, job) {
  const runs = job.order.filter(run => Number.isFinite(scoresOf(job)[run]));
  const bars = differing(job).map(setting => ({ name: setting.name, share: importanceOf(job, setting, runs) }))
    .filter(one => one.share !== null).sort((a, b) => b.share - a.share);
  if (!bars.length) return;
  place.append(make('h2', {}, 'Importance'), make('p', { class: 'note' },
    `Share of the variance of ${job.objective} that the means of a hyper-parameter's values explain, over ${runs.length} runs; of many values, those of eight intervals.`));
  const svg = draw('svg', { viewBox: `0 0 560 ${24 * bars.length}`, width: 560, role: 'img', 'aria-label': bars.map(one => `${one.name} ${short(one.share)}`).join(', ') });
  bars.forEach((one, i) => svg.append(draw('text', { x: 150, y: 24 * i + 16, 'text-anchor': 'end' }, one.name.slice(0, 22)),
    draw('rect', { x: 160, y: 24 * i + 4, width: Math.max(1, 320 * one.share), height: 14, fill: COLORS[0] }),
    draw('text', { x: 166 + 320 * one.share, y: 24 * i + 16 }, short(one.share))));
  place.append(svg);
}

/// Draws each trial as a line over the epochs that it was trained, in the order of their ends, with
/// the donors of cloned ones.
function drawSearch(place, job) {
  scoresOf(job);
  const ends = job.ends, most = Math.max(1, ...ends);
  const rungs = [...new Set(job.events.map(one => one.epoch))].sort((a, b) => a - b);
  const order = job.order;
  const step = Math.max(2, Math.min(16, 640 / job.runs)), height = 40 + step * job.runs, width = 900;
  const x = epoch => 60 + epoch * (width - 80) / most, y = new Map(order.map((run, i) => [run, 32 + step * (i + 0.5)]));
  const svg = draw('svg', { viewBox: `0 0 ${width} ${height}`, width, role: 'img', 'aria-label':
    `${job.runs} trials; ${rungs.map(epoch => `${ends.filter(end => end > epoch).length} went on after epoch ${epoch}`).join(', ')}` });
  for (const epoch of rungs)
    svg.append(draw('line', { class: 'axis', x1: x(epoch), x2: x(epoch), y1: 20, y2: height }), draw('text', { x: x(epoch), y: 14, 'text-anchor': 'middle' }, String(epoch)));
  for (const run of order) {
    const bar = draw('rect', { x: x(0), y: y.get(run) - step * 0.35, width: Math.max(1, x(ends[run]) - x(0)), height: Math.max(1, step * 0.7), 'data-run': run,
      fill: stateOf(job, run) === 'diverged' ? '#d55e00' : run === job.order[0] ? '#009e73' : '#0072b2', opacity: ends[run] === most ? 1 : 0.55 });
    bar.append(draw('title', {}, `trial ${run}: ${ends[run]} epochs, ${stateOf(job, run)}, ${job.objective} ${short(job.scores[run])}`));
    svg.append(bar);
    if (step >= 12) svg.append(draw('text', { x: 50, y: y.get(run) + 4, 'text-anchor': 'end', class: 'faint' }, `trial ${run}`));
  }
  for (const event of job.events) if (event.donor >= 0 && y.has(event.donor))
    svg.append(draw('line', { x1: x(event.epoch), x2: x(event.epoch), y1: y.get(event.donor), y2: y.get(event.run), stroke: '#cc79a7' }));
  place.append(make('p', { class: 'note' }, `Epochs from left to right. Lines mark where the search decided; a bar ends where its trial was stopped.`),
    make('div', { class: 'scroll' }, svg), make('p', {}, Object.entries(job.facts).filter(([key]) => ['sampler', 'rule', 'validation', 'epochs'].includes(key)).map(([key, value]) => `${key}: ${value}`).join('; ')));
}
