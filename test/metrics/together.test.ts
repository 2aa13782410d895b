import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { keptOf, together } from '../../router/metrics/together.ts'

/** What one process counts, as it is handed on. */
async function told(fill: (registers: [Registry]) => void): Promise<string> {
  const registry = new Registry()
  fill([registry])
  return registry.metrics()
}

const process = (asked: number, open: number, lag: number) =>
  told(registers => {
    new Counter({ name: 'asked_total', help: 'h', labelNames: ['code'], registers }).inc({ code: 'a "b' }, asked)
    new Gauge({ name: 'open', help: 'h', registers }).set(open)
    const took = new Histogram({ name: 'took_seconds', help: 'h', buckets: [0.1, 1], registers })
    for (let time = 0; time < asked; time++) took.observe(0.5)
    new Gauge({ name: 'nodejs_eventloop_lag_p99_seconds', help: 'h', aggregator: 'average', registers }).set(lag)
    new Gauge({ name: 'nodejs_eventloop_lag_min_seconds', help: 'h', aggregator: 'min', registers }).set(lag)
    new Gauge({ name: 'nodejs_eventloop_utilization_ratio', help: 'h', registers }).set(lag)
    new Gauge({ name: 'nodejs_version_info', help: 'h', labelNames: ['version'], registers }).set({ version: 'v26 of Node' }, 1)
    new Gauge({ name: 'process_start_time_seconds', help: 'h', aggregator: 'omit', registers }).set(lag)
  })

test('adds up figures of several processes under the same names; for event loops the busiest counts', async () => {
  const text = await together([await process(2, 5, 0.25), await process(3, 7, 0.5)])
  const lines = text.split('\n').filter(line => line && !line.startsWith('#'))
  expect(lines).toEqual([
    'asked_total{code="a \\"b"} 5',
    'open 12',
    'took_seconds_bucket{le="0.1"} 0',
    'took_seconds_bucket{le="1"} 5',
    'took_seconds_bucket{le="+Inf"} 5',
    'took_seconds_sum 2.5',
    'took_seconds_count 5',
    'nodejs_eventloop_lag_p99_seconds 0.5',
    'nodejs_eventloop_lag_min_seconds 0.25',
    'nodejs_eventloop_utilization_ratio 0.5',
    'nodejs_version_info{version="v26 of Node"} 1',
    'process_start_time_seconds 0.5',
  ])
})

test('keeps the counters of ended processes, and not their gauges', async () => {
  const kept = keptOf([keptOf([await process(2, 5, 0.25)]), await process(3, 7, 0.5)])
  const text = await together([await process(1, 1, 0.1), kept])
  expect(text).toContain('asked_total{code="a \\"b"} 6\n')
  expect(text).toContain('took_seconds_count 6\n')
  expect(text).toContain('open 1\n')
  expect(text).toContain('nodejs_eventloop_lag_p99_seconds 0.1\n')
})

test('writes infinite values as Prometheus does', async () => {
  const told = (value: string) => `# HELP open h\n# TYPE open gauge\nopen ${value}\n`
  expect(await together([told('+Inf'), told('1')])).toBe(told('+Inf'))
  expect(await together([told('-Inf')])).toBe(told('-Inf'))
  expect(await together([told('NaN')])).toBe(told('NaN'))
})

test('lets other work have its turn while many figures are added up', async () => {
  let hadTurn = false
  setImmediate(() => {
    hadTurn = true
  })
  await together([await process(1, 1, 1)])
  expect(hadTurn).toBe(true)
})
