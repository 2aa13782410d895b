import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { until } from '../kit/launch.ts'
import type { Sending } from './crowd.ts'
import type { Behaviour, Experience } from './polite.ts'
import type { Held } from './target.ts'

// `npm run test:attacks`. ATTACK_SECONDS is how long each of them goes on, PEACE_SECONDS how long it is looked at what peace is like.
export const isWanted = process.env.ATTACKS === '1'
export const attackMs = 1000 * Number(process.env.ATTACK_SECONDS ?? 3)
export const peaceMs = 1000 * Number(process.env.PEACE_SECONDS ?? 2)

export type Polite = Awaited<ReturnType<typeof polite>>

/** The polite client, in a process of its own. */
export async function polite(behaviour: Behaviour) {
  const child: ChildProcess = fork(join(import.meta.dirname, 'polite.ts'), [JSON.stringify(behaviour)])
  await once(child, 'message')
  const report = async (): Promise<Experience> => {
    child.send('report')
    const [seen] = await once(child, 'message')
    return seen as Experience
  }
  return {
    report,
    /** What it sees from now on, for so long. */
    async during(ms: number) {
      await report()
      await new Promise(resolve => setTimeout(resolve, ms))
      return report()
    },
    end: () => child.disconnect(),
  }
}

/** Many clients in a process of their own. */
export interface Crowd {
  /** Lets them send for so long. @returns how often each status was answered */
  during(ms: number): Promise<Readonly<Record<string, number>>>
  leave(): void
}

export async function crowd(sending: Sending): Promise<Crowd> {
  const child = fork(join(import.meta.dirname, 'crowd.ts'), [JSON.stringify(sending)])
  await once(child, 'message')
  return {
    async during(ms) {
      child.send('begin')
      await new Promise(resolve => setTimeout(resolve, ms))
      child.send('end')
      const [statuses] = await once(child, 'message')
      return statuses as Record<string, number>
    },
    leave: () => child.disconnect(),
  }
}

/** A row of the table. */
export interface Row {
  readonly name: string
  readonly became: string
  readonly peace: Experience
  readonly during: Experience
  readonly before: Held
  readonly after: Held
}

export const rows: Row[] = []

/** Prints the table of what was attacked so far, and begins another. */
export function tellRows(): void {
  const ms = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`
  const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(0)} MB`
  const head = ['attack', 'what became of it', 'p99 before', 'p99 during', 'told p99 before', 'during', 'heap before', 'after', 'RSS after']
  const cells = rows
    .splice(0)
    .map(({ name, became, peace, during, before, after }) => [
      name,
      became,
      ms(peace.p99),
      ms(during.p99),
      peace.changes > 0 ? ms(peace.toldP99) : '',
      peace.changes > 0 ? ms(during.toldP99) : '',
      megabytes(before.heap),
      megabytes(after.heap),
      megabytes(after.rss),
    ])
  console.log([head, head.map(() => '---'), ...cells].map(row => `| ${row.join(' | ')} |`).join('\n'))
}

/** Waits until nothing of an attack is held any more. @returns what is held then */
export async function recovered(look: () => Promise<Held>, before: Held, keepsMb: number): Promise<Held> {
  let held = await look()
  const isBack = () =>
    held.webSockets <= before.webSockets &&
    held.subscriptions <= before.subscriptions &&
    held.upstreams <= before.upstreams &&
    held.watched <= before.watched &&
    held.sockets <= before.sockets + 12 &&
    held.timers <= before.timers + 12 &&
    held.heap <= before.heap + keepsMb * 1024 * 1024
  await until(
    `nothing is held of it any more (${JSON.stringify(before)})`,
    async () => {
      if (isBack()) return true
      // A measurement collects garbage, which delays queued work.
      await new Promise(resolve => setTimeout(resolve, 1500))
      held = await look()
      return isBack()
    },
    100,
  ).catch(error => {
    throw new Error(`${error.message}: ${JSON.stringify(held)}`)
  })
  return held
}
