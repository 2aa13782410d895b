import { createHash } from 'node:crypto'
import { createOutbound, type WayOut } from '../../../../platform/outbound/outbound.ts'
import { applicationAt, type PlayedName, twinOf } from '../../../../sandbox/networks.ts'
import type { Application, Gateway, Network, Platform } from '../../../../subgraphs/publishing/network/network.ts'
import { everyNetwork, loadAdapters } from '../../../../subgraphs/publishing/network/networks.ts'
import type { Account, Medium, MediumKind, Publication } from '../../../../subgraphs/publishing/network/publication.ts'
import { type Stage, send, stage } from '../../../sandbox/stage.ts'
import { publication } from '../delivery/publication.ts'

/** An adapter that speaks to its network's twin, as the demo account of it. */
export interface AtTwin extends AsyncDisposable {
  readonly world: Stage
  readonly network: Network
  /** How it is reached. */
  readonly outbound: WayOut
  readonly account: Account
  readonly accessToken: string
  readonly refreshToken: string
  /** What the network is asked to publish, by this account. */
  asks(said: Partial<Publication> & Pick<Publication, 'copy'>): Publication
  /** What its twin has, oldest first. */
  received(): Promise<readonly Received[]>
  /** Arms a fault of its twin. */
  arm(fault: { readonly fault: string } & Readonly<Record<string, unknown>>): Promise<void>
}

export interface Received {
  readonly link?: string
  readonly id: string
  readonly text: string
  readonly target?: { readonly kind: string; readonly id: string }
  readonly media?: readonly { readonly mimeType: string; readonly bytes: number; readonly sha256: string }[]
  readonly inReplyToId: string | null
}

const adapters = await loadAdapters()

/** @param settings what the application is told otherwise */
export async function atTwin(platform: Platform, settings: Readonly<Record<string, string>> = {}): Promise<AtTwin> {
  const world = await stage()
  const { origin, demo } = world.sandbox
  const name = everyNetwork[platform].path as PlayedName
  const application = { ...(applicationAt(origin, name, demo[name]) as Application), ...settings }
  const outbound = createOutbound([origin])
  // In place of the platform's own, which counts besides: the account's token becomes the bearer.
  const gateway: Gateway = async (path, _, { headers: { 'x-connection-token': token, ...headers } = {}, timeoutMs = 10_000, ...options } = {}) => {
    const to = `${origin}/youtube${path.replace('/platform/youtube', '')}`
    const answer = await outbound.stream(to, {
      ...options,
      headers: { ...headers, authorization: `Bearer ${token}` },
      totalMs: timeoutMs,
      freshConnection: true,
    })
    const parts: Uint8Array[] = []
    for await (const part of answer.body) parts.push(part)
    return { status: answer.status, headers: answer.headers, text: Buffer.concat(parts).toString('utf8') }
  }
  const network = adapters.get(platform)!.open(application, outbound, gateway)
  const { accessToken, refreshToken } = await demo[name].grant(application.clientId)
  const account = await network.account(accessToken)
  const twin = twinOf(name)
  const [place] = account.places ?? []
  const target = place ? { kind: place.kind, externalId: place.externalId, name: place.name } : null
  return {
    world,
    network,
    outbound,
    account,
    accessToken,
    refreshToken,
    asks: said => publication({ accessToken, account, target, placeToken: place?.accessToken ?? null, title: 'A title', ...said }),
    received: async () => (await send(`${origin}/_control/received?network=${twin}`)).body,
    async arm(fault) {
      const answer = await send(`${origin}/_control/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ network: twin, ...fault }),
      })
      if (answer.status !== 200) throw new Error(answer.body.error)
    },
    async [Symbol.asyncDispose]() {
      await outbound.close()
      await world[Symbol.asyncDispose]()
    },
  }
}

const beginnings: Readonly<Record<MediumKind, readonly [string, string]>> = {
  IMAGE: ['image/jpeg', 'ffd8ffe000104a464946'],
  GIF: ['image/gif', '474946383961'],
  VIDEO: ['video/mp4', '000000186674797069736f6d'],
}

/** A picture or film of so many bytes, which begins as such a one does; or a whole file. */
export function mediumOf(kind: MediumKind, file: number | Buffer = 2_000, altText: string | null = null): Medium & { readonly sha256: string } {
  const [mimeType, beginning] = beginnings[kind]
  const content = typeof file === 'number' ? Buffer.alloc(file, `${kind} ${file}`) : file
  if (typeof file === 'number') content.write(beginning, 'hex')
  return {
    assetId: '00000000-0000-7000-8000-000000000001',
    kind,
    mimeType,
    bytes: content.length,
    width: 640,
    height: 360,
    durationMs: kind === 'VIDEO' ? 1_000 : null,
    altText,
    open: async () => new Blob([new Uint8Array(content)]).stream(),
    address: () => 'https://media.test/a',
    sha256: createHash('sha256').update(content).digest('hex'),
  }
}

/** Prepares and publishes, as delivery does: what was prepared is handed over. */
export async function publish({ network, asks }: AtTwin, said: Partial<Publication> & Pick<Publication, 'copy'>) {
  const asked = asks(said)
  const prepared = network.prepare ? await network.prepare(asked, null) : { outcome: 'ready' as const, handle: null }
  if (prepared.outcome !== 'ready') throw new Error(`not prepared: ${JSON.stringify(prepared)}`)
  const whole = { ...asked, handle: prepared.handle }
  return { asked: whole, delivery: await network.publish(whole) }
}
