'use strict';
// Views, the table, and what the address remembers.

const main = document.getElementById('page');
const state = { view: 'Curves', job: 0, series: '', x: 'step', show: 'best 20', color: 'run', smoothing: 0, log: false,
  sort: '', down: false, filter: '', chosen: new Set(), ranges: {} };

function load() {
  try {
    const saved = JSON.parse(decodeURIComponent(location.hash.slice(1)) || '{}');
    Object.assign(state, saved, { chosen: new Set(saved.chosen || []) });
  } catch { /* An address that was typed by hand. */ }
  if (!page.jobs[state.job]) state.job = 0;
}

function save() {
  history.replaceState(null, '', '#' + encodeURIComponent(JSON.stringify({ ...state, chosen: [...state.chosen] })));
}

function drawTable(place, job) {
  scoresOf(job);
  const columns = [{ name: kindOf(job), value: run => run }, ...differing(job).map(one => ({ name: one.name, value: run => one.values[run] })),
    ...job.epochs.series.map(one => ({ name: one.name, value: run => lastValue(job, one, run) })), { name: 'epochs', value: run => job.ends[run] }, { name: 'state', value: run => stateOf(job, run) }];
  const body = make('tbody');
  const heads = columns.map(column => make('th', { scope: 'col' }, make('button', { onclick: () => {
    state.down = state.sort === column.name && !state.down; state.sort = column.name; save(); fill(); } }, column.name)));
  function fill() {
    const column = columns.find(one => one.name === state.sort);
    let runs = [...job.order];
    if (column) runs.sort((a, b) => {
      const x = column.value(a), y = column.value(b);
      const way = typeof x === 'number' && typeof y === 'number' ? (Number.isFinite(x) ? Number.isFinite(y) ? x - y : -1 : Number.isFinite(y) ? 1 : 0) : String(x).localeCompare(String(y));
      return state.down ? -way : way;
    });
    if (state.filter) {
      const [name, sign, text] = state.filter.split(/\s*(<=|>=|<|>|=)\s*/);
      const by = columns.find(one => one.name === name);
      if (by && text) runs = runs.filter(run => {
        const value = by.value(run);
        return sign === '=' ? String(value) === text : sign === '<' ? value < +text : sign === '>' ? value > +text : sign === '<=' ? value <= +text : value >= +text;
      });
    }
    heads.forEach((head, i) => head.setAttribute('aria-sort', columns[i].name !== state.sort ? 'none' : state.down ? 'descending' : 'ascending'));
    body.replaceChildren(...runs.map(run => {
      const isDiverged = stateOf(job, run) === 'diverged', isBest = run === job.order[0] && job.runs > 1 && Number.isFinite(job.scores[run]);
      const choose = () => { state.chosen.has(run) ? state.chosen.delete(run) : state.chosen.add(run); save(); row.classList.toggle('chosen'); row.setAttribute('aria-selected', state.chosen.has(run)); };
      const row = make('tr', { 'data-run': run, tabindex: 0, 'aria-selected': state.chosen.has(run), onclick: choose,
        onkeydown: event => { if (event.key === ' ' || event.key === 'Enter') { event.preventDefault(); choose(); } },
        class: [isBest && 'best', isDiverged && 'diverged', state.chosen.has(run) && 'chosen'].filter(Boolean).join(' ') || false },
        ...columns.map((column, i) => make('td', {}, (i === 0 ? isBest ? '★ ' : isDiverged ? '✕ ' : '' : '') + short(column.value(run)))));
      return row;
    }));
  }
  place.append(make('div', { class: 'bar controls' }, make('label', {}, 'filter ', make('input', { type: 'text', value: state.filter, placeholder: 'lr >= 0.001',
    onchange: event => { state.filter = event.target.value; save(); fill(); } })), make('span', { class: 'note' }, 'A click on a row chooses a run.')),
    make('div', { class: 'scroll' }, make('table', { class: 'runs' }, make('thead', {}, make('tr', {}, ...heads)), body)));
  fill();
}

function show() {
  const job = page.jobs[state.job], info = readJson('info'), trace = readJson('trace');
  const views = { Curves: place => drawCurves(place, job, state), Runs: place => drawTable(place, job),
    'Hyper-parameters': place => { const lines = make('div'); place.append(lines); drawParallel(lines, job, state); drawImportance(place, job); } };
  if (job.search) views.Search = place => drawSearch(place, job);
  if (info) views.Memory = place => drawMemory(place, info);
  if (trace) views.Step = place => drawTrace(place, trace);
  if (!views[state.view]) state.view = 'Curves';
  const scores = scoresOf(job), best = job.order[0];
  main.replaceChildren(make('h1', {}, `${job.name}: ${job.runs} ${job.search ? 'trials' : 'copies'}`),
    make('p', { class: 'note' }, `${job.log}. ` + (Number.isFinite(scores[best]) ? `The best is ${kindOf(job)} ${best}: ${job.objective} ${short(scores[best])}.` : '')));
  if (page.jobs.length > 1) main.append(make('nav', { class: 'bar', 'aria-label': 'jobs' }, ...page.jobs.map((one, i) =>
    make('a', { href: '#', 'aria-current': i === state.job ? 'true' : false, onclick: event => { event.preventDefault(); state.job = i; state.chosen.clear(); state.ranges = {}; save(); show(); } }, `${one.name} (${one.log})`))));
  main.append(make('nav', { class: 'bar', 'aria-label': 'views' }, ...Object.keys(views).map(name =>
    make('a', { href: '#', 'aria-current': name === state.view ? 'page' : false, onclick: event => { event.preventDefault(); state.view = name; save(); show(); } }, name))));
  for (const name of Object.keys(views)) {
    const place = make('section', { class: 'view', 'data-view': name, hidden: name !== state.view });
    main.append(place);
    if (name === state.view) views[name](place);
  }
  main.append(make('p', { class: 'note' }, `Made by Hfta ${page.version}.`));
  document.documentElement.dataset.ready = '1';
  addEventListener('beforeprint', () => { for (const place of main.querySelectorAll('.view')) if (!place.firstChild) views[place.dataset.view]?.(place); }, { once: true });
}

load();
show();
