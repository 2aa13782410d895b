import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { type MailKind, mailKinds } from './kinds.ts'
import type { MailStore } from './store.ts'

/** The possible results of an attempt. */
export const mailTries = ['sent', 'put_off', 'given_up', 'outdated'] as const
export type MailTry = (typeof mailTries)[number]

/** Counts results of mails. */
export interface MailFigures {
  tried(kind: MailKind, outcome: MailTry): void
  /** @param ms from the transaction that caused the mail until the server accepted it */
  left(ms: number): void
}

/** Time in ms for which a count of waiting mails is reused. */
const keptMs = 10_000

/** Registers the mail metrics. */
export function measureMails(registry: Registry, store: MailStore, now: () => number): MailFigures {
  const registers = [registry]
  const tries = new Counter({
    name: 'supergraph_mails_total',
    help: 'Tries to hand a mail to the mail server, by kind and what became of them.',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  // A counter must start at zero, or its first increase is invisible.
  for (const kind of mailKinds) for (const outcome of mailTries) tries.inc({ kind, outcome }, 0)
  const seconds = new Histogram({
    name: 'supergraph_mail_seconds',
    help: 'From what caused a mail until the mail server had taken it.',
    buckets: [0.1, 0.25, 0.5, 1, 2, 5, 10, 60, 600, 4000],
    registers,
  })
  let at = Number.NEGATIVE_INFINITY
  let last: ReturnType<MailStore['waiting']> = Promise.resolve({ mails: 0, oldest: null })
  const waiting = () => {
    if (now() - at >= keptMs) {
      at = now()
      last = store.waiting().catch(() => ({ mails: 0, oldest: null }))
    }
    return last
  }
  new Gauge({
    name: 'supergraph_mails_waiting',
    help: 'Mails that the mail server has not taken yet.',
    registers,
    async collect() {
      this.set((await waiting()).mails)
    },
  })
  new Gauge({
    name: 'supergraph_mails_waiting_seconds',
    help: 'For how long the oldest of them has waited; 0 when none waits.',
    registers,
    async collect() {
      const { oldest } = await waiting()
      this.set(oldest ? Math.max(0, (now() - oldest.getTime()) / 1000) : 0)
    },
  })
  return {
    tried: (kind, outcome) => tries.inc({ kind, outcome }),
    left: ms => seconds.observe(ms / 1000),
  }
}
