import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import type { Addresses } from '../../engines/third-party/addresses.ts'
import type { ProviderName } from '../../engines/third-party/catalogue.ts'
import type { CredentialsInUse } from '../../engines/third-party/credentials.ts'
import type { NewModel } from '../../stores/model/model.ts'
import type { Attempted } from '../../stores/model/sync.ts'
import { readCatalogue, readProviderList } from './read.ts'
import { type SourceName, sourceKinds } from './shown.ts'

/** Dependencies of reading sources. */
export interface SourceDeps {
  readonly outbound: Pick<WayOut, 'stream'>
  readonly addresses: Addresses
  readonly credentials: Pick<CredentialsInUse, 'resolve' | 'note'>
}

/** Answer of a source; null for an unusable one. */
export interface Asked {
  readonly attempted: Attempted
  readonly models: readonly NewModel[] | null
}

/** Time limits in ms and maximum bytes of a source. */
const bounds = { firstByteMs: 20_000, idleMs: 10_000, totalMs: 45_000, mostBytes: 32 * 1024 * 1024 } as const

/** Reads the models of one source. It never throws: an error is part of the result. */
export async function askSource(deps: SourceDeps, name: SourceName, at: Date): Promise<Asked> {
  const shared = { name, kind: sourceKinds[name], at }
  try {
    const models = name === 'models-dev' ? readCatalogue(await get(deps, `${deps.addresses.modelsDev}/api.json`, {})) : await askProvider(deps, name)
    if (models === null) {
      const failure = `The platform has no credential of ${name}: add one to read its models.`
      return { attempted: { ...shared, models: null, failure, wasAsked: false }, models: null }
    }
    return { attempted: { ...shared, models: models.length, failure: null, wasAsked: true }, models }
  } catch (error) {
    const why = error instanceof SyntaxError ? 'its answer is no JSON' : (error as Error).message
    return { attempted: { ...shared, models: null, failure: `${name}: ${why}`.slice(0, 500), wasAsked: true }, models: null }
  }
}

const listOf: Readonly<
  Record<Exclude<SourceName, 'models-dev'>, (addresses: Addresses, key: string) => { readonly url: string; readonly headers: Record<string, string> }>
> = {
  openai: ({ openai }, key) => ({ url: `${openai}/models`, headers: { authorization: `Bearer ${key}` } }),
  anthropic: ({ anthropic }, key) => ({ url: `${anthropic}/v1/models?limit=1000`, headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' } }),
  google: ({ google }, key) => ({ url: `${google}/models`, headers: { authorization: `Bearer ${key}` } }),
}

/** Reads a provider's own list with the platform's credential; null without one. */
async function askProvider(deps: SourceDeps, name: Exclude<SourceName, 'models-dev'>): Promise<readonly NewModel[] | null> {
  const credential = await deps.credentials.resolve(name satisfies ProviderName, null)
  if (!credential) return null
  const [key] = credential.secrets
  const { url, headers } = listOf[name](deps.addresses, key)
  try {
    const models = readProviderList(name, await get(deps, url, headers))
    deps.credentials.note(credential, key, 'taken')
    return models
  } catch (error) {
    if (error instanceof Refused && [401, 403].includes(error.status)) deps.credentials.note(credential, key, 'refused', error.message)
    throw error
  }
}

/** Thrown for an unusable answer. */
class Refused extends Error {
  readonly status: number
  constructor(status: number) {
    super(`it answered ${status}`)
    this.status = status
  }
}

async function get({ outbound }: SourceDeps, url: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
  const answer = await outbound.stream(url, { headers: { accept: 'application/json', ...headers }, ...bounds })
  try {
    if (answer.status !== 200) throw new Refused(answer.status)
    const parts: Uint8Array[] = []
    for await (const part of answer.body) parts.push(part)
    return JSON.parse(Buffer.concat(parts).toString('utf8'))
  } finally {
    answer.cancel()
  }
}
