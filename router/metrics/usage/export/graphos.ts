import { hostname } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { ReferencedFieldsByType } from '@apollo/utils.usagereporting'
import type { Observed, ObservedOperation } from './observed.ts'
import type { Collector, Report } from './sending.ts'

export interface GraphosOptions {
  readonly key: string
  /** `<graph>@<variant>`. */
  readonly graphRef: string
  /** Origin of the ingress. */
  readonly endpoint: string
}

/** Number of buckets of a histogram of durations, each 1.1 times as long as the one before; the first ends at 1 µs. */
const buckets = 384

/** Executions of one operation by each client. */
interface Sums {
  readonly operation: ObservedOperation
  readonly clients: Map<string, Stats>
}

/** Executions of one operation by one client. */
interface Stats {
  readonly client: Observed['client']
  readonly latencies: number[]
  requests: number
  failed: number
}

/** Returns the bucket of a duration, as Apollo's histograms count. */
export function bucketOf(ms: number): number {
  const bucket = Math.ceil(Math.log(ms * 1_000) / Math.log(1.1))
  return bucket > 0 ? Math.min(bucket, buckets - 1) : 0
}

/** Returns counts with each run of zeros as one negative number, without those at the end. */
export function packed(counts: readonly number[]): number[] {
  const out: number[] = []
  let zeros = 0
  for (let bucket = 0; bucket < counts.length; bucket += 1) {
    const count = counts[bucket] ?? 0
    if (count === 0) zeros += 1
    else {
      if (zeros > 0) out.push(zeros === 1 ? 0 : -zeros)
      out.push(count)
      zeros = 0
    }
  }
  return out
}

/** What GraphOS knows an operation by. */
interface Described {
  readonly key: string
  readonly fields: ReferencedFieldsByType
}

const described = new WeakMap<ObservedOperation, Described>()

/** Describes an operation once; others have a turn in between, because a report may have hundreds of new ones. */
async function describe(operation: ObservedOperation): Promise<Described> {
  const known = described.get(operation)
  if (known) return known
  await setImmediate()
  const { calculateReferencedFieldsByType, usageReportingSignature } = await import('@apollo/utils.usagereporting')
  const { name, document, schema } = operation
  const made = {
    key: `# ${name ?? '-'}\n${usageReportingSignature(document, name ?? '')}`,
    fields: calculateReferencedFieldsByType({ document, schema, resolvedOperationName: name }),
  }
  described.set(operation, made)
  return made
}

const statsOf = ({ client, latencies, requests, failed }: Stats): object => ({
  context: { clientName: shownAs(client.name), clientVersion: shownAs(client.version) },
  queryLatencyStats: {
    latencyCount: packed(latencies),
    requestCount: requests,
    requestsWithErrorsCount: failed,
    requestsWithoutFieldInstrumentation: requests,
  },
})

const shownAs = (word: string): string => (word === 'unknown' ? '' : word)

/** Collects operations for GraphOS: sums by operation and client, in the protobuf of its usage reporting, without traces. */
export function collectForGraphos({ key, graphRef, endpoint }: GraphosOptions): Collector {
  let sums = new Map<string, Sums>()
  let size = 0
  return {
    name: 'graphos',
    add({ operation, client, ms, errors }) {
      const { clients } = sums.get(operation.key) ?? { clients: new Map<string, Stats>() }
      sums.set(operation.key, { operation, clients })
      // Both are printable: no name holds the end of a line.
      const named = `${client.name}\n${client.version}`
      const stats = clients.get(named) ?? { client, latencies: [], requests: 0, failed: 0 }
      clients.set(named, stats)
      stats.requests += 1
      if (errors > 0) stats.failed += 1
      const bucket = bucketOf(ms)
      while (stats.latencies.length <= bucket) stats.latencies.push(0)
      stats.latencies[bucket]! += 1
      size += 1
    },
    get size() {
      return size
    },
    async take(now): Promise<Report | null> {
      if (size === 0) return null
      const [taken, operations] = [sums, size]
      ;[sums, size] = [new Map(), 0]
      const { Report } = await import('@apollo/usage-reporting-protobuf')
      const tracesPerQuery: Record<string, { readonly statsWithContext: object[]; readonly referencedFieldsByType: ReferencedFieldsByType }> = {}
      for (const { operation, clients } of taken.values()) {
        const { key: shownKey, fields } = await describe(operation)
        // Operations that differ in aliases alone have one signature.
        tracesPerQuery[shownKey] ??= { statsWithContext: [], referencedFieldsByType: fields }
        tracesPerQuery[shownKey].statsWithContext.push(...[...clients.values()].map(statsOf))
      }
      const report = {
        header: { graphRef, hostname: hostname(), agentVersion: 'supergraph router', runtimeVersion: `node ${process.version}` },
        tracesPerQuery,
        endTime: { seconds: Math.floor(now / 1_000), nanos: (now % 1_000) * 1_000_000 },
        operationCount: operations,
        tracesPreAggregated: true,
      }
      return {
        url: `${endpoint}/api/ingress/traces`,
        headers: { 'content-type': 'application/protobuf', 'content-encoding': 'gzip', accept: 'application/json', 'x-api-key': key },
        body: await promisify(gzip)(Report.encode(report).finish()),
      }
    },
  }
}
