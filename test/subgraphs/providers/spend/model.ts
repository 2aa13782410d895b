// Limits as one would do them by hand: nothing is counted along, everything is added up out of the log whenever somebody asks.

export interface ModelLimit {
  readonly id: string
  /** Null: the platform's. */
  readonly organizationId: string | null
  readonly scopeType: string
  readonly scopeValue: string
  readonly period: 'DAY' | 'MONTH' | 'TOTAL'
  hard: number | null
  readonly soft: number | null
  readonly unpriced: 'ALLOW' | 'BLOCK'
  readonly createdAt: number
  alerts: Set<string>
  alertsOf: number
}

export interface ModelCall {
  readonly id: string
  readonly organizationId: string
  readonly appId: string
  readonly userId: string
  readonly family: string
  readonly createdAt: number
  state: 'RUNNING' | 'EXPIRED' | 'OVER'
  model: string | null
  cost: number
  /** What is held in each limit. */
  readonly held: Map<string, number>
  /** Attempts whose answers never came: what they are booked at, and what they may cost at most. */
  readonly lost: { readonly model: string; readonly cost: number; readonly upper: number }[]
  /** What stays held in each limit after its end. */
  pending: Map<string, number>
}

export interface ModelCandidate {
  readonly model: string
  readonly upper: number | null
}

const dayMs = 86_400_000

export class Model {
  now = 0
  readonly limits: ModelLimit[] = []
  readonly calls: ModelCall[] = []

  since({ period, createdAt }: ModelLimit, now = this.now): number {
    if (period === 'TOTAL') return createdAt
    if (period === 'DAY') return now - (now % dayMs)
    const at = new Date(now)
    return Date.UTC(at.getUTCFullYear(), at.getUTCMonth())
  }

  applies(limit: ModelLimit, call: Pick<ModelCall, 'organizationId' | 'appId' | 'userId' | 'family'>, model: string | null): boolean {
    if (limit.organizationId !== null && limit.organizationId !== call.organizationId) return false
    const value = { PLATFORM: 'platform', ORGANIZATION: call.organizationId, APP: call.appId, USER: call.userId, PROVIDER_FAMILY: call.family, MODEL: model }
    return value[limit.scopeType as keyof typeof value] === limit.scopeValue
  }

  spent(limit: ModelLimit): number {
    const since = this.since(limit)
    return this.calls.filter(call => call.createdAt >= since).reduce((sum, call) => sum + this.costIn(limit, call), 0)
  }

  /** What a call that has ended cost in a limit: by each model that model's part. */
  costIn(limit: ModelLimit, call: ModelCall): number {
    if (call.state !== 'OVER') return 0
    const parts = [{ model: call.model, cost: call.cost }, ...call.lost]
    return parts.filter(({ model }) => this.applies(limit, call, model)).reduce((sum, { cost }) => sum + cost, 0)
  }

  /** Ends a call: what attempts without an answer may still cost stays held, as far as it was. */
  end(call: ModelCall, model: string, cost: number): void {
    const isHeld = call.state === 'RUNNING'
    Object.assign(call, { state: 'OVER', model, cost })
    for (const limit of this.limits) {
      const held = call.held.get(limit.id)
      if (!isHeld || held === undefined || call.createdAt < this.since(limit)) continue
      const unclear = call.lost.filter(each => limit.scopeType !== 'MODEL' || each.model === limit.scopeValue)
      const stays = unclear.reduce((sum, each) => sum + each.upper - each.cost, 0)
      call.pending.set(limit.id, Math.min(stays, Math.max(0, held - this.costIn(limit, call))))
    }
  }

  /** Whether all limits of a call cover so much, held by it alone: then it is held. */
  cover(call: ModelCall, micros: number): boolean {
    const short = this.limits.filter(
      limit => limit.scopeType !== 'MODEL' && call.createdAt >= this.since(limit) && micros > (call.held.get(limit.id) ?? Number.POSITIVE_INFINITY),
    )
    if (!short.every(limit => this.covers(limit, micros - call.held.get(limit.id)!))) return false
    for (const { id } of short) call.held.set(id, micros)
    return true
  }

  reserved(limit: ModelLimit): number {
    const since = this.since(limit)
    const heldBy = ({ state, held, pending }: ModelCall) => (state === 'RUNNING' ? held : pending).get(limit.id) ?? 0
    return this.calls.filter(({ createdAt }) => createdAt >= since).reduce((sum, call) => sum + heldBy(call), 0)
  }

  /** Whether so much may still be spent. */
  covers(limit: ModelLimit, micros: number): boolean {
    return limit.hard === null || limit.hard - this.spent(limit) - this.reserved(limit) >= micros
  }

  /** What becomes of a call that begins: the models that may be tried and what is held, or why not. */
  admit(call: Pick<ModelCall, 'organizationId' | 'appId' | 'userId' | 'family'>, candidates: readonly ModelCandidate[]) {
    const general = this.limits.filter(limit => limit.scopeType !== 'MODEL' && this.applies(limit, call, null))
    const own = (model: string) => this.limits.filter(limit => limit.scopeType === 'MODEL' && this.applies(limit, call, model))
    const passes = ({ model, upper }: ModelCandidate) =>
      upper === null
        ? [...general, ...own(model)].every(({ hard, unpriced }) => hard === null || unpriced === 'ALLOW') && own(model).every(limit => this.covers(limit, 0))
        : own(model).every(limit => this.covers(limit, upper))
    const [first] = candidates as readonly [ModelCandidate, ...ModelCandidate[]]
    if (!passes(first)) {
      const isPriced = first.upper !== null || [...general, ...own(first.model)].every(({ hard, unpriced }) => hard === null || unpriced === 'ALLOW')
      if (isPriced) this.exhaust(own(first.model), first.upper ?? 0)
      return null
    }
    const allowed = candidates.filter(passes)
    const dearest = Math.max(0, ...allowed.map(({ upper }) => upper ?? 0))
    if (!general.every(limit => this.covers(limit, dearest))) {
      this.exhaust(general, dearest)
      return null
    }
    const held = new Map(general.map(({ id }) => [id, dearest]))
    for (const { model, upper } of allowed) for (const { id } of own(model)) held.set(id, upper ?? 0)
    return { allowed: allowed.map(({ model }) => model), held }
  }

  /** Takes down that those of these limits have refused a call that do not cover so much. */
  exhaust(limits: readonly ModelLimit[], micros: number): void {
    this.look()
    for (const limit of limits) if (!this.covers(limit, micros)) limit.alerts.add('EXHAUSTED')
  }

  /** Takes down which alerts have come due. */
  look(): void {
    for (const limit of this.limits) {
      const since = this.since(limit)
      if (limit.alertsOf !== since) {
        limit.alertsOf = since
        limit.alerts = new Set()
      }
      const spent = this.spent(limit)
      if (limit.soft !== null && spent > 0 && spent >= limit.soft) limit.alerts.add('SOFT')
      if (limit.hard === null || limit.hard === 0) continue
      for (const [kind, share] of [
        ['PERCENT_50', 50],
        ['PERCENT_80', 80],
        ['PERCENT_95', 95],
        ['EXHAUSTED', 100],
      ] as const)
        if (spent * 100 >= limit.hard * share) limit.alerts.add(kind)
    }
  }

  /** The figures of all limits, to be compared. */
  figures(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.limits.map(limit => [limit.id, `${this.spent(limit)} ${this.reserved(limit)} ${[...limit.alerts].sort().join(',')}`]))
  }
}
