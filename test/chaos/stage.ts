import { join } from 'node:path'
import { callbackUrl } from '../../subgraphs/publishing/connection/integration/rules.ts'
import { platforms } from '../../subgraphs/publishing/network/networks.ts'
import { type Client, signIn } from '../kit/client.ts'
import { createTestDatabase } from '../kit/database.ts'
import { type DataFolder, type Launched, launch, launchPlatform, newDataFolder, platformEnvironment, readyLine } from '../kit/launch.ts'

/** A platform that is killed and started again, and a sandbox beside it that is not. */
export interface Stage extends AsyncDisposable {
  /** Where the platform answers. */
  readonly url: string
  /** Its data folder. */
  readonly folder: DataFolder
  /** The database that it is given; started with an empty `DATABASE_URL` it uses the embedded one. */
  readonly databaseUrl: string
  /** What a client gets for an operation of the owner: `200`, `200 INTERNAL_SERVER_ERROR`, `503`, or `no answer` after 20 s. */
  codeOf(document: string, variables?: object): Promise<string>
  /** The brand that posts are scheduled for, once one was. */
  brandId(): string
  /** Where the sandbox answers. */
  readonly sandbox: string
  /** Executes an operation of the owner. @throws when it is refused, or nobody answers */
  query: Client['query']
  /** Calls a row of REST as the owner. @throws when it refuses, or nobody answers */
  rest(method: string, path: string, call?: { headers?: Record<string, string>; body?: Uint8Array<ArrayBuffer> | string }): Promise<Response>
  /** Asks the sandbox under `/_control`, or with a body tells it something. */
  control(path: string, body?: object): Promise<unknown>
  /** Runs a statement in that database, by a connection of its own. */
  sql<Row = unknown>(statement: string): Promise<Row[]>
  /** Starts the platform and waits until it is ready. */
  start(environment?: Record<string, string>): Promise<Launched>
  /** Starts the platform and waits for nothing. */
  begin(environment?: Record<string, string>): Launched
  /** Schedules a post, so many ms ahead, and returns it. */
  schedule(copy: string, aheadMs: number, threadId?: string): Promise<ChaosPost>
  /** Posts as the platform shows them now. */
  read(ids: readonly string[]): Promise<ChaosPost[]>
  /** Where posts stand in the database, whether or not a platform runs: status and delivery phase of each. */
  stand(): Promise<string[]>
  /** What the network has published, oldest first. */
  published(): Promise<{ text: string; receivedAt: string; inReplyTo?: string }[]>
  /** Calls to create a post that the network refused: a second call for the same text is among them. */
  refusedCreations(): Promise<{ status: number; reason: string | null }[]>
  /** Takes the network away: connections are refused until what comes back is called. */
  away(): Promise<() => Promise<void>>
  /** Arms a fault of the network. */
  arm(fault: Record<string, unknown>): Promise<void>
}

export interface ChaosPost {
  readonly id: string
  readonly threadId: string
  readonly copy: string
  readonly status: 'DRAFT' | 'SCHEDULED' | 'PUBLISHED' | 'FAILED'
  readonly scheduledAt: string | null
  readonly deliveryPhase: string
  readonly platformPostId: string | null
  readonly failure: { readonly code: string; readonly message: string } | null
}

const fields = 'id threadId copy status scheduledAt deliveryPhase platformPostId failure { code message }'

/** Starts cost two seconds of a core each: of those of one test file no more than this many run at the same time. */
const startsAtOnce = 2

/** Opens a stage: a database and a data folder of its own, and the sandbox as a process of its own. */
export async function openStage(): Promise<Stage> {
  const stack = new AsyncDisposableStack()
  try {
    const database = stack.use(await createTestDatabase({ poolSize: 1 }))
    const folder = stack.use(newDataFolder())
    const environment = await platformEnvironment(folder)
    const url = `http://localhost:${environment.PORT}`
    const sandboxFolder = join(folder.path, 'sandbox')
    const callbacks = platforms.flatMap(platform => ['--redirect-uri', callbackUrl(url, platform)])
    const play = (port: string) => launch(process.execPath, ['sandbox/main.ts', '--folder', sandboxFolder, '--port', port, ...callbacks])
    let sandbox = play('0')
    const stopSandbox = async () => {
      sandbox.child.kill('SIGKILL')
      await sandbox.ended
    }
    stack.defer(stopSandbox)
    const [origin = ''] = await sandbox.printed(/^http:\S+/m)
    const control = async (path: string, body?: object) => {
      const answer = await fetch(`${origin}/_control/${path}`, {
        ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      })
      if (!answer.ok) throw new Error(`the sandbox answers ${answer.status}: ${await answer.text()}`)
      return answer.json()
    }
    let brandId: string | undefined
    let client: Promise<Client> | undefined
    // Signs in once: access tokens survive a restart of the platform.
    const owner = () => (client ??= signIn(url))
    const begin = (extra: Record<string, string> = {}) => launchPlatform({ ...environment, DATABASE_URL: database.url, SANDBOX_DIR: sandboxFolder, ...extra })
    return {
      url,
      folder,
      databaseUrl: database.url,
      brandId: () => brandId!,
      sandbox: origin,
      control,
      query: async (document, variables) => (await owner()).query(document, variables),
      async rest(method, path, { headers, ...call } = {}) {
        const { token } = await owner()
        const answer = await fetch(new URL(path, url), { method, headers: { authorization: `Bearer ${token}`, ...headers }, ...call })
        if (!answer.ok) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`)
        return answer
      },
      async codeOf(document, variables = {}) {
        const { token } = await owner()
        const answer = await fetch(`${url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: JSON.stringify({ query: document, variables }),
          signal: AbortSignal.timeout(20_000),
        }).catch(() => null)
        if (!answer) return 'no answer'
        const { errors } = (await answer.json()) as { errors?: { extensions: { code: string } }[] }
        return errors ? `${answer.status} ${errors[0]!.extensions.code}` : String(answer.status)
      },
      sql: async <Row>(statement: string) => (await database.sequelize.query(statement))[0] as Row[],
      begin,
      async start(extra) {
        const release = await startSlot()
        try {
          const platform = begin(extra)
          await platform.printed(readyLine)
          return platform
        } finally {
          release()
        }
      },
      async schedule(copy, aheadMs, threadId) {
        const { query } = await owner()
        brandId ??= (
          await query<{ viewer: { organization: { brands: { nodes: { id: string; name: string }[] } } } }>(
            '{ viewer { organization { brands { nodes { id name } } } } }',
          )
        ).viewer.organization.brands.nodes.find(({ name }) => name === 'Demo Brand')!.id
        const scheduledAt = new Date(Date.now() + aheadMs).toISOString()
        const { createPost } = await query<{ createPost: ChaosPost }>(`mutation($input: CreatePostInput!) { createPost(input: $input) { ${fields} } }`, {
          input: { brandId, platform: 'X', copy, scheduledAt, ...(threadId && { threadId }) },
        })
        return createPost
      },
      async read(ids) {
        const selections = ids.map((id, at) => `p${at}: post(id: "${id}") { ${fields} }`)
        return Object.values(await (await owner()).query<Record<string, ChaosPost>>(`{ ${selections.join(' ')} }`))
      },
      async stand() {
        const [rows] = await database.sequelize.query(`select status || ' ' || delivery_phase as stand from publishing.posts`)
        return (rows as { stand: string }[]).map(({ stand }) => stand)
      },
      published: () => control('received?network=x'),
      async refusedCreations() {
        const calls: { method: string; path: string; outcome: string; status: number; reason: string | null }[] = await control('requests?network=x')
        return calls.filter(({ method, path, outcome }) => method === 'POST' && path === '/x/2/tweets' && outcome === 'refused')
      },
      async away() {
        await stopSandbox()
        return async () => {
          sandbox = play(new URL(origin).port)
          await sandbox.printed(/^http:\S+/m)
        }
      },
      async arm(fault) {
        await control('faults', { network: 'x', ...fault })
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

let starting = 0
const waiting: (() => void)[] = []

async function startSlot(): Promise<() => void> {
  if (starting >= startsAtOnce) await new Promise<void>(resolve => waiting.push(resolve))
  else starting++
  return () => {
    const next = waiting.shift()
    if (next) next()
    else starting--
  }
}
