import { newId } from '../../../../platform/ids.ts'
import type { CallRow } from '../../stores/call.ts'
import type { CallChange } from '../../stores/spend/books.ts'
import type { CallKey } from './decide.ts'
import type { CallCaller, CallEnd, CallOrder } from './order.ts'

/** The end of a call without any known result. */
export const nothing: CallEnd = { status: 'FAILED', model: null, provider: null, costMicros: 0n }

/** Returns the row of a call that begins. */
export const newCall = ({ organizationId, userId, appId }: CallCaller, { family, operation }: Pick<CallOrder, 'family' | 'operation'>, now: Date): CallRow => ({
  ...{ organizationId, id: newId(now), family, operation, status: 'RUNNING', appId, userId, requestedModel: null, model: null, provider: null },
  ...{
    inputTokens: null,
    cachedTokens: null,
    cacheWriteTokens: null,
    outputTokens: null,
    units: null,
    costMicros: null,
    platformMicros: null,
    doubtful: false,
    latencyMs: null,
    firstByteMs: null,
    attempts: [],
    prompt: null,
  },
  ...{ promptUntil: null, held: [], hasNewLimit: false, expired: false, expiresAt: null, pending: [], pendingUntil: null, createdAt: now, endedAt: null },
})

/** Returns what a call's end changes in its row. */
export const endedRow = ({ organizationId, id }: CallKey, end: CallEnd, now: Date): CallChange => ({
  organizationId,
  id,
  status: end.status,
  model: end.model,
  provider: end.provider,
  inputTokens: end.inputTokens ?? null,
  cachedTokens: end.cachedTokens ?? null,
  cacheWriteTokens: end.cacheWriteTokens ?? null,
  outputTokens: end.outputTokens ?? null,
  // A recording's length may have fractions of a second: the price is exact, the log stores whole seconds.
  units: end.units == null ? null : Math.ceil(end.units),
  costMicros: end.costMicros,
  platformMicros: end.platformMicros ?? null,
  doubtful: end.isDoubtful ?? false,
  latencyMs: end.latencyMs == null ? null : Math.round(end.latencyMs),
  firstByteMs: end.firstByteMs == null ? null : Math.round(end.firstByteMs),
  attempts: end.attempts ?? [],
  held: [],
  expired: false,
  expiresAt: null,
  pending: [],
  pendingUntil: null,
  endedAt: now,
})

/** Returns a text that PostgreSQL's JSON can store, cut to its maximum. */
export const clean = (text: string | null, most: number): string | null => (text === null ? null : text.replaceAll('\0', '').slice(0, most).toWellFormed())
