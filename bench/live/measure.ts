import { loadavg } from 'node:os'
import { hasPeers } from '../gateways/remote.ts'
import { median, type Row, ratio, tableOf } from '../table.ts'
import { type DashboardOptions, measureDashboards } from './dashboards.ts'
import { measureDeliveries, names } from './deliveries.ts'
import { type Idle, measureIdle } from './idle.ts'
import { measureOrganizations } from './organizations.ts'
import { measureWatched, watches } from './watched.ts'

export interface LiveOptions {
  readonly rounds: number
  /** Measures only parts whose name matches; for deliveries, also only matching contenders. */
  readonly only: RegExp | undefined
}

/** A target and its measurement. */
interface Line {
  readonly what: string
  readonly aim: string
  readonly seen: string
  readonly isMet: boolean
}

interface Part {
  readonly lines: readonly Line[]
  /** Text below the table of targets. */
  readonly text: string
}

const parts: Readonly<Record<string, (options: LiveOptions) => Promise<Part>>> = {
  deliveries,
  organizations,
  idle,
  dashboards,
  watched,
}

/**
 * Measures subscriptions with many subscribers: each part has its own table or sentences, and its targets in the first
 * table. A wrong count ends the run.
 */
export async function measureLive(options: LiveOptions): Promise<string> {
  const named = Object.keys(parts).filter(name => options.only?.test(name))
  const measured: Part[] = []
  // Others of the machine cost everything here more than it takes: how many there were belongs to the figures.
  const company = [loadavg()[0]!]
  for (const [name, measure] of Object.entries(parts)) {
    if (named.length > 0 && !named.includes(name)) continue
    measured.push(await measure({ ...options, only: named.length > 0 ? undefined : options.only }))
    company.push(loadavg()[0]!)
  }
  return shown(measured, company)
}

/** Returns the table of targets and the parts below it. @param company loads of the machine meanwhile */
function shown(measured: readonly Part[], company: readonly number[]): string {
  const lines = measured.flatMap(part => part.lines)
  const rows = lines.map(({ what, aim, seen, isMet }) => `| ${what} | ${aim} | ${seen} | ${isMet ? 'met' : 'missed'} |`)
  const table = ['| what | aim | seen | |', '| --- | --- | --- | --- |', ...rows].join('\n')
  return `${table}\n\nLoad of the machine meanwhile: ${company.map(load => load.toFixed(1)).join(', ')}.\n\n${measured.map(({ text }) => text).join('\n\n')}`
}

async function deliveries(options: LiveOptions): Promise<Part> {
  const rows = await measureDeliveries({ ...options, seconds: 3 }, hasPeers())
  const lines: Line[] = []
  const compare = (what: string, of: string, to: string, aim: string, isMet: (ratio: number) => boolean) => {
    const [one, other] = [of, to].map(name => rows.find(row => row.name === name)) as (Row | undefined)[]
    if (one && other) lines.push({ what, aim, seen: ratio(one, other).toFixed(2), isMet: isMet(ratio(one, other)) })
  }
  compare('raw ws.send ÷ a delivery by WebSocket', names.raw, names.own, '≥ 0.70', share => share >= 0.7)
  compare('SSE ÷ WebSocket', names.sse, names.own, '≤ 1.30', times => times <= 1.3)
  compare('multipart ÷ WebSocket', names.multipart, names.own, '≤ 1.30', times => times <= 1.3)
  compare('a delivery ÷ Hive Gateway’s', names.apart, names.hive, '≤ 0.167', share => share <= 1 / 6)
  return { lines, text: `### An event told to 5,000 subscribers\n\n${tableOf(rows, 'µs/delivery', [names.raw, names.own])}` }
}

async function organizations({ rounds }: LiveOptions): Promise<Part> {
  const { p50, p99, plans, events, deliveries, router, crowd } = await measureOrganizations({ rounds, seconds: 4 })
  const part = (share: number) => `${(share * 100).toFixed(0)} %`
  const had = ({ core, waited }: typeof router) => `${part(core)} of a core (and waited for it ${part(waited)} of the time)`
  return {
    lines: [
      {
        what: '5,000 people of 500 organizations: p99 of the last client',
        aim: '< 150 ms',
        seen: `${median(p99).toFixed(0)} ms, while the router waited ${part(router.waited)} of the time for its core`,
        isMet: median(p99) < 150,
      },
      { what: 'plans run ÷ events', aim: '1', seen: `${plans} ÷ ${events}`, isMet: plans === events },
    ],
    text: `### 5,000 people of 500 organizations, each of which has five events a second

p50 ${ranged(p50)} ms, p99 ${ranged(p99)} ms from when an event was due until the last of its organization had it. ${events} events, ${plans} plans run, ${deliveries} deliveries.
The router took ${had(router)}, the clients ${had(crowd)}.`,
  }
}

async function idle(): Promise<Part> {
  const doors: Idle[] = []
  for (const door of ['websocket', 'sse', 'multipart'] as const) doors.push(await measureIdle(door))
  const rows = doors.map(({ door, heap, resident }) => `| ${door} | ${heap.toFixed(1)} | ${resident.toFixed(1)} |`)
  return {
    lines: doors.map(({ door, heap, resident }) => ({
      what: `idle subscriber by ${door}, the larger of heap and resident`,
      aim: '< 25 KB',
      seen: `${Math.max(heap, resident).toFixed(1)} KB`,
      isMet: Math.max(heap, resident) < 25,
    })),
    text: `### Somebody signed in who is told nothing\n\n| door | KB of heap | KB resident |\n| --- | --- | --- |\n${rows.join('\n')}`,
  }
}

async function dashboards({ rounds }: LiveOptions): Promise<Part> {
  return dashboardsPart({ rounds, seconds: 4, dashboards: 500, organizations: 50 })
}

/** Measures 5,000 dashboards of 500 organizations: the figures of the launcher's contract. */
export async function measureWidgets({ rounds }: { readonly rounds: number }): Promise<string> {
  return shown([await dashboardsPart({ rounds, seconds: 4, dashboards: 5_000, organizations: 500 })], [loadavg()[0]!])
}

async function dashboardsPart(options: DashboardOptions): Promise<Part> {
  const { alone, watched, changes, reads, deliveries, latencies } = await measureDashboards(options)
  const what = `${options.dashboards.toLocaleString('en')} dashboards of ${options.organizations} organizations`
  const ratio = median(watched) / median(alone)
  const [p50, p99] = [0.5, 0.99].map(part => latencies[Math.floor((latencies.length - 1) * part)]!) as [number, number]
  return {
    lines: [
      { what: `${what}: widgets read ÷ changes`, aim: '1', seen: `${reads} ÷ ${changes}`, isMet: reads === changes },
      { what: 'processor time of a change with all of them open ÷ with none', aim: '≤ 1.3', seen: ratio.toFixed(2), isMet: ratio <= 1.3 },
      { what: 'p99 from a change to the last dashboard', aim: '< 1,000 ms', seen: `${p99.toFixed(0)} ms (p50 ${p50.toFixed(0)})`, isMet: p99 < 1_000 },
    ],
    text: `### ${what} with four widgets, 20 changes a second

${changes} changes, ${reads} widgets read, ${deliveries} deliveries. A change takes ${ranged(alone)} ms of processor time while nobody looks, and ${ranged(watched)} ms with all dashboards open.`,
  }
}

async function watched({ rounds }: LiveOptions): Promise<Part> {
  const [small, large] = [await measureWatched('small', rounds * 12), await measureWatched('large', rounds * 12)]
  const line = (what: string, rows: readonly Row[], watch: keyof typeof watches, of: keyof typeof watches, most: number): Line => {
    const [one, other] = [watch, of].map(name => rows.find(row => row.name === watches[name])!) as [Row, Row]
    return { what, aim: `≤ ${most.toFixed(2)}`, seen: ratio(one, other).toFixed(3), isMet: ratio(one, other) <= most }
  }
  return {
    lines: [
      line('metrics ÷ none, workload 1', large, 'figures', 'none', 1.02),
      line('traces at 10 % ÷ none of them, workload 1', large, 'traces', 'figures', 1.15),
      line('metrics ÷ none, a small operation', small, 'figures', 'none', 1.02),
      line('traces at 10 % ÷ none of them, a small operation', small, 'traces', 'figures', 1.15),
    ],
    text: `### What it costs that an operator sees\n\nA small operation:\n\n${tableOf(small, 'µs/request', [watches.none])}\n\nWorkload 1:\n\n${tableOf(large, 'µs/request', [watches.none])}`,
  }
}

const ranged = (values: readonly number[]) => `${median(values).toFixed(1)} [${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)}]`
