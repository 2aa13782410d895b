import { randomUUID } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { Report } from '@apollo/usage-reporting-protobuf'
import { spoilt } from '../faults.ts'
import type { Call, Network, Reply, Vendor } from '../network.ts'
import { json } from '../network.ts'
import { isDocument } from './graphql-document.ts'

/** Maximum bytes of a report, unpacked. */
const maxBytes = 16 * 1024 * 1024

/** Stand-in for the usage reporting of GraphOS: it records reports that Apollo's own package can read. */
export const graphos: Vendor = {
  title: 'GraphOS, which collects usage',
  play(name, { state, faults, clock }): Network {
    const received = state.collection<object>(name, 200)
    return {
      name,
      takes: { mostBytes: 4 * 1024 * 1024 },
      received: () => [...received.values()],
      answer(call) {
        if (call.path !== '/api/ingress/traces' || call.method !== 'POST') return refuse(404, 'Not found.')
        if (!call.headers['x-api-key']) return refuse(401, 'x-api-key is missing.')
        if (call.headers['content-encoding'] !== 'gzip') return refuse(400, 'The body is not packed by gzip.')
        const report = readReport(call)
        if (typeof report === 'string') return refuse(400, report)
        return spoilt(faults, name, {
          refuse: ({ status }) => refuse(status, 'The sandbox was told to refuse this.'),
          take() {
            received.set(randomUUID(), { receivedAt: clock.now().toISOString(), report: JSON.parse(JSON.stringify(report)) })
            return json(202, { tracesIgnored: false }, 'accepted')
          },
        })
      },
    }
  },
}

const refuse = (status: number, error: string): Reply => ({ ...json(status, { error }, 'refused'), reason: error })

/** @returns the report, or a sentence that says what is wrong with it */
function readReport({ body }: Call): Record<string, unknown> | string {
  let report: Report
  try {
    report = Report.decode(gunzipSync(body, { maxOutputLength: maxBytes }))
  } catch {
    return 'The body is no report in protobuf.'
  }
  const { header, tracesPerQuery, endTime } = report
  if (!/^[\w-]+@[\w-]+$/.test(header?.graphRef ?? '')) return 'header.graphRef is no <graph>@<variant>.'
  if (!header?.agentVersion) return 'header.agentVersion is missing.'
  if (!endTime) return 'endTime is missing, and there are no traces.'
  for (const [key, { statsWithContext, trace }] of Object.entries(tracesPerQuery)) {
    const [, name, signature] = /^# (\S+)\n([\s\S]+)$/.exec(key) ?? []
    if (name === undefined || !isDocument(signature!)) return `${key.slice(0, 80)} is no name and signature.`
    if (trace?.length || !Array.isArray(statsWithContext)) return 'Only statistics are read here, no traces.'
    for (const { queryLatencyStats } of statsWithContext) {
      const counts = (queryLatencyStats?.latencyCount as readonly number[] | undefined) ?? []
      const counted = counts.reduce((sum, count) => sum + Math.max(0, Number(count)), 0)
      if (!queryLatencyStats || counted !== Number(queryLatencyStats.requestCount)) return 'latencyCount does not add up to requestCount.'
    }
  }
  return Report.toObject(report, { longs: Number })
}
