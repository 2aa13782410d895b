import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { type Door, openDoor, type Reply } from '../../../../kit/door.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { seedCredential } from '../../credential/seed.ts'

/** An organization whose calls go to the vendors that the sandbox plays, with credentials of the platform. */
export interface AiWorld extends AsyncDisposable {
  readonly graph: Supergraph
  readonly door: Door
  readonly owner: Viewer
  readonly member: Viewer
  readonly outsider: Viewer
  /** An API key of the organization that may call models, and nothing else. */
  readonly key: string
  /** Asks below `/providers/api/ai`; bytes go as they are. */
  ask(path: string, body?: unknown, headers?: Record<string, string>, method?: string): Promise<Reply>
  /** What a client of the web sends and gets, for clients of vendors. */
  fetch(address: string | URL | Request, init?: RequestInit): Promise<Response>
  arm(network: 'openai' | 'anthropic', fault: Readonly<Record<string, unknown>>): Promise<void>
  /** What a vendor took. */
  taken(network: 'openai' | 'anthropic'): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** The latest call in the log. */
  lastCall(): Promise<Readonly<Record<string, unknown>>>
}

/** @param trusts origins of third parties that may lie on a private address, besides the sandbox's */
export async function aiWorld({
  trusts = [],
  inside = [],
}: {
  readonly trusts?: readonly string[]
  readonly inside?: readonly string[]
} = {}): Promise<AiWorld> {
  await using opening = new AsyncDisposableStack()
  const graph = opening.use(await supergraph({ sandbox: true, trusts, inside }))
  const door = opening.use(await openDoor(graph))
  const { owner, member, outsider } = await graph.seed.owner().member().outsider()
  for (const provider of ['openai', 'anthropic'])
    await seedCredential(graph, { organizationId: null, provider, name: provider, secret: `sk-sandbox-${provider}-of-a-test` })
  const made = await graph.execute('mutation { createApiKey(input: { name: "Models", scopes: ["providers:ai.invoke"] }) { secret } }', {}, { as: owner })
  const key: string = made.data().createApiKey.secret
  const control = async <Answer>(path: string, body?: object): Promise<Answer> => {
    const answer = await fetch(`${graph.x.origin}/_control/${path}`, {
      ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as Answer
  }
  const stack = opening.move()
  return {
    ...{ graph, door, owner, member, outsider, key },
    ask: (path, body, headers = {}, method = body === undefined ? 'GET' : 'POST') =>
      door.ask(method, `/providers/api/ai/${path}`, { headers: { 'x-api-key': key, ...headers }, ...(body !== undefined && { body }) }),
    async fetch(address, init) {
      const request = new Request(address, init)
      const { pathname, search } = new URL(request.url)
      const bytes = Buffer.from(await request.arrayBuffer())
      const headers = Object.fromEntries(request.headers)
      const { status, text, headers: answered } = await door.ask(request.method, pathname + search, { headers, ...(bytes.length > 0 && { body: bytes }) })
      return new Response(text, { status, headers: Object.entries(answered).map(([name, value]) => [name, String(value)] as [string, string]) })
    },
    arm: async (network, fault) => void (await control('faults', { network, times: 1, ...fault })),
    taken: network => control(`received?network=${network}`),
    async lastCall() {
      const [call] = await graph.rows('select * from providers.calls order by created_at desc, id desc limit 1')
      return call!
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** A form as clients of the web send it. */
export async function formOf(entries: Readonly<Record<string, string | File>>): Promise<{ readonly body: Buffer; readonly type: string }> {
  const form = new FormData()
  for (const [name, value] of Object.entries(entries)) form.set(name, value)
  const written = new Response(form)
  return { body: Buffer.from(await written.arrayBuffer()), type: written.headers.get('content-type')! }
}
