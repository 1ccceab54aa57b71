'use strict';
// Curves of runs over steps or epochs.

/// Returns an exponential mean; null values are left out.
function smooth(values, weight) {
  let mean = null;
  return values.map(value => {
    if (value === null || !Number.isFinite(value)) return value === null ? null : NaN;
    mean = mean === null ? value : weight * mean + (1 - weight) * value;
    return mean;
  });
}

/// Returns the runs that are drawn: the best ones, the chosen ones, or all.
function shownRuns(job, state) {
  scoresOf(job);
  const chosen = [...state.chosen].filter(run => run < job.runs);
  if (state.show === 'all') return job.order;
  if (state.show === 'chosen' && chosen.length) return chosen;
  return [...new Set([...job.order.slice(0, 20), ...chosen])];
}

/// Returns each run's color: by a setting, or by its place among those shown.
function colorsOf(job, runs, setting) {
  const colors = new Map();
  const values = setting && setting.values;
  const isNumber = values && values.every(value => value === null || typeof value === 'number');
  if (isNumber) {
    const known = values.filter(value => value !== null), isLog = known.every(value => value > 0);
    const scale = value => isLog ? Math.log(value) : value;
    const low = Math.min(...known.map(scale)), high = Math.max(...known.map(scale));
    for (const run of runs) colors.set(run, shade(high > low ? (scale(values[run]) - low) / (high - low) : 0));
  } else {
    const names = values ? [...new Set(values)] : runs;
    runs.forEach((run, i) => colors.set(run, COLORS[(values ? names.indexOf(values[run]) : i) % COLORS.length]));
  }
  return colors;
}

function drawCurves(place, job, state) {
  const choices = [];
  for (const kind of ['epochs', 'steps'])
    for (const series of job[kind].series) choices.push({ kind, series, name: `${series.name} (${kind === 'steps' ? 'step' : 'epoch'})` });
  if (!choices.length) { place.append(make('p', { class: 'note' }, 'The log has no numbers yet.')); return; }
  let chosen = choices.find(one => one.name === state.series) ||
    choices.find(one => one.series.name === job.objective) || choices[0];
  const settings = differing(job);
  const say = make('p', { class: 'note', 'aria-live': 'polite' }, ' ');
  const chart = make('div', { class: 'chart', role: 'img' });
  let plot = null, hovered = null;
  const redraw = () => {
    plot?.destroy();
    const runs = shownRuns(job, state), rows = job[chosen.kind];
    const setting = settings.find(one => one.name === state.color);
    const colors = colorsOf(job, runs, setting);
    const keep = rows.fold.map((fold, row) => fold === 0 ? row : -1).filter(row => row >= 0);
    const x = keep.map(row => state.x === 'epoch' ? rows.epoch[row] : rows.step[row]);
    const lines = runs.map(run => smooth(keep.map(row => chosen.series.values[run][row]), state.smoothing)
      .map(value => Number.isFinite(value) && (!state.log || value > 0) ? value : null));
    const ink = getComputedStyle(document.body).getPropertyValue('--ink');
    const grid = { stroke: getComputedStyle(document.body).getPropertyValue('--line'), width: 1 };
    const width = Math.max(280, Math.min(1160, place.clientWidth || 800));
    plot = new uPlot({
      width, height: Math.min(460, Math.round(width * 0.55) + 60),
      scales: { x: { time: false }, y: { distr: state.log ? 3 : 1 } },
      axes: [{ stroke: ink, grid }, { stroke: ink, grid, size: 64 }],
      cursor: { focus: { prox: 24 }, drag: { x: true, y: false } }, focus: { alpha: 0.2 },
      legend: { show: false },
      series: [{}, ...runs.map(run => ({ stroke: colors.get(run), width: state.chosen.has(run) ? 3 : 1.4,
        points: { show: x.length < 3 }, spanGaps: true }))],
      hooks: { setSeries: [(self, index) => { hovered = index ? runs[index - 1] : null; tell(self); }],
        setCursor: [self => tell(self)] },
    }, [x, ...lines], chart);
    hovered = null;
    function tell(self) {
      const at = self.cursor.idx;
      if (hovered === null || at === null || at === undefined) return;
      const names = settings.map(one => `${one.name} ${short(one.values[hovered])}`).join(', ');
      const value = chosen.series.values[hovered][keep[at]];
      say.textContent = `${kindOf(job)} ${hovered}  ${names}  at ${state.x} ${x[at]}: ${chosen.series.name} ${short(value)}`;
    }
    const best = job.order[0];
    chart.setAttribute('aria-label', `${chosen.series.name} of ${runs.length} of ${job.runs} runs; the best is ` +
      `${kindOf(job)} ${best} with ${job.objective} ${short(job.scores[best])}. The table has all numbers.`);
  };
  const pick = (label, options, value, set) => make('label', {}, `${label} `, make('select',
    { onchange: event => { set(event.target.value); save(); redraw(); } },
    ...options.map(one => make('option', { value: one, selected: one === value }, one))));
  const controls = make('div', { class: 'bar controls' },
    pick('y', choices.map(one => one.name), chosen.name, value => {
      state.series = value; chosen = choices.find(one => one.name === value); }),
    pick('x', ['step', 'epoch'], state.x, value => { state.x = value; }),
    pick('show', ['best 20', 'chosen', 'all'], state.show, value => { state.show = value; }),
    pick('color by', ['run', ...settings.map(one => one.name)], state.color, value => { state.color = value; }),
    make('label', {}, 'smoothing ', make('input', { type: 'range', min: 0, max: 0.98, step: 0.02, value: state.smoothing,
      oninput: event => { state.smoothing = +event.target.value; redraw(); }, onchange: () => save() })),
    make('label', {}, make('input', { type: 'checkbox', checked: state.log,
      onchange: event => { state.log = event.target.checked; save(); redraw(); } }), ' log'));
  place.append(controls, chart, say, make('p', { class: 'note screen' },
    'Drag to zoom, double click to see all. Choose runs in the table.' + (job.steps.stride > 1 ?
      ` Of each ${job.steps.stride} logged steps the page has the least and the greatest number.` : '')));
  redraw();
  addEventListener('resize', () => { if (place.isConnected && !place.hidden) redraw(); });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
}
