import { type Client, signIn } from '../kit/client.ts'
import { type Apart, openApart, ready } from './apart.ts'

/** A place that one process after the other has. */
export interface Place {
  /** Kills the process that has it, and starts the next one. @returns once that one is ready */
  replace(): Promise<void>
}

/** Agents as several processes. */
export interface Office extends Pick<Apart, 'control' | 'rows'>, AsyncDisposable {
  readonly workers: readonly Place[]
  readonly owner: Pick<Client, 'ask' | 'query'>
  readonly organizationId: string
}

/** After how long the owner signs in anew, in ms. */
const renewalMs = 120_000

/** Opens agents apart, and waits until runs are taken on. @param count how many processes of agents */
export async function openOffice(count: number): Promise<Office> {
  await using opening = new AsyncDisposableStack()
  const { url, workers, demo, control, rows } = opening.use(await openApart('agents', { count }))
  let [client, signedInAt] = [await signIn(url), performance.now()]
  /** Signed in anew from time to time: access tokens end within minutes. */
  const present = async (): Promise<Client> => {
    if (performance.now() - signedInAt > renewalMs) [client, signedInAt] = [await signIn(url), performance.now()]
    return client
  }
  const owner: Office['owner'] = {
    ask: async (...asked) => (await present()).ask(...asked),
    query: async <Data>(document: string, variables?: Record<string, unknown>) => (await present()).query<Data>(document, variables),
  }
  const replace = async (worker: (typeof workers)[number]) => {
    worker.process.child.kill('SIGKILL')
    await worker.process.ended
    await worker.begin().printed(ready)
  }
  const stack = opening.move()
  return {
    workers: workers.map(worker => ({ replace: () => replace(worker) })),
    ...{ owner, organizationId: demo.organizationId, control, rows },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
