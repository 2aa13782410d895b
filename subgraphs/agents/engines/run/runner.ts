import { setTimeout as pause } from 'node:timers/promises'
import { crash } from '../../../../platform/crash.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import type { CallEnd } from './interpret.ts'
import { type Ended, type Looked, leaseMs, look } from './look.ts'
import type { Calling, RunWork } from './work.ts'

/** How often runs are looked for that no local wake-up names, in ms. */
const everyMs = 5_000
/** How often a process that makes a call says that it lives, in ms. */
const beatMs = 4_000
/** After how long the end of a call is written down again that could not be, in ms; together they are shorter than a lease. */
const writeAgainMs: readonly number[] = [100, 500, 1_500, 3_000]
/** How many runs one process has in hand, and how many of one organization. */
const maxAtOnce = 64
const maxOfOne = 16

/** What takes runs on. */
export interface Runner {
  readonly sweep: Sweep
  /** Has runs looked for before their turn: at once, or after so many ms. */
  soon(ms?: number): void
  /** Begins nothing more, and waits for what is being written down. Calls under way are left to other processes. */
  stop(): Promise<void>
}

/**
 * Opens what takes runs on in this process.
 * @param job what it works with, made anew for each piece of work
 */
export function openRunner(job: () => RunWork): Runner {
  let wake = (_ms?: number): void => {}
  let over = false
  const inHand = new Map<string, string>()
  // Runs that fell due while they were in hand.
  const dueAgain = new Set<string>()
  const looking = new Set<Promise<unknown>>()

  const noted = <Value>(work: Promise<Value>): Promise<Value> => {
    looking.add(work)
    return work.finally(() => looking.delete(work))
  }

  async function make(calling: Calling): Promise<CallEnd> {
    const present = job()
    const beat = setInterval(() => {
      const until = new Date(present.clock.now().getTime() + leaseMs)
      present.runs
        .prolong(calling.run.id, calling.claimId, until)
        .catch(error => present.log.warn({ err: error, runId: calling.run.id }, 'lease of a call could not be prolonged'))
    }, beatMs)
    try {
      return await present.call(calling)
    } finally {
      clearInterval(beat)
    }
  }

  /** Stores the end of a call, which exists only in this process: retries while no other process may take the run over. */
  async function lookAgain(id: string, ended: Ended): Promise<Looked | null> {
    for (const ms of writeAgainMs) {
      try {
        return await look(job(), id, ended)
      } catch (error) {
        job().log.warn({ err: error, runId: id }, 'the end of a call could not be written down; it will be retried')
        await pause(ms)
      }
    }
    return look(job(), id, ended)
  }

  async function takeOn(id: string): Promise<void> {
    try {
      for (let ended: Ended | null = null; !over; ) {
        const looked: Looked | null = await noted(ended ? lookAgain(id, ended) : look(job(), id, null))
        if (looked && looked.began.length > 0) wake()
        if (looked?.run.parentId && looked.run.finishedAt) wake()
        const calling: Calling | null = looked?.calling ?? null
        if (!calling) return wakeFor(looked?.run.wakeAt ?? null)
        crash('run-call-recorded')
        ended = { claimId: calling.claimId, end: await make(calling) }
        crash('run-call-answered')
      }
    } catch (error) {
      job().log.error({ err: error, runId: id }, 'a run could not be taken on; the next round retries')
    } finally {
      inHand.delete(id)
      if (dueAgain.delete(id)) wake()
    }
  }

  function wakeFor(at: Date | null): void {
    const ms = at ? at.getTime() - job().clock.now().getTime() : everyMs
    if (ms < everyMs) wake(Math.max(0, ms))
  }

  async function round(): Promise<void> {
    const { runs, clock } = job()
    const ofOne = Map.groupBy(inHand.values(), organizationId => organizationId)
    const busy = [...ofOne].flatMap(([organizationId, those]) => (those.length >= maxOfOne ? [organizationId] : []))
    const now = clock.now()
    const due = await runs.due(now, busy, maxOfOne, maxAtOnce * 2)
    for (const { id, organizationId } of due) {
      if (over || inHand.size >= maxAtOnce) break
      if (inHand.has(id)) {
        dueAgain.add(id)
        continue
      }
      inHand.set(id, organizationId)
      void takeOn(id).finally(() => {
        if (due.length >= maxOfOne) wake()
      })
    }
    wakeFor(await runs.nextDue(now, new Date(now.getTime() + everyMs)))
  }

  return {
    soon: ms => wake(ms),
    sweep: {
      name: 'runs that are due',
      everyMs,
      wakes(whenAsked) {
        wake = whenAsked
      },
      run: () => (over ? Promise.resolve() : round()),
    },
    async stop() {
      over = true
      await Promise.allSettled(looking)
    },
  }
}
