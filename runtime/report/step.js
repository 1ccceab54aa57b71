'use strict';
// The memory plan that `info --json` prints, and the steps of a trace.

function readJson(id) {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
}

/// Draws the bytes of each role of segments as a bar.
function drawMemory(place, info) {
  const segments = info.segments || info.memory?.segments || [];
  const roles = new Map();
  for (const one of segments) roles.set(one.role, (roles.get(one.role) || 0) + (one.bytes || 0) * (one.instances || 1));
  const bars = [...roles].sort((a, b) => b[1] - a[1]), most = Math.max(1, ...bars.map(one => one[1]));
  if (!bars.length) { place.append(make('p', { class: 'note' }, 'The file has no segments.')); return; }
  const svg = draw('svg', { viewBox: `0 0 760 ${24 * bars.length}`, width: 760, role: 'img', 'aria-label': bars.map(([role, bytes]) => `${role} ${bytes} bytes`).join(', ') });
  bars.forEach(([role, bytes], i) => svg.append(draw('text', { x: 190, y: 24 * i + 16, 'text-anchor': 'end' }, role),
    draw('rect', { x: 200, y: 24 * i + 4, width: Math.max(1, 400 * bytes / most), height: 14, fill: COLORS[i % COLORS.length] }),
    draw('text', { x: 206 + 400 * bytes / most, y: 24 * i + 16 }, `${(bytes / 1048576).toFixed(2)} MiB`)));
  place.append(svg, make('h2', {}, 'Segments'), make('div', { class: 'scroll' }, make('table', {}, make('thead', {}, make('tr', {},
    ...['role', 'bytes', 'instances'].map(name => make('th', { scope: 'col' }, name)))), make('tbody', {}, ...segments.map(one =>
    make('tr', {}, ...[one.role, one.bytes, one.instances ?? 1].map(value => make('td', {}, String(value ?? '')))))))));
}

/// Draws the complete events of a trace, a row for each thread.
function drawTrace(place, trace) {
  const events = (trace.traceEvents || trace).filter(one => one.ph === 'X');
  const names = new Map((trace.traceEvents || trace).filter(one => one.ph === 'M' && one.name === 'thread_name').map(one => [`${one.pid}/${one.tid}`, one.args.name]));
  if (!events.length) { place.append(make('p', { class: 'note' }, 'The trace has no events.')); return; }
  const rows = [...new Set(events.map(one => `${one.pid}/${one.tid}`))].sort();
  const begin = Math.min(...events.map(one => one.ts)), end = Math.max(...events.map(one => one.ts + one.dur));
  const width = 1100, x = time => 160 + (time - begin) / Math.max(1e-9, end - begin) * (width - 170);
  const svg = draw('svg', { viewBox: `0 0 ${width} ${30 + 26 * rows.length}`, width, role: 'img', 'aria-label': `${events.length} events in ${short((end - begin) / 1000)} ms` });
  rows.forEach((row, i) => svg.append(draw('text', { x: 150, y: 26 * i + 20, 'text-anchor': 'end' }, names.get(row) || row)));
  const kinds = [...new Set(events.map(one => one.cat || one.name.split('.')[0]))];
  for (const one of events) {
    const bar = draw('rect', { x: x(one.ts).toFixed(2), y: 26 * rows.indexOf(`${one.pid}/${one.tid}`) + 6, height: 18,
      width: Math.max(0.4, x(one.ts + one.dur) - x(one.ts)).toFixed(2), fill: COLORS[kinds.indexOf(one.cat || one.name.split('.')[0]) % COLORS.length] });
    bar.append(draw('title', {}, `${one.name}: ${short(one.dur / 1000)} ms`));
    svg.append(bar);
  }
  svg.append(draw('text', { x: 160, y: 26 * rows.length + 22, class: 'faint' }, `0 to ${short((end - begin) / 1000)} ms`));
  place.append(make('div', { class: 'scroll' }, svg));
}
