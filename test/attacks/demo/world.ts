import { setTimeout as wait } from 'node:timers/promises'
import { askAt, signIn } from '../../kit/client.ts'
import { launchPlatform, newDataFolder, platformEnvironment, readyLine } from '../../kit/launch.ts'
import { attackMs, peaceMs } from '../siege.ts'

/** An organization of the demo, and what it calls by. */
export interface Tenant {
  readonly brandId: string
  headers(service: 'publishing' | 'providers'): Readonly<Record<string, string>>
  /** Asks as its owner. @throws with the answer when it has errors */
  query<Data = Record<string, unknown>>(document: string, variables?: Record<string, unknown>): Promise<Data>
}

/** The platform with its demo, and two organizations of one person. */
export interface Demo extends AsyncDisposable {
  readonly url: string
  /** Where the sandbox listens, which callers of a demo may name. */
  readonly sandbox: string
  readonly polite: Tenant
  readonly hostile: Tenant
}

/** Starts the platform with its demo and its sandbox. */
export async function startDemo(environment: Readonly<Record<string, string>>): Promise<Demo> {
  const folder = newDataFolder()
  const program = launchPlatform({ ...(await platformEnvironment(folder)), LOG_LEVEL: 'error', ...environment })
  const [, url = ''] = await program.printed(readyLine)
  const [, sandbox = ''] = await program.printed(/Sandbox \(plays others\)\s+(http:\S+)/)
  const { origin } = new URL(url)
  return {
    url: origin,
    sandbox,
    polite: await demoTenant(origin),
    hostile: await otherTenant(origin),
    async [Symbol.asyncDispose]() {
      program.child.kill('SIGTERM')
      await program.ended
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** The demo's own organization, which calls by a key: a person has the places of one caller, in however many organizations. */
async function demoTenant(url: string): Promise<Tenant> {
  const { query } = await signIn(url)
  const { brands } = await query<{ brands: { nodes: { id: string; name: string }[] } }>('{ brands(first: 20) { nodes { id name } } }')
  const keyOf = async (scope: string) => {
    const { createApiKey } = await query<{ createApiKey: { secret: string } }>(
      'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }',
      { input: { name: scope, scopes: [scope], rateLimit: 6000 } },
    )
    return { 'x-api-key': createApiKey.secret }
  }
  // Each API key is for one service.
  const keys = { publishing: await keyOf('publishing:accounts.read'), providers: await keyOf('providers:ai.invoke') }
  return { brandId: brands.nodes.find(({ name }) => name === 'Demo Brand')!.id, headers: service => keys[service], query }
}

async function otherTenant(url: string): Promise<Tenant> {
  const { query: ask } = await signIn(url)
  const { createOrganization } = await ask<{ createOrganization: { id: string } }>(
    'mutation($input: CreateOrganizationInput!) { createOrganization(input: $input) { id } }',
    { input: { name: 'Hostile', slug: 'hostile' } },
  )
  const { switchOrganization } = await ask<{ switchOrganization: { accessToken: string } }>(
    'mutation($input: SwitchOrganizationInput!) { switchOrganization(input: $input) { accessToken } }',
    { input: { organizationId: createOrganization.id } },
  )
  const headers = { authorization: `Bearer ${switchOrganization.accessToken}` }
  const query: Tenant['query'] = async <Data>(document: string, variables?: Record<string, unknown>) =>
    (await askAt(url, document, variables, headers)).data() as Data
  const { createBrand } = await query<{ createBrand: { id: string } }>('mutation { createBrand(input: { name: "Hamlet" }) { id } }')
  return { brandId: createBrand.id, headers: () => headers, query }
}

/** What a polite client saw: what it was answered otherwise than it should, and how long answers took, in ms. */
export interface Seen {
  readonly asked: number
  readonly wrong: readonly string[]
  readonly p99: number
}

/** What a client asks, and how often. */
export interface Asking {
  /** Resolves to null for a good answer, else to what is wrong with it. */
  ask(): Promise<string | null>
  /** Between two, in ms, whatever is under way. */
  readonly everyMs: number
}

/** In how many rounds peace and siege alternate: what disturbs the machine for a while disturbs both. */
const rounds = 3

/**
 * Lets a polite client ask in peace and while somebody attacks, in turn.
 * @param siege goes on until a moment
 */
export async function besiege(asking: Asking, siege: (overAt: number) => Promise<unknown>): Promise<{ readonly peace: Seen; readonly during: Seen }> {
  // Warms up first: compilation at the first requests is not measured.
  await askFor(asking, 2_000)
  const seen = { peace: { took: [] as number[], wrong: [] as string[] }, during: { took: [] as number[], wrong: [] as string[] } }
  const note = (where: keyof typeof seen, { took, wrong }: { took: number[]; wrong: string[] }) => {
    seen[where].took.push(...took)
    seen[where].wrong.push(...wrong)
  }
  for (let round = 0; round < rounds; round += 1) {
    note('peace', await askFor(asking, peaceMs))
    const going = siege(performance.now() + attackMs)
    note('during', await askFor(asking, attackMs))
    await going
  }
  return { peace: figuresOf(seen.peace), during: figuresOf(seen.during) }
}

async function askFor({ ask, everyMs }: Asking, forMs: number) {
  const took: number[] = []
  const wrong: string[] = []
  const under: Promise<void>[] = []
  const overAt = performance.now() + forMs
  for (let due = performance.now(); due < overAt; due += everyMs) {
    await wait(Math.max(0, due - performance.now()))
    const began = performance.now()
    under.push(
      ask().then(fault => {
        took.push(performance.now() - began)
        if (fault !== null) wrong.push(fault)
      }),
    )
  }
  await Promise.all(under)
  return { took, wrong }
}

function figuresOf({ took, wrong }: { readonly took: readonly number[]; readonly wrong: readonly string[] }): Seen {
  const sorted = took.toSorted((one, other) => one - other)
  return { asked: took.length, wrong, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0 }
}
