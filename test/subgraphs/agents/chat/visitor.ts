import { pbkdf2Sync } from 'node:crypto'
import { addressHeader } from '../../../../platform/caller/cause.ts'
import { chatSiteIdOf, type Persona } from '../../../../subgraphs/agents/stores/chat/site.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { anonymous } from '../../../../subgraphs/viewer.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a row answers is looked at part by part
type Json = any

const persona = (slug: string, more: Partial<Persona> = {}): Persona => ({
  ...{ slug, name: slug, greeting: 'Hello.', instructions: 'Be short.', model: null, default: false, ...more },
})

/** An enabled chat of an organization, with a persona that quotes and one that asks a model, past every rule. */
export async function seedSite(
  { clock, platform }: Pick<Supergraph, 'clock' | 'platform'>,
  { organizationId, slug }: { organizationId: string; slug: string },
): Promise<void> {
  const job = platform.agents.job('user:seed')
  await inTransaction(job, async ({ transaction }) => {
    await job.chatSites.provide(organizationId, slug, 'user:seed', clock.now(), transaction)
    const site = (await job.chatSites.lock(chatSiteIdOf(organizationId), transaction))!
    const personas = [persona('guide', { default: true }), persona('concierge', { model: 'default' })]
    await job.chatSites.update(site, { enabled: true, personas, blockedWords: ['swindle'] }, transaction)
  })
}

/** Solves a challenge by ALTCHA's description: the counter whose derived key begins with the prefix. */
export function solve({ parameters, signature }: Json, counter?: number): string {
  const { nonce, salt, cost, keyLength, keyPrefix } = parameters
  const key = (at: number) => {
    const number = Buffer.alloc(4)
    number.writeUInt32BE(at)
    return pbkdf2Sync(Buffer.concat([Buffer.from(nonce, 'hex'), number]), Buffer.from(salt, 'hex'), cost, keyLength, 'sha256').toString('hex')
  }
  let at = counter ?? 0
  let derivedKey = key(at)
  while (counter === undefined && !derivedKey.startsWith(keyPrefix)) derivedKey = key(++at)
  return Buffer.from(JSON.stringify({ challenge: { parameters, signature }, solution: { counter: at, derivedKey, time: 1 } })).toString('base64')
}

/** Somebody on a page, from an address of their own. */
export function visitor(graph: Pick<Supergraph, 'platform' | 'publicUrl'>, address: string) {
  const agents = graph.platform.subgraphs.find(({ registration }) => registration.slug === 'agents')!
  const call = async (path: string, body?: object, headers: Record<string, string> = {}, signal?: AbortSignal) => {
    const answer = await agents.http!(
      new Request(`${graph.publicUrl}/agents/api/public/chat${path}`, {
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
        headers: { 'content-type': 'application/json', 'x-request-id': 'of-a-test', [addressHeader]: address, ...headers },
        ...(signal && { signal }),
      }),
      anonymous,
    )
    return answer
  }
  const read = async (answer: Response): Promise<{ status: number; json: Json; headers: Headers; text: string }> => {
    const text = await answer.text()
    const isJson = /json/.test(answer.headers.get('content-type') ?? '')
    return { status: answer.status, json: isJson ? JSON.parse(text) : null, headers: answer.headers, text }
  }
  const say = async (message: string, more: object = {}, headers: Record<string, string> = {}) =>
    read(await call('', { site: 'acme', message, ...more }, headers))
  const challenge = async () => (await read(await call('/challenge?site=acme'))).json
  return {
    call,
    ask: async (path: string, body?: object) => read(await call(path, body)),
    say,
    challenge,
    begin: async (message: string, more: object = {}, headers: Record<string, string> = {}) =>
      say(message, { solution: solve(await challenge()), ...more }, headers),
  }
}
