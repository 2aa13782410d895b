import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setupLinkFile } from '../../router/start/process/setup-link.ts'
import { askAt, signIn } from '../kit/client.ts'
import { type DataFolder, freePort, type Launched, launch, newDataFolder, readyLine, until } from '../kit/launch.ts'

/** What a process holds after its garbage was collected. */
export interface Held {
  /** Bytes. */
  readonly heap: number
  readonly rss: number
  /** Connections of any kind, those to its database among them. */
  readonly sockets: number
  readonly timers: number
  readonly webSockets: number
  readonly subscriptions: number
  readonly upstreams: number
  /** Streams whose credentials are looked after. */
  readonly watched: number
}

/** A program of ours, as it runs in production, that can be looked into. */
export interface Target extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly program: Launched
  held(): Promise<Held>
}

const probe = pathToFileURL(join(import.meta.dirname, 'probe.mjs')).href
const secrets = () => ({
  SMTP_URL: 'smtp://127.0.0.1:9',
  AUTH_SECRET: randomBytes(32).toString('hex'),
  ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
})

/** Starts a program of ours with production's settings. @param words as of its command line */
export async function startTarget(folder: DataFolder, words: readonly string[] = [], environment: Readonly<Record<string, string>> = {}): Promise<Target> {
  const port = await freePort()
  const file = join(folder.path, 'held.json')
  const program = launch(process.execPath, ['--max-semi-space-size=64', '--import', probe, 'router/main.ts', ...words], {
    ENVIRONMENT: 'production',
    NODE_ENV: 'production',
    DATA_DIR: folder.path,
    PORT: String(port),
    PROBE_FILE: file,
    ...secrets(),
    ...environment,
  })
  await program.printed(readyLine)
  const url = `http://127.0.0.1:${port}`
  const pid = program.child.pid!
  let looks = 0
  return {
    url,
    port,
    program,
    async held() {
      const look = ++looks
      process.kill(pid, 'SIGUSR2')
      const found = await until('it tells what it holds', () => readIf(file, look), 60)
      const text = await (await fetch(`${url}/metrics`)).text()
      const figure = (name: string) => {
        let sum = 0
        for (const [, value] of text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'gm'))) sum += Number(value)
        return sum
      }
      const { heapUsed, rss, resources } = found
      return {
        heap: heapUsed,
        rss,
        sockets: resources.TCPSocketWrap ?? 0,
        timers: resources.Timeout ?? 0,
        webSockets: figure('websockets_open'),
        subscriptions: figure('supergraph_subscriptions'),
        upstreams: figure('supergraph_subscription_upstreams'),
        watched: figure('streams_watched'),
      }
    },
    async [Symbol.asyncDispose]() {
      program.child.kill('SIGTERM')
      await program.ended
    },
  }
}

interface Written {
  readonly look: number
  readonly heapUsed: number
  readonly rss: number
  readonly resources: Readonly<Record<string, number>>
}

function readIf(file: string, look: number): Written | null {
  try {
    const written = JSON.parse(readFileSync(file, 'utf8')) as Written
    return written.look >= look ? written : null
  } catch {
    return null
  }
}

/** The platform of production with one organization, in which something can happen. */
export interface World extends Target {
  readonly brandId: string
  /** Posts whose text somebody may change when he wants an event. */
  readonly postIds: readonly string[]
  /** Where its files are kept. */
  readonly storagePath: string
  /** A key of the organization. */
  key(name: string): Promise<string>
  /** Another organization with a brand of its own, in which the same person works. */
  another(name: string): Promise<Neighbour>
}

/** Another organization of the platform. */
export interface Neighbour {
  readonly brandId: string
  readonly key: string
  /** Headers with which its owner calls: how often a person may ask has no limit of its own. */
  readonly credential: Readonly<Record<string, string>>
  /** Asks as its owner. */
  query(document: string, variables?: Record<string, unknown>): Promise<Record<string, unknown>>
}

const form = { organization: 'Besieged', name: 'Ada', email: 'ada@attacks.test', password: 'a long enough password' }
const scopes = ['publishing:dashboard.read', 'publishing:accounts.read', 'publishing:accounts.write', 'publishing:posts.read', 'publishing:posts.write']

/** Starts the whole platform and makes its first account by the link that it prints. */
export async function startWorld(environment: Readonly<Record<string, string>> = {}): Promise<World> {
  const folder = newDataFolder()
  const target = await startTarget(folder, [], environment)
  const { url } = target
  const code = new URL(readFileSync(setupLinkFile(folder.path), 'utf8').trim()).searchParams.get('code')!
  const made = await fetch(`${url}/identity/setup`, { method: 'POST', body: new URLSearchParams({ ...form, code }) })
  if (made.status !== 201) throw new Error(`no first account: ${made.status} ${await made.text()}`)
  const { query } = await signIn(url, form.email, form.password)
  const { createBrand } = (await query('mutation { createBrand(input: { name: "Castle" }) { id } }')) as { createBrand: { id: string } }
  const brandId = createBrand.id
  const postIds: string[] = []
  for (let posts = 0; posts < 30; posts += 1) {
    const input = { brandId, platform: 'X', copy: 'y'.repeat(250) }
    const { createPost } = (await query('mutation($input: CreatePostInput!) { createPost(input: $input) { id } }', { input })) as { createPost: { id: string } }
    postIds.push(createPost.id)
  }
  return {
    ...target,
    brandId,
    postIds,
    storagePath: join(folder.path, 'storage'),
    async another(name) {
      // A session of its own, so that the first one keeps its organization.
      const { query: ask } = await signIn(url, form.email, form.password)
      const input = { name, slug: name.toLowerCase() }
      const { createOrganization } = (await ask('mutation($input: CreateOrganizationInput!) { createOrganization(input: $input) { id } }', { input })) as {
        createOrganization: { id: string }
      }
      const { switchOrganization } = (await ask('mutation($input: SwitchOrganizationInput!) { switchOrganization(input: $input) { accessToken } }', {
        input: { organizationId: createOrganization.id },
      })) as { switchOrganization: { accessToken: string } }
      const headers = { authorization: `Bearer ${switchOrganization.accessToken}` }
      const there = async (document: string, variables?: Record<string, unknown>) =>
        (await askAt(url, document, variables, headers)).data() as Record<string, unknown>
      const made = (await there('mutation { createBrand(input: { name: "Hamlet" }) { id } }')) as { createBrand: { id: string } }
      const { createApiKey } = (await there('mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }', {
        input: { name, scopes, rateLimit: 6000 },
      })) as { createApiKey: { secret: string } }
      return { brandId: made.createBrand.id, key: createApiKey.secret, credential: headers, query: there }
    },
    async key(name) {
      const { createApiKey } = (await query('mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }', {
        // Raises the key rate: effects on others are measured, not the rate limit.
        input: { name, scopes, rateLimit: 6000 },
      })) as {
        createApiKey: { secret: string }
      }
      return createApiKey.secret
    },
    async [Symbol.asyncDispose]() {
      await target[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}
